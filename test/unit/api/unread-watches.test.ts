import { afterEach, beforeEach, expect, it } from 'vitest'
import { createHarness, type Harness } from './harness.ts'
import { request } from './sent-request.ts'

let harness: Harness
beforeEach(async () => {
  harness = await createHarness()
})
afterEach(() => harness.close())

const maps = '/api/v1/namespaces/default/configmaps'
const watches = 200

/** Watches that take what comes first, and nothing behind it. */
async function openUnread(queryOf: (i: number) => string): Promise<readonly AsyncIterator<unknown>[]> {
  const opened: AsyncIterator<unknown>[] = []
  for (let i = 0; i < watches; i++) {
    const { status, body } = await harness.api(request(`GET ${maps}?watch=1${queryOf(i)}`))
    expect(status).toBe(200)
    const said = (body as AsyncIterable<unknown>)[Symbol.asyncIterator]()
    await said.next()
    opened.push(said)
  }
  return opened
}

function outsideHeapMb(): number {
  const { external, heapUsed } = process.memoryUsage()
  return (external + heapUsed) / 1e6
}

async function write(count: number, letters: number): Promise<void> {
  const data = { text: 'x'.repeat(letters) }
  await Promise.all(
    Array.from({ length: count }, (_, i) =>
      harness.send(`POST ${maps}`, { body: { metadata: { name: `m${i}`, labels: { app: 'a' } }, data } }),
    ),
  )
}

/** Watches are woken some at a time. */
async function passTime<Result>(result: Promise<Result>): Promise<Result> {
  let isThere = false
  void result.finally(() => (isThere = true))
  while (!isThere) await harness.clock.advance(10)
  return result
}

it.each([
  ['of one selector each', (i: number) => `&labelSelector=${encodeURIComponent(`app,none!=v${i}`)}`, 3, 300_000],
  [
    'of one selector each, of what is short',
    (i: number) => `&labelSelector=${encodeURIComponent(`app,none!=v${i}`)}`,
    300,
    3_000,
  ],
  ['of all', () => '', 3, 300_000],
])('watches %s that nobody reads hold one text together', async (_, queryOf, count, letters) => {
  const opened = await openUnread(queryOf)
  const pending = opened.map((said) => said.next())
  const before = outsideHeapMb()
  await write(count, letters)
  const pieces = await passTime(Promise.all(pending))
  expect(pieces.every(({ done }) => done !== true)).toBe(true)
  // Each by itself they were 180 MB.
  expect(outsideHeapMb() - before).toBeLessThan(90)
  for (const said of opened) await said.return?.()
})
