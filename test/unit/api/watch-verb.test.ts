import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { VerbHandler } from '../../../shared/api/call.ts'
import { createWatch } from '../../../shared/api/verbs/watch.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import type { ChangeBatch, ChangeFeed } from '../../../shared/ports/change-feed.ts'
import type { HttpResponse } from '../../../shared/ports/http-handler.ts'
import { callOf } from './called.ts'
import { createWidgetHarness, widget, widgets, type Harness } from './harness.ts'

let harness: Harness
let kind: ServedKind
/** Of each reading of the feed, whether it has ended, and whether watchers share it. */
let readings: { readonly signal: AbortSignal; isClosed: boolean }[]
let refusal: Error | undefined
beforeEach(async () => {
  harness = await createWidgetHarness()
  kind = (await harness.services.catalog.byPlural('example.com', 'v1', 'widgets')) as ServedKind
  readings = []
  refusal = undefined
})
afterEach(() => harness.close())

/** The feed of the harness, which notes who reads it. */
function notedFeed(): ChangeFeed {
  const { feed } = harness.services
  const noted = async function* (options: Parameters<ChangeFeed['follow']>[0]): AsyncGenerator<ChangeBatch> {
    const reading = { signal: options.signal, isClosed: false }
    readings.push(reading)
    if (refusal !== undefined && readings.length > 1) throw refusal
    try {
      yield* feed.follow(options)
    } finally {
      reading.isClosed = true
    }
  }
  return { ...feed, follow: noted }
}

function createVerb(watchesMax?: number): VerbHandler {
  return createWatch({
    ...harness.services,
    feed: notedFeed(),
    ...(watchesMax !== undefined && { watchesMax }),
  })
}

interface Client {
  readonly response: HttpResponse
  readonly pieces: AsyncIterator<string | Uint8Array>
  leave(): void
}

async function open(verb: VerbHandler, query = ''): Promise<Client> {
  const client = new AbortController()
  const response = await verb(callOf(`GET ${widgets}?watch=1${query}`, { kind, signal: client.signal }))
  const pieces = (response.body as AsyncIterable<string | Uint8Array>)[Symbol.asyncIterator]()
  return { response, pieces, leave: () => client.abort() }
}

const textOf = (piece: string | Uint8Array | undefined): string =>
  typeof piece === 'string' ? piece : new TextDecoder().decode(piece)
const next = async ({ pieces }: Client): Promise<string | undefined> => {
  const { done, value } = await pieces.next()
  return done === true ? undefined : textOf(value)
}

describe('a watch that is open', () => {
  it('leaves its slot and the changes that it shares when its client leaves', async () => {
    const verb = createVerb(1)
    const client = await open(verb)
    await next(client)
    await expect(open(verb)).rejects.toMatchObject({ code: 'THROTTLED' })
    const waiting = next(client)
    client.leave()
    // A server that stops ends it as well, and then somebody reads this.
    expect(JSON.parse((await waiting) ?? '')).toMatchObject({ type: 'ERROR', object: { code: 410 } })
    expect(await next(client)).toBeUndefined()
    expect(readings[0]?.signal.aborted).toBe(true)
    await expect(open(verb)).resolves.toBeDefined()
  })

  it('does so though nobody reads it any more', async () => {
    const client = await open(createVerb(1))
    client.leave()
    expect(readings[0]?.signal.aborted).toBe(true)
  })

  it('does so when its time is over', async () => {
    const verb = createVerb(1)
    const client = await open(verb, '&timeoutSeconds=1')
    const waiting = next(client)
    await harness.clock.advance(1_000)
    expect(await waiting).toBeUndefined()
    expect(readings[0]?.signal.aborted).toBe(true)
    await expect(open(verb)).resolves.toBeDefined()
  })

  it('does so when the log refuses it', async () => {
    const verb = createVerb(1)
    refusal = new OperatingError('EXPIRED', 'the log begins later')
    const client = await open(verb, '&resourceVersion=1')
    expect(await next(client)).toBe(' ')
    expect(await next(client)).toContain('"code":410')
    expect(await next(client)).toBeUndefined()
    expect(readings.map(({ signal }) => signal.aborted)[0]).toBe(true)
    refusal = undefined
    await expect(open(verb)).resolves.toBeDefined()
  })

  it('ends with an event of 410, and not with that status, when what is selected cannot be looked through', async () => {
    for (let i = 0; i < 40; i++) await harness.send(`POST ${widgets}`, { body: widget(`w${i}`) })
    const { resources } = harness.services
    const expired = new OperatingError('EXPIRED', 'resource version 1 lies too many writes back: list again')
    const list: typeof resources.list = (of, options) =>
      options?.continue === undefined ? resources.list(of, options) : Promise.reject(expired)
    const verb = createWatch({ ...harness.services, resources: { ...resources, list } })
    const client = await open(verb, '&resourceVersion=3&labelSelector=app')
    expect(client.response.status).toBe(200)
    const said = [await next(client), await next(client)].join('')
    expect(JSON.parse(said)).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } })
    expect(await next(client)).toBeUndefined()
  })

  it('is refused if what is selected cannot be looked through for another reason', async () => {
    const { resources } = harness.services
    const failed = new OperatingError('UNAVAILABLE', 'the store does not answer')
    const verb = createWatch({ ...harness.services, resources: { ...resources, list: () => Promise.reject(failed) } })
    await expect(open(verb, '&resourceVersion=3&labelSelector=app')).rejects.toBe(failed)
  })

  it('looks through nothing, and remembers no names, if it cannot be answered as its client asks', async () => {
    const { resources } = harness.services
    let looks = 0
    const list: typeof resources.list = (of, options) => {
      looks++
      return resources.list(of, options)
    }
    const verb = createWatch({ ...harness.services, resources: { ...resources, list } })
    const ask = (line: string, accept?: string) => {
      const { request: asked, ...call } = callOf(line, { kind })
      const header = (name: string) => (name === 'accept' && accept !== undefined ? accept : asked.header(name))
      return verb({ ...call, request: { ...asked, header } })
    }
    const line = `GET ${widgets}?watch=1&resourceVersion=3&labelSelector=app`
    await expect(ask(line, 'application/vnd.kubernetes.protobuf')).rejects.toMatchObject({ code: 'NOT_ACCEPTABLE' })
    const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    await expect(ask(`${line}&includeObject=Some`, table)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    expect(looks).toBe(0)
    await ask(line)
    expect(looks).toBe(1)
  })

  it('is told what happened since its version, though the object is gone by now', async () => {
    const version = (await harness.send(`POST ${widgets}`, { body: widget('w') })).body.metadata.resourceVersion
    const type = 'application/merge-patch+json'
    await harness.send(`PATCH ${widgets}/w`, { body: { metadata: { labels: { a: 'b' } } }, type })
    await harness.send(`DELETE ${widgets}/w`)
    const client = await open(createVerb(), `&resourceVersion=${version}`)
    const said = [await next(client), await next(client)].join('')
    expect([...said.matchAll(/"type":"(\w+)"/g)].map(([, event]) => event)).toEqual(['MODIFIED', 'DELETED'])
  })

  it('waits for its client to begin to read, however long that takes', async () => {
    const client = await open(createVerb())
    await harness.clock.advance(120_000)
    expect(readings[0]?.signal.aborted).toBe(false)
    expect(await next(client)).toBe(' ')
  })

  it('is one of a thousand, of which one user has half at most', async () => {
    const verb = createVerb()
    const clients: Client[] = []
    for (let i = 0; i < 500; i++) clients.push(await open(verb))
    await expect(open(verb)).rejects.toThrow('500 of 1000 watches are open')
    for (const client of clients) client.leave()
  })

  it('ends at once if its client had left while it was opened', async () => {
    const client = new AbortController()
    const opened = createVerb()(callOf(`GET ${widgets}?watch=1`, { kind, signal: client.signal }))
    client.abort()
    const { body } = await opened
    // Also if nobody reads what it says.
    expect(readings.map(({ signal }) => signal.aborted)).toEqual([true])
    const said: string[] = []
    for await (const piece of body as AsyncIterable<string>) said.push(piece)
    expect(JSON.parse(said.join(''))).toMatchObject({ type: 'ERROR', object: { code: 410 } })
  })
})

describe('watches of the same kind', () => {
  it('share one reading of the feed', async () => {
    const verb = createVerb()
    const version = (await harness.send(`GET ${widgets}`)).body.metadata.resourceVersion
    const clients = [await open(verb, `&resourceVersion=${version}`), await open(verb, `&resourceVersion=${version}`)]
    expect(clients.map(({ response }) => response.status)).toEqual([200, 200])
    const shared = readings[0]
    clients[0]?.leave()
    expect(shared?.signal.aborted).toBe(false)
    clients[1]?.leave()
    expect(shared?.signal.aborted).toBe(true)
  })

  it('are told what their own labels select', async () => {
    const verb = createVerb()
    const version = (await harness.send(`GET ${widgets}`)).body.metadata.resourceVersion
    const selected = (app: string): Promise<Client> =>
      open(verb, `&resourceVersion=${version}&labelSelector=app%3D${app}`)
    const clients = [await selected('x'), await selected('x'), await selected('y')] as const
    for (const client of clients) expect(await next(client)).toBe(' ')
    const told = clients.map((client) => next(client))
    for (const app of ['x', 'y'])
      await harness.send(`POST ${widgets}`, { body: widget(`w${app}`, {}, { labels: { app } }) })
    const names = (await Promise.all(told)).map((line) => /"name":"(\w+)"/.exec(line ?? '')?.[1])
    expect(names).toEqual(['wx', 'wx', 'wy'])
  })

  it('are told what is in their own namespace', async () => {
    const verb = createVerb()
    await harness.send('POST /api/v1/namespaces', { body: { metadata: { name: 'other' } } })
    const version = (await harness.send(`GET ${widgets}`)).body.metadata.resourceVersion
    const watchIn = async (namespace: string): Promise<AsyncIterator<string>> => {
      const path = `/apis/example.com/v1/namespaces/${namespace}/widgets`
      const { body } = await verb(callOf(`GET ${path}?watch=1&resourceVersion=${version}`, { kind }))
      const pieces = (body as AsyncIterable<string>)[Symbol.asyncIterator]()
      await pieces.next()
      return pieces
    }
    const both = [await watchIn('default'), await watchIn('other')]
    const told = both.map(async (pieces) => textOf((await pieces.next()).value))
    for (const namespace of ['other', 'default'])
      await harness.send(`POST /apis/example.com/v1/namespaces/${namespace}/widgets`, {
        body: widget(`w-${namespace}`),
      })
    const lines = await Promise.all(told)
    expect(lines[0]).toContain('w-default')
    expect(lines[1]).toContain('w-other')
  })
})
