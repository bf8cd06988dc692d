import { describe, expect, it } from 'vitest'
import type { Segment } from '../../../shared/api/watch/live-changes.ts'
import { createFixedMembership } from '../../../shared/api/watch/membership.ts'
import type { Stream } from '../../../shared/api/watch/stream-state.ts'
import { bookmarkMs, dueMs, pieces } from '../../../shared/api/watch/stream.ts'
import { lineWire, silentLineWire } from '../../../shared/api/watch/wire.ts'
import { viewOf } from '../../../shared/api/view.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { Change, ChangeBatch } from '../../../shared/ports/change-feed.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'
import { callOf, plainKind } from './called.ts'
import { storedOf } from './fake-services.ts'

const { request } = callOf('GET /apis/g.dev/v1/ks')
const all = createFixedMembership({ namespace: '', name: undefined, selector: undefined, isMutable: false })

function segmentOf(resourceVersion: string, more: Partial<Segment> = {}): Segment {
  return { changes: [], unshown: [], resourceVersion, length: 0, total: 0, texts: new Map(), next: undefined, ...more }
}

const changeOf = (name: string, resourceVersion: string): Change => {
  return { type: 'modified', stored: storedOf({ name, resourceVersion }), touched: [] }
}

/** A watch that is live at version 10, and what it asks of the log. */
function open(more: Partial<Stream> = {}, past: readonly ChangeBatch[] = []) {
  const clock = createVirtualClock(0)
  const client = new AbortController()
  const asked: string[] = []
  const left = [...past]
  const stream = {
    kind: plainKind,
    view: viewOf({ kind: plainKind, request }, clock),
    wire: { ...lineWire, opening: undefined },
    clock,
    signal: client.signal,
    membership: all,
    sharedAs: 'all',
    bookmarks: false,
    marksInitialEnd: false,
    endsAtMs: Infinity,
    initial: undefined,
    leftOut: [],
    past: undefined,
    position: '10',
    overlap: new Map(),
    reachBack: 0n,
    pastEnd: 0n,
    mayRepeat: false,
    at: segmentOf('10'),
    live: { rejoin: (one: Stream) => (one.at = segmentOf('12')), remind: () => {} },
    follow: (after: string) => {
      asked.push(after)
      return {
        next: async () => {
          const value = left.shift()
          return value === undefined ? { done: true, value } : { done: false, value }
        },
      }
    },
    onFailure: () => {},
    onEnd: () => {},
    hasSent: false,
    rest: undefined,
    part: undefined,
    unread: { reserve: async () => true, hold: () => {}, release: () => {} },
    isCut: false,
    isTorn: false,
    isTaken: true,
    wroteAtMs: 0,
    dueAtMs: 0,
    bookmarkAtMs: bookmarkMs,
    failure: undefined,
    resume: undefined,
    ...more,
  } as unknown as Stream
  return { stream, clock, client, asked, said: pieces(stream) }
}

const read = async (said: AsyncGenerator<string | Uint8Array>): Promise<string> =>
  ((await said.next()) as { value: string }).value

async function readAll(said: AsyncGenerator<string | Uint8Array>): Promise<string> {
  let text = ''
  for await (const piece of said) text += typeof piece === 'string' ? piece : new TextDecoder().decode(piece)
  return text
}

describe('what a watch says of the objects there are', () => {
  const pagesOf = (...pages: readonly object[]): Stream['initial'] => {
    const left = [...pages]
    return (async () => left.shift()) as unknown as Stream['initial']
  }
  const keys = (count: number, from = 0) =>
    Array.from({ length: count }, (_, i) => ({ group: 'g.dev', kind: 'K', namespace: 'd', name: `k${from + i}` }))

  it.each<readonly [string, readonly object[], string | undefined]>([
    ['nothing', [{ items: [] }], undefined],
    ['one that cannot be shown', [{ items: [], damaged: keys(1) }], 'g.dev/K/d/k0'],
    [
      'more than ten, over two pages',
      [
        { items: [], damaged: keys(7) },
        { items: [], damaged: keys(7, 7) },
      ],
      keys(10)
        .map(({ name }) => `g.dev/K/d/${name}`)
        .join(' '),
    ],
  ])('is where they end, and which are left out: %s', async (_, pages, leftOut) => {
    const { said } = open({ initial: pagesOf(...pages), marksInitialEnd: true })
    const { metadata } = (JSON.parse(await read(said)) as { object: { metadata: object } }).object
    expect(metadata).toEqual({
      resourceVersion: '10',
      annotations: {
        'k8s.io/initial-events-end': 'true',
        ...(leftOut !== undefined && { 'setpoint.dev/left-out': leftOut }),
      },
    })
  })

  it('is no bookmark before all of them are told: who came back there would miss the others', async () => {
    const pages = pagesOf({ items: [storedOf({ name: 'a' })] }, { items: [storedOf({ name: 'b' })] })
    const { said, clock } = open({ initial: pages, bookmarks: true, marksInitialEnd: true })
    expect(await read(said)).toMatch(/"name":"a"/)
    await clock.advance(bookmarkMs)
    expect(await read(said)).toBe(' ')
    expect(await read(said)).toMatch(/"name":"b"/)
    expect(await read(said)).toMatch(/initial-events-end/)
  })

  it('is no bookmark at the end of its time, either, if not all of them are told', async () => {
    const pages = pagesOf({ items: [storedOf({ name: 'a' })] }, { items: [storedOf({ name: 'b' })] })
    const { said, clock } = open({ initial: pages, bookmarks: true, endsAtMs: 1_000 })
    expect(await read(said)).toMatch(/"name":"a"/)
    await clock.advance(1_000)
    expect(await readAll(said)).toBe('')
  })

  it('is nothing of their end if nobody asks for it', async () => {
    const { said, client } = open({ initial: pagesOf({ items: [storedOf({ name: 'a' })] }) })
    expect(await read(said)).toMatch(/"ADDED".*"name":"a"/)
    const rest = readAll(said)
    client.abort()
    expect(await rest).toBe('')
  })
})

describe('a watch among the live changes', () => {
  it('tells each change, and moves on', async () => {
    const second = segmentOf('12', { changes: [changeOf('b', '12')] })
    const { said, stream } = open({ at: segmentOf('10', { next: segmentOf('11', { next: second }) }) })
    expect(await read(said)).toMatch(/"name":"b"/)
    expect(stream.position).toBe('12')
  })

  it('tells in parts what others are told otherwise, all of it and once', async () => {
    const changes = Array.from({ length: 10 }, (_, i) => changeOf(`k${i}-${'x'.repeat(4_000)}`, String(11 + i)))
    const at = segmentOf('10', { next: segmentOf('20', { changes }) })
    const { said, stream } = open({ sharedAs: undefined, at })
    const text = [await read(said), await read(said), await read(said), await read(said)].join('')
    expect([...text.matchAll(/"name":"(k\d)-/g)].map(([, name]) => name)).toEqual(changes.map((_, i) => `k${i}`))
    expect(stream.position).toBe('20')
  })

  it('has been taken once its client asks for more', async () => {
    const { said, stream } = open({
      at: segmentOf('10', { next: segmentOf('11', { changes: [changeOf('a', '11')] }) }),
    })
    await read(said)
    expect(stream.isTaken).toBe(false)
    void said.next()
    await turn()
    expect(stream.isTaken).toBe(true)
  })

  it('asks once a minute whether its client would be let in now', async () => {
    let asked = 0
    const isStillAllowed = async (): Promise<boolean> => ++asked < 2
    const { said, stream, clock } = open({ isStillAllowed, askedAtMs: 0, wire: silentLineWire })
    const waiting = said.next()
    for (const [ms, times] of [
      [59_999, 0],
      [1, 1],
      [59_999, 1],
      [1, 2],
    ] as const) {
      await turn()
      await clock.advance(ms)
      stream.resume?.()
      await turn()
      expect(asked).toBe(times)
    }
    expect(await waiting).toMatchObject({ done: true })
  })

  it('takes room for what it reads by itself, and for no more', async () => {
    const reserved: string[] = []
    const begin = (name: string, more: Partial<Stream>, past: readonly ChangeBatch[] = []): Promise<string> => {
      const reserve = async (): Promise<boolean> => reserved.push(name) > 0
      return read(open({ ...more, unread: { reserve, hold: () => {}, release: () => {} } }, past).said)
    }
    const page = { items: [storedOf({ name: 'a' })] } as never
    const changes = [changeOf('a', '11')]
    await begin('initial', { initial: async () => page })
    await begin('past', { at: undefined }, [{ changes, resourceVersion: '11' }])
    await begin('live', { at: segmentOf('10', { next: segmentOf('11', { changes }) }) })
    expect(reserved).toEqual(['initial', 'past'])
  })

  it('moves on with changes that are not about it', async () => {
    const at = segmentOf('10')
    const { said, stream } = open({ at })
    const waiting = said.next()
    await turn()
    at.resourceVersion = '15'
    stream.resume?.()
    await turn()
    expect(stream.position).toBe('15')
    stream.isCut = true
    stream.resume?.()
    expect(await waiting).toMatchObject({ done: true })
  })

  it('that fell behind reads on in the log from where it is', async () => {
    const { said, asked } = open({ at: undefined }, [{ changes: [changeOf('a', '11')], resourceVersion: '11' }])
    expect(await read(said)).toMatch(/"name":"a"/)
    expect(asked).toEqual(['10'])
  })

  it('tells what it can of a change, and then ends where an object cannot be shown', async () => {
    const unshown = [{ change: changeOf('c', '12'), fault: new OperatingError('CONVERSION_FAILED', 'c has no v2') }]
    const next = segmentOf('12', { changes: [changeOf('b', '11')], unshown })
    const text = await readAll(open({ at: segmentOf('10', { next }) }).said)
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; object: { reason?: string; message?: string } })
    expect(lines.map(({ type }) => type)).toEqual(['MODIFIED', 'ERROR'])
    expect(lines[1]?.object).toMatchObject({ reason: 'Expired', message: expect.stringContaining('c has no v2') })
  })
})

it('a watch that fails says so in one piece', async () => {
  const told: string[] = []
  const failure = new OperatingError('EXPIRED', 'too old')
  for await (const piece of open({ isCut: true, failure }).said) told.push(String(piece))
  expect(told.map((piece) => JSON.parse(piece) as object)).toEqual([
    { type: 'ERROR', object: expect.objectContaining({ reason: 'Expired', message: 'too old' }) },
  ])
})

describe('a watch with bookmarks', () => {
  it('has one each minute, and a sign of life between them; only the first thing it says introduces the rest', async () => {
    const view = { ...open().stream.view, introduces: true, event: (_: unknown, isFirst: boolean) => `"${isFirst}"` }
    const { said, stream, clock, client } = open({ bookmarks: true, view: view as unknown as Stream['view'] })
    const sayAfter = async (ms: number): Promise<string> => {
      const piece = said.next()
      await turn()
      await clock.advance(ms)
      stream.resume?.()
      return String((await piece).value)
    }
    expect(await sayAfter(60_000)).toBe('{"type":"BOOKMARK","object":"true"}\n')
    expect(await sayAfter(59_999)).toBe(' ')
    expect(await sayAfter(1)).toBe('{"type":"BOOKMARK","object":"false"}\n')
    client.abort()
  })
})

describe('a watch whose clock is put back', () => {
  const last = 3_600_000
  it.each<readonly [string, Partial<Stream>, string | undefined]>([
    ['gives its sign in ten seconds', { wroteAtMs: last }, ' '],
    ['gives none before', { wroteAtMs: 9_999 }, undefined],
    ['has its bookmark', { wroteAtMs: 0, bookmarks: true, bookmarkAtMs: last }, 'BOOKMARK'],
    ['has none before its time', { wroteAtMs: 0, bookmarks: true, bookmarkAtMs: bookmarkMs }, undefined],
  ])('%s', async (_what, more, said) => {
    const watch = open(more)
    const piece = watch.said.next()
    await turn()
    watch.stream.isCut = true
    watch.stream.resume?.()
    const { value } = await piece
    if (said === 'BOOKMARK') expect(String(value)).toContain('{"type":"BOOKMARK"')
    else expect(value).toBe(said)
  })
})

const times = {
  wire: lineWire,
  initial: undefined,
  wroteAtMs: 5,
  endsAtMs: Infinity,
  bookmarks: false,
  bookmarkAtMs: 1,
}

it.each<readonly [string, Parameters<typeof dueMs>[0], number]>([
  ['ten seconds of silence', times, 10_005],
  ['its end', { ...times, endsAtMs: 300 }, 300],
  ['its end alone', { ...times, wire: silentLineWire, endsAtMs: 20_000 }, 20_000],
  ['its next bookmark', { ...times, endsAtMs: 300, bookmarks: true, bookmarkAtMs: 100 }, 100],
  [
    'no bookmark while it tells what there is',
    { ...times, initial: () => Promise.reject(new Error('unasked')), bookmarks: true },
    10_005,
  ],
  ['silence ahead of its next bookmark', { ...times, endsAtMs: 99_999, bookmarks: true, bookmarkAtMs: 60_000 }, 10_005],
])('a watch is woken at %s', (_, options, wanted) => {
  expect(dueMs(options)).toBe(wanted)
})

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

describe('what a watch has said', () => {
  it('counts as unread until the last piece of it is taken', async () => {
    const counted: unknown[] = []
    const unread = {
      reserve: async () => true,
      hold: (_: unknown, text: unknown) => void counted.push(text),
      release: () => {},
    }
    const { stream, said } = open({ unread })
    const change = changeOf('a', '11')
    const long = { ...change, stored: storedOf({ name: 'x'.repeat(20_000), resourceVersion: '11' }) }
    ;(stream.at as Segment).next = segmentOf('11', { changes: [long] })
    const first = await said.next()
    expect(counted.at(-1)).toMatchObject([{ length: 16_384 }, {}])
    await said.next()
    expect(first.value).toMatchObject({ length: 16_384 })
    void said.next()
    await Promise.resolve()
    expect(counted.at(-1)).toBeUndefined()
  })
})

describe('a watch whose feed fails', () => {
  const failed = () => {
    const failures: unknown[] = []
    const { stream, said } = open({ onFailure: (error: unknown) => void failures.push(error) })
    const change = changeOf('a', '11')
    const long = { ...change, stored: storedOf({ name: 'x'.repeat(20_000), resourceVersion: '11' }) }
    ;(stream.at as Segment).next = segmentOf('11', { changes: [long] })
    const fail = (): void => {
      stream.isCut = true
      stream.failure = new Error('gone')
      stream.isTorn ||= stream.rest !== undefined
      stream.rest = undefined
    }
    return { failures, said, fail }
  }

  it.each([
    ['says nothing more within a line', 1, []],
    ['says so behind a line', 2, ['ERROR']],
  ])('%s', async (_what, count, expected) => {
    const { failures, said, fail } = failed()
    for (let i = 0; i < count; i++) await said.next()
    fail()
    const rest: string[] = []
    for await (const piece of said) rest.push(String(piece))
    expect(rest.map((text) => (JSON.parse(text) as { type: string }).type)).toEqual(expected)
    expect(failures).toHaveLength(1)
  })
})

describe('a watch that is ended by the server', () => {
  const ended = async (more: Partial<Stream>, isStopped = false): Promise<readonly string[]> => {
    const { stream, clock, client, said } = open({ wire: lineWire, ...more })
    const told = [await read(said)]
    const next = said.next()
    await clock.advance(0)
    stream.isCut = true
    if (isStopped) client.abort()
    stream.resume?.()
    for (let piece = await next; piece.done !== true; piece = await said.next()) told.push(String(piece.value))
    return told
  }

  it('says so by an event if it has said nothing but a sign, which some take for a line', async () => {
    const [sign, last, ...others] = await ended({})
    expect([sign, others]).toEqual([' ', []])
    expect(JSON.parse(last ?? '')).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } })
  })

  it.each<[string, Partial<Stream>, boolean]>([
    ['its line was cut', { isTorn: true }, false],
    ['its line was cut as all are', { isTorn: true, bookmarks: true }, true],
    ['it gives no signs', { wire: { ...silentLineWire, opening: '{}\n' } }, false],
    ['its signs are messages', { wire: { ...lineWire, name: 'messages' } }, false],
  ])('says nothing more if %s', async (_why, more, isStopped) => {
    expect(await ended(more, isStopped)).toHaveLength(1)
  })

  const pageAfterPage = async () => {
    await turn()
    return { items: [], resourceVersion: '1' }
  }
  it.each<[string, Partial<Stream>, string]>([
    ['a bookmark to who asked for them', { bookmarks: true }, 'BOOKMARK'],
    ['410 to others behind a sign', {}, 'ERROR'],
    ['410 to who has not been told of all objects there are', { bookmarks: true, initial: pageAfterPage }, 'ERROR'],
  ])('says as its last word when the server stops: %s', async (_what, more, type) => {
    const [, last, ...others] = await ended(more, true)
    expect([JSON.parse(last ?? ''), others]).toMatchObject([{ type }, []])
  })

  it('says nothing more behind an event', async () => {
    const { stream, said } = open({ wire: lineWire })
    await read(said)
    ;(stream.at as Segment).next = segmentOf('11', { changes: [changeOf('a', '11')] })
    expect(JSON.parse(await read(said))).toMatchObject({ type: 'MODIFIED' })
    stream.isCut = true
    expect(await said.next()).toEqual({ done: true, value: undefined })
  })
})

it('a watch that ends during a conversion stops following the log', async () => {
  const converting = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const prepare = (): Promise<void> => {
    begun.resolve()
    return converting.promise
  }
  const conversion = { version: 'v1', prepare, convert: (object: object) => object }
  let isClosed = false
  const follow = () => ({
    next: async () => ({ done: false, value: { changes: [changeOf('a', '12')], resourceVersion: '12' } }),
    return: async () => {
      isClosed = true
      return { done: true, value: undefined }
    },
  })
  const { stream, said } = open({
    kind: { ...plainKind, version: 'v2', conversion } as unknown as Stream['kind'],
    at: undefined,
    follow: follow as unknown as Stream['follow'],
  })
  const told = readAll(said)
  await begun.promise
  Object.assign(stream, { isCut: true, at: undefined })
  converting.resolve()
  await told
  expect(isClosed).toBe(true)
})
