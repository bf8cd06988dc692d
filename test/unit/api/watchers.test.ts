import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HttpRequest } from '../../../shared/ports/http-handler.ts'
import { eventually } from '../../support/eventually.ts'
import { createWidgetHarness, widget, widgets, type Harness } from './harness.ts'
import { request } from './sent-request.ts'

let harness: Harness
beforeEach(async () => {
  harness = await createWidgetHarness()
})
afterEach(() => harness.close())

type Pieces = AsyncIterator<string | Uint8Array>

async function open(count: number): Promise<readonly Pieces[]> {
  const version = (await harness.send(`GET ${widgets}`)).body.metadata.resourceVersion
  const asked: HttpRequest = request(`GET ${widgets}?watch=1&resourceVersion=${version}`)
  const all: Pieces[] = []
  while (all.length < count) {
    const { body } = await harness.api(asked)
    const pieces = (body as AsyncIterable<string | Uint8Array>)[Symbol.asyncIterator]()
    expect((await pieces.next()).value).toBe(' ')
    all.push(pieces)
  }
  return all
}

describe('many watchers of the same', () => {
  it('are sent the same bytes, which are made once', async () => {
    const all = await open(4)
    const next = all.map((pieces) => pieces.next())
    await harness.send(`POST ${widgets}`, { body: widget('w') })
    const [first, second, ...others] = (await Promise.all(next)).map(({ value }) => value as unknown)
    expect(first).toMatch(/^\{"type":"ADDED"/)
    expect(new TextDecoder().decode(second as Uint8Array)).toBe(first)
    for (const other of others) expect(other).toBe(second)
  })

  it('are sent the same pieces of what is long, which is cut once', async () => {
    const all = await open(3)
    const next = all.map((pieces) => pieces.next())
    const text = 'ü'.repeat(20_000)
    await harness.send(`POST ${widgets}`, { body: widget('w', undefined, { annotations: { text } }) })
    const first = (await Promise.all(next)).map(({ value }) => value as unknown)
    for (const piece of first) expect(piece).toBe(first[0])
    const told = [first[0] as Uint8Array]
    while (!new TextDecoder().decode(told.at(-1)).endsWith('\n')) {
      const pieces = await Promise.all(all.map(async (one) => (await one.next()).value as Uint8Array))
      for (const piece of pieces) expect(piece).toBe(pieces[0])
      told.push(pieces[0] as Uint8Array)
    }
    for (const { length } of told) expect(length).toBeLessThanOrEqual(16_384)
    const event = JSON.parse(Buffer.concat(told).toString()) as { readonly object: object }
    expect(event.object).toMatchObject({ metadata: { annotations: { text } } })
  })

  it('are told a few at a time, with room for other requests between them', async () => {
    const all = await open(100)
    let heard = 0
    const next = all.map((pieces) => pieces.next().then(() => heard++))
    await harness.send(`POST ${widgets}`, { body: widget('w') })
    await harness.clock.advance(0)
    expect(heard).toBeGreaterThan(0)
    expect(heard).toBeLessThan(50)
    expect((await harness.send(`GET ${widgets}/w`)).status).toBe(200)
    await harness.clock.advance(100)
    await Promise.all(next)
    expect(heard).toBe(100)
  })
})

describe('many watches that begin at once', () => {
  const first = async (selector: string): Promise<Pieces> => {
    const { body } = await harness.api(request(`GET ${widgets}?watch=1&labelSelector=a,${selector}`))
    const pieces = (body as AsyncIterable<string | Uint8Array>)[Symbol.asyncIterator]()
    await pieces.next()
    return pieces
  }

  it('have no more to say in all than the bound, though no two of them are told the same', async () => {
    const text = 'x'.repeat(200_000)
    for (let i = 0; i < 8; i++)
      await harness.send(`POST ${widgets}`, {
        body: widget(`w${i}`, undefined, { labels: { a: '1' }, annotations: { text } }),
      })
    let told = 0
    const ends = new Set<number>()
    const all = await Promise.all(Array.from({ length: 60 }, (_, i) => first(`!b${i}`)))
    const next = all.map((pieces) => pieces.next().then(() => told++))
    const settle = async (ms: number) => {
      for (let passed = 0; passed <= ms; passed += 100) {
        await harness.clock.advance(100)
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    await eventually(async () => expect(told).toBeGreaterThan(20))
    await settle(500)
    expect(told).toBeLessThanOrEqual(40)
    // Those that take nothing are cut off, and the others have their turn.
    await settle(2_000)
    await Promise.all(next)
    expect(told).toBe(60)
    for (const [i, pieces] of all.entries()) if ((await pieces.next()).done === true) ends.add(i)
    expect(ends.size).toBeGreaterThanOrEqual(20)
    expect(ends.size).toBeLessThan(60)
  })
})
