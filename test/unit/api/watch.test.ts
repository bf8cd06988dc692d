import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../../../shared/api/api.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { Change, ChangeBatch, ChangeFeed, FollowOptions } from '../../../shared/ports/change-feed.ts'
import { createWidgetHarness, widget, widgets, type Harness, type WatchEvent } from './harness.ts'
import { request } from './sent-request.ts'
import { share } from '../../support/strength.ts'

let harness: Harness
beforeEach(async () => {
  harness = await createWidgetHarness()
})
afterEach(() => harness.close())

const merge = 'application/merge-patch+json'
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'

const create = (name: string, spec?: JsonObject, metadata?: JsonObject) =>
  harness.send(`POST ${widgets}`, { body: widget(name, spec, metadata) })
const patch = (name: string, body: JsonObject) => harness.send(`PATCH ${widgets}/${name}`, { type: merge, body })
const remove = (name: string) => harness.send(`DELETE ${widgets}/${name}`)
const versionNow = async (): Promise<string> => (await harness.send(`GET ${widgets}`)).body.metadata.resourceVersion
const told = (events: readonly WatchEvent[]): readonly string[] =>
  events.map(({ type, object }) => `${type} ${object.metadata.name}`)

describe('a watch', () => {
  it('begins with a space, so that the headers go out', async () => {
    const response = await harness.api(request(`GET ${widgets}?watch=1&resourceVersion=${await versionNow()}`))
    expect([response.status, response.headers['content-type']]).toEqual([200, 'application/json'])
    const watch = await harness.watch(`${widgets}?watch=1&resourceVersion=${await versionNow()}`)
    expect(await watch.piece()).toBe(' ')
    watch.leave()
  })

  it('tells what happens, with the object as it then is', async () => {
    const watch = await harness.watch(`${widgets}?watch=1&resourceVersion=${await versionNow()}`)
    await create('w1')
    await patch('w1', { spec: { color: 'blue' } })
    const marked = await remove('w1')
    expect(marked.body.status).toBe('Success')
    const events = await watch.take(3)
    expect(told(events)).toEqual(['ADDED w1', 'MODIFIED w1', 'DELETED w1'])
    expect(events.map(({ object }) => object.spec.color)).toEqual(['red', 'blue', 'blue'])
    const versions = events.map(({ object }) => Number(object.metadata.resourceVersion))
    expect(versions).toEqual(versions.toSorted((a, b) => a - b))
    watch.leave()
  })

  it.each(['', '&resourceVersion=0'])('from any version%s tells first what is there', async (query) => {
    await create('a')
    await create('b')
    const watch = await harness.watch(`${widgets}?watch=1${query}`)
    expect(told(await watch.take(2))).toEqual(['ADDED a', 'ADDED b'])
    await patch('a', { spec: { color: 'blue' } })
    expect(told(await watch.take(1))).toEqual(['MODIFIED a'])
    watch.leave()
  })

  it('tells all of what is there, however much', async () => {
    for (let i = 0; i < 1_100; i++) await create(`w${i}`)
    const watch = await harness.watch(`${widgets}?watch=1`)
    expect(new Set(told(await watch.take(1_100))).size).toBe(1_100)
    watch.leave()
  })

  it('catches up on what happened since its version', async () => {
    const version = await versionNow()
    await create('a')
    await create('b')
    await remove('a')
    const watch = await harness.watch(`${widgets}?watch=1&resourceVersion=${version}`)
    expect(told(await watch.take(3))).toEqual(['ADDED a', 'ADDED b', 'DELETED a'])
    watch.leave()
  })

  it('keeps to its kind and its namespace', async () => {
    await harness.send('POST /api/v1/namespaces', { body: { metadata: { name: 'other' } } })
    const version = await versionNow()
    const one = await harness.watch(`${widgets}?watch=1&resourceVersion=${version}`)
    const all = await harness.watch(`/apis/example.com/v1/widgets?watch=1&resourceVersion=${version}`)
    await harness.send('POST /api/v1/namespaces/default/configmaps', { body: { metadata: { name: 'c' } } })
    await harness.send('POST /apis/example.com/v1/namespaces/other/widgets', { body: widget('there') })
    await create('here')
    expect(told(await one.take(1))).toEqual(['ADDED here'])
    expect(told(await all.take(2))).toEqual(['ADDED there', 'ADDED here'])
    one.leave()
    all.leave()
  })

  it('shows objects in the version it asks for', async () => {
    const watch = await harness.watch('/apis/example.com/v1beta1/widgets?watch=1')
    await create('w1')
    expect((await watch.take(1))[0]?.object.apiVersion).toBe('example.com/v1beta1')
    watch.leave()
  })

  it('ends when its client leaves', async () => {
    const watch = await harness.watch(`${widgets}?watch=1`)
    await watch.piece()
    watch.leave()
    // A server that stops ends it so, too, and then somebody reads its last word.
    expect(await watch.rest()).toMatchObject([{ type: 'ERROR', object: { code: 410 } }])
  })
})

describe('a watch of one name', () => {
  it('tells of that object alone, first what it is', async () => {
    await create('a')
    await create('b')
    const watch = await harness.watch(`${widgets}?fieldSelector=metadata.name%3Db&resourceVersion=0&watch=true`)
    await patch('a', { spec: { color: 'blue' } })
    await remove('b')
    expect(told(await watch.take(2))).toEqual(['ADDED b', 'DELETED b'])
    watch.leave()
  })
})

describe('a watch with a selector', () => {
  const selected = `${widgets}?watch=1&labelSelector=app%3Dx`
  const labelled = (app: string | null): JsonObject => ({ metadata: { labels: { app } } })

  it('tells an object that enters as added and one that leaves as deleted', async () => {
    const watch = await harness.watch(`${selected}&resourceVersion=${await versionNow()}`)
    await create('w')
    await patch('w', labelled('x'))
    await patch('w', { spec: { color: 'blue' } })
    await patch('w', labelled('y'))
    await patch('w', { spec: { color: 'green' } })
    await patch('w', labelled('x'))
    await remove('w')
    expect(told(await watch.take(4))).toEqual(['ADDED w', 'MODIFIED w', 'DELETED w', 'ADDED w'])
    expect(told(await watch.take(1))).toEqual(['DELETED w'])
    watch.leave()
  })

  it('does so by fields too', async () => {
    await create('w', { color: 'red' })
    const watch = await harness.watch(`${widgets}?watch=1&fieldSelector=spec.color%3Dred`)
    await patch('w', { spec: { color: 'blue' } })
    await patch('w', { spec: { color: 'red' } })
    expect(told(await watch.take(3))).toEqual(['ADDED w', 'DELETED w', 'ADDED w'])
    watch.leave()
  })

  it('says nothing of what was never in it', async () => {
    await create('out')
    const watch = await harness.watch(`${selected}&resourceVersion=${await versionNow()}`)
    await patch('out', { spec: { color: 'blue' } })
    await remove('out')
    await create('in', {}, { labels: { app: 'x' } })
    expect(told(await watch.take(1))).toEqual(['ADDED in'])
    watch.leave()
  })

  it('tells who comes back of an object that left meanwhile', async () => {
    await create('left', {}, { labels: { app: 'x' } })
    await create('stayed', {}, { labels: { app: 'x' } })
    const version = await versionNow()
    await patch('left', labelled('y'))
    await create('short', {}, { labels: { app: 'y' } })
    const watch = await harness.watch(`${selected}&resourceVersion=${version}`)
    await patch('stayed', { spec: { color: 'blue' } })
    expect(told(await watch.take(2))).toEqual(['DELETED left', 'MODIFIED stayed'])
    watch.leave()
  })

  it('knows from the start what is in it, and so what leaves it', async () => {
    await create('w', {}, { labels: { app: 'x' } })
    const watch = await harness.watch(`${selected}&resourceVersion=${await versionNow()}`)
    await patch('w', labelled('y'))
    expect(told(await watch.take(1))).toEqual(['DELETED w'])
    watch.leave()
  })

  it('leaves a client with exactly what is selected, however often it comes back', async () => {
    const names = fc.constantFrom('a', 'b', 'c')
    const step = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({ do: fc.constant('label' as const), name: names, app: fc.constantFrom('x', 'y', null) }),
      },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), name: names }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('watch' as const) }) },
    )
    const run = async (steps: readonly Step[]): Promise<void> => {
      const client = await followingClient(selected)
      for (const next of steps) {
        if (next.do === 'watch') await client.follow()
        else if (next.do === 'remove') await remove(next.name)
        else if ((await patch(next.name, labelled(next.app))).status === 404)
          await create(next.name, {}, { labels: { app: next.app ?? '' } })
      }
      await client.follow()
      const { body } = await harness.send(`GET ${widgets}?labelSelector=app%3Dx`)
      expect(client.known()).toEqual(body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name))
    }
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 12 }), run), { numRuns: share(60) })
  })

  it('leaves other namespaces out, also in doubt', async () => {
    await harness.send('POST /api/v1/namespaces', { body: { metadata: { name: 'other' } } })
    const there = '/apis/example.com/v1/namespaces/other/widgets'
    await harness.send(`POST ${there}`, { body: widget('w') })
    const version = await versionNow()
    await harness.send(`PATCH ${there}/w`, { type: merge, body: { spec: { color: 'blue' } } })
    const watch = await harness.watch(`${selected}&resourceVersion=${version}`)
    await create('in', {}, { labels: { app: 'x' } })
    expect(told(await watch.take(1))).toEqual(['ADDED in'])
    watch.leave()
  })
})

describe('the time of a watch', () => {
  it('passes with a space in ten seconds of silence', async () => {
    const watch = await harness.watch(`${widgets}?watch=1`)
    expect(await watch.piece()).toBe(' ')
    const next = watch.piece()
    await harness.clock.advance(9_999)
    expect(await Promise.race([next, Promise.resolve('silent')])).toBe('silent')
    await harness.clock.advance(1)
    expect(await next).toBe(' ')
    watch.leave()
  })

  it('ends after timeoutSeconds, with a bookmark if bookmarks are allowed', async () => {
    await create('w')
    for (const [query, last] of [
      ['', []],
      ['&allowWatchBookmarks=true', ['BOOKMARK']],
    ] as const) {
      const watch = await harness.watch(
        `${widgets}?watch=1&timeoutSeconds=30&resourceVersion=${await versionNow()}${query}`,
      )
      const rest = watch.rest()
      await harness.clock.advance(30_000)
      expect((await rest).map(({ type }) => type)).toEqual(last)
    }
  })

  it('ends then, too, if it was last woken shortly before', async () => {
    const watch = await harness.watch(
      `${widgets}?watch=1&timeoutSeconds=12&allowWatchBookmarks=true&resourceVersion=${await versionNow()}`,
    )
    let isOver = false
    const rest = watch.rest().then((events) => {
      isOver = true
      return events
    })
    await harness.clock.advance(11_999)
    expect(isOver).toBe(false)
    await harness.clock.advance(1)
    expect((await rest).map(({ type }) => type)).toEqual(['BOOKMARK'])
  })

  it('passes in silence if it ends by itself, and no bookmark ends the line that a space begins', async () => {
    const watch = await harness.watch(`${widgets}?watch=1&timeoutSeconds=32`)
    const next = watch.piece()
    await harness.clock.advance(32_000)
    expect(await next).toBeUndefined()
  })

  it('is marked by a bookmark a minute, if they are allowed', async () => {
    const version = await versionNow()
    const watch = await harness.watch(`${widgets}?watch=1&allowWatchBookmarks=true&resourceVersion=${version}`)
    const next = watch.take(1)
    await harness.clock.advance(60_000)
    expect(await next).toEqual([
      {
        type: 'BOOKMARK',
        object: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { resourceVersion: version } },
      },
    ])
    watch.leave()
  })
})

describe('a WatchList', () => {
  const asked = `${widgets}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`

  it('tells what is there and marks where that ends', async () => {
    await create('a')
    const watch = await harness.watch(`${asked}&allowWatchBookmarks=true`)
    const [added, mark] = await watch.take(2)
    expect(added).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } })
    expect(mark).toEqual({
      type: 'BOOKMARK',
      object: {
        apiVersion: 'example.com/v1',
        kind: 'Widget',
        metadata: { resourceVersion: await versionNow(), annotations: { 'k8s.io/initial-events-end': 'true' } },
      },
    })
    await create('b')
    expect(told(await watch.take(1))).toEqual(['ADDED b'])
    watch.leave()
  })

  it('tells it even if the client has a version', async () => {
    await create('a')
    const watch = await harness.watch(`${asked}&resourceVersion=${await versionNow()}`)
    expect(told(await watch.take(1))).toEqual(['ADDED a'])
    watch.leave()
  })

  it('may be turned off: then the watch begins in the present', async () => {
    await create('a')
    const watch = await harness.watch(`${widgets}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`)
    await create('b')
    expect(told(await watch.take(1))).toEqual(['ADDED b'])
    watch.leave()
  })

  const refused = [
    {
      query: 'sendInitialEvents=true',
      message:
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    },
    {
      query: 'resourceVersionMatch=NotOlderThan',
      message:
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
    },
    {
      query: 'sendInitialEvents=true&resourceVersionMatch=Exact',
      message:
        'ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]',
    },
  ]
  it.each(refused)('is refused when half asked for: $query', async ({ query, message }) => {
    const reply = await harness.send(`GET ${widgets}?watch=1&${query}`)
    expect([reply.status, reply.body.message]).toEqual([422, message])
  })
})

describe('a watch in tables', () => {
  it('sends a row per event, the columns with the first one only', async () => {
    await create('a')
    const watch = await harness.watch(`${widgets}?watch=1`, { accept: table })
    await patch('a', { spec: { color: 'blue' } })
    const [first, second] = await watch.take(2)
    expect(first).toMatchObject({
      type: 'ADDED',
      object: { kind: 'Table', apiVersion: 'meta.k8s.io/v1', columnDefinitions: expect.any(Array) },
    })
    expect(second).toMatchObject({ type: 'MODIFIED', object: { kind: 'Table', columnDefinitions: null } })
    expect(second?.object.rows[0].cells.slice(0, 2)).toEqual(['a', 'blue'])
    expect(second?.object.rows[0].object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'a' } })
    watch.leave()
  })

  it('is the same in metadata alone', async () => {
    await create('a')
    const watch = await harness.watch(`${widgets}?watch=1`, {
      accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    })
    expect((await watch.take(1))[0]?.object).toEqual({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: expect.objectContaining({ name: 'a' }),
    })
    watch.leave()
  })
})

describe('a watch that cannot be', () => {
  const rows = [
    { query: 'resourceVersion=abc', status: 400, reason: 'BadRequest' },
    { query: 'resourceVersion=01', status: 400, reason: 'BadRequest' },
    { query: 'timeoutSeconds=soon', status: 400, reason: 'BadRequest' },
    { query: 'fieldSelector=spec.nope%3D1', status: 400, reason: 'BadRequest' },
  ]
  it.each(rows)('is refused at once: $query is a $status', async ({ query, status, reason }) => {
    expect(await harness.send(`GET ${widgets}?watch=1&${query}`)).toMatchObject({
      status,
      body: { kind: 'Status', reason },
    })
  })

  const waiting = [
    '',
    '&resourceVersionMatch=NotOlderThan',
    `&watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
  ]
  it.each(waiting)('waits for a version that is not there yet, then refuses as Kubernetes does: %s', async (query) => {
    const latest = await versionNow()
    const refused = harness.send(`GET ${widgets}?resourceVersion=999999${query}`)
    await harness.clock.advance(3_000)
    expect(await refused).toMatchObject({
      status: 504,
      headers: { 'retry-after': '1' },
      body: {
        reason: 'Timeout',
        message: `Timeout: Too large resource version: 999999, current: ${latest}`,
        details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] },
      },
    })
    expect(harness.errors).toEqual([])
  })

  it.each(['', '&sendInitialEvents=false&resourceVersionMatch=NotOlderThan'])(
    'ends with an event of 410 from a version that does not come, at which all clients list again: %s',
    async (query) => {
      const opened = harness.watch(`${widgets}?watch=1&resourceVersion=999999${query}`)
      await harness.clock.advance(3_000)
      const message = 'resource version 999999 is later than all there is: list again'
      expect(await (await opened).rest()).toMatchObject([
        { type: 'ERROR', object: { code: 410, reason: 'Expired', message } },
      ])
      expect(harness.errors).toEqual([])
    },
  )

  it('is served when the version comes in time', async () => {
    const next = String(Number(await versionNow()) + 1)
    const listed = harness.send(`GET ${widgets}?resourceVersion=${next}`)
    await harness.clock.advance(1_000)
    await create('w')
    await harness.clock.advance(1_000)
    expect((await listed).body.items).toHaveLength(1)
  })

  it('ends with an event of 410 once its version is forgotten, and a list begins anew', async () => {
    const version = await versionNow()
    await create('a')
    await remove('a')
    await harness.clock.advance(3_600_001)
    await create('b')
    // A RetryWatcher of client-go asks again and again if this is the status of the answer.
    const refused = await harness.watch(`${widgets}?watch=1&resourceVersion=${version}`)
    expect(await refused.rest()).toMatchObject([{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }])
    expect(harness.errors).toEqual([])
    const { body } = await harness.send(`GET ${widgets}`)
    const watch = await harness.watch(`${widgets}?watch=1&resourceVersion=${body.metadata.resourceVersion}`)
    await create('c')
    expect(told(await watch.take(1))).toEqual(['ADDED c'])
    watch.leave()
  })

  it('is told to come back when too many are open, and may when one has ended', async () => {
    const api = createApi({ ...harness.services, watchesMax: 2 })
    const clients = [new AbortController(), new AbortController()]
    for (const { signal } of clients)
      expect((await api(request(`GET ${widgets}?watch=1`, { signal }))).status).toBe(200)
    const refused = await api(request(`GET ${widgets}?watch=1`))
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1'])
    clients[0]?.abort()
    expect((await api(request(`GET ${widgets}?watch=1`))).status).toBe(200)
  })

  it('takes no place among those that are', async () => {
    const api = createApi({ ...harness.services, watchesMax: 1 })
    const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan'
    const refused = api(request(`GET ${widgets}?watch=1&${initial}&resourceVersion=999999`))
    await harness.clock.advance(3_000)
    expect((await refused).status).toBe(504)
    expect((await api(request(`GET ${widgets}?watch=1`))).status).toBe(200)
  })
})

describe('a feed that fails later', () => {
  async function watchOf(follow: ChangeFeed['follow']): Promise<readonly WatchEvent[]> {
    const { feed } = harness.services
    const api = createApi({ ...harness.services, feed: { ...feed, follow } })
    const response = await api(request(`GET ${widgets}?watch=1`))
    let text = ''
    for await (const piece of response.body as AsyncIterable<string>) text += piece
    return text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as WatchEvent)
  }
  const first: ChangeBatch = { changes: [], resourceVersion: '1' }

  it('ends the watch with an ERROR event that says how', async () => {
    const expired = await watchOf(async function* ({ signal }) {
      yield first
      yield* harness.services.feed.follow({ after: '999999', signal })
    })
    expect(expired).toMatchObject([{ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } }])
    expect(harness.errors).toEqual([])
  })

  it('is logged if nobody expected it, and tells nothing of the inside', async () => {
    const broken = await watchOf(async function* () {
      yield first
      throw new TypeError('secret')
    })
    expect(broken).toMatchObject([{ type: 'ERROR', object: { kind: 'Status', code: 500 } }])
    expect(JSON.stringify(broken)).not.toContain('secret')
    expect(harness.errors).toMatchObject([{ message: 'watch failed', resource: 'widgets' }])
  })
})

describe('a reader that comes back', () => {
  /** The versions that a watch from `after` tells, until the last one. */
  async function toldFrom(after: string, last: string, { past, present, latest, reachBack }: Fed) {
    const reply = await create('w')
    const state = (rv: number): Change => {
      const metadata = { ...reply.body.metadata, resourceVersion: String(rv) }
      return { type: 'modified', touched: ['spec'], stored: { object: { ...reply.body, metadata }, engine: {} } }
    }
    const batchOf = ([rv, ...states]: readonly number[]): ChangeBatch => ({
      changes: states.map(state),
      resourceVersion: String(rv),
    })
    const isRead = Promise.withResolvers<void>()
    async function* follow(options: FollowOptions): AsyncGenerator<ChangeBatch> {
      if (options.after === latest) await isRead.promise
      else setTimeout(isRead.resolve, 5)
      for (const batch of options.after === latest ? present : past) yield batchOf(batch)
    }
    // The store is there already, and the present that the watchers share is not.
    const ends = [after]
    const feed: ChangeFeed = {
      follow,
      latest: async () => ends.pop() ?? latest,
      ...(reachBack !== undefined && { reachBack }),
    }
    const api = createApi({ ...harness.services, feed })
    const { body } = await api(request(`GET ${widgets}?watch=1&resourceVersion=${after}`))
    const versions: string[] = []
    for await (const piece of body as AsyncIterable<string>) {
      for (const [, version = ''] of piece.matchAll(/"resourceVersion":"(\d+)"/g)) versions.push(version)
      if (versions.at(-1) === last) break
    }
    return versions
  }

  it('is not told what it knows, though the present had not got so far', async () => {
    const present = [
      [27, 27],
      [28, 28],
    ]
    expect(await toldFrom('27', '28', { past: [[27]], latest: '26', present })).toEqual(['28'])
  })

  it('is told nothing twice, in however many batches the present tells it', async () => {
    const present = [
      [95, 95],
      [98, 98],
      [100, 100],
      [101, 101],
    ]
    const past = [[100, 95, 98, 100]]
    expect(await toldFrom('80', '101', { past, latest: '90', present })).toEqual(['95', '98', '100', '101'])
  })

  it('is not told a state from before what it knows, where clocks number the writes', async () => {
    // The present begins at 90, and reaches back: what its look found was overtaken before the past was read.
    const present = [
      [91, 40],
      [95, 50],
      [130, 93],
      [155, 140],
    ]
    const past = [
      [92, 50],
      [150, 93],
    ]
    const fed = { past, latest: '90', present: [...present.slice(0, 2), [230, 93, 200]], reachBack: 60 }
    expect(await toldFrom('20', '200', fed)).toEqual(['50', '93', '200'])
  })

  it('is told what its own look sees later than the one that all share', async () => {
    // The present told 40 before the watch had its place there. Its first look was answered by a slower replica.
    const past = [[92], [100, 40], [155]]
    const fed = { past, latest: '90', present: [[200, 190]], reachBack: 60 }
    expect(await toldFrom('20', '190', fed)).toEqual(['40', '190'])
  })
})

/** Batches are what they tell up to, and then the versions that they tell. */
interface Fed {
  readonly past: readonly (readonly number[])[]
  readonly present: readonly (readonly number[])[]
  readonly latest: string
  readonly reachBack?: number
}

type Step =
  | { readonly do: 'label'; readonly name: string; readonly app: string | null }
  | { readonly do: 'remove'; readonly name: string }
  | { readonly do: 'watch' }

/** A client that lists once, and then only watches from where it got to, now and then for a moment. */
async function followingClient(path: string): Promise<{ follow(): Promise<void>; known(): readonly string[] }> {
  const known = new Set<string>()
  const { body } = await harness.send(`GET ${path.replace('watch=1&', '')}`)
  for (const { metadata } of body.items) known.add(metadata.name)
  let version: string = body.metadata.resourceVersion
  const follow = async (): Promise<void> => {
    const watch = await harness.watch(`${path}&resourceVersion=${version}&allowWatchBookmarks=true&timeoutSeconds=1`)
    const rest = watch.rest()
    await harness.clock.advance(1_000)
    for (const { type, object } of await rest) {
      version = object.metadata.resourceVersion
      if (type === 'DELETED') known.delete(object.metadata.name)
      else if (type !== 'BOOKMARK') known.add(object.metadata.name)
    }
  }
  return { follow, known: () => [...known].toSorted() }
}
