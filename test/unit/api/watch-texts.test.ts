import { describe, expect, it } from 'vitest'
import { bookmarkLine } from '../../../shared/api/watch/event-lines.ts'
import type { Segment } from '../../../shared/api/watch/live-changes.ts'
import { createFixedMembership } from '../../../shared/api/watch/membership.ts'
import type { Stream } from '../../../shared/api/watch/stream-state.ts'
import type { Text } from '../../../shared/api/watch/text-pieces.ts'
import { initialText, moveOn, partText, pastChangesText, segmentText } from '../../../shared/api/watch/texts.ts'
import { lineWire } from '../../../shared/api/watch/wire.ts'
import { viewOf, type View } from '../../../shared/api/view.ts'
import type { Change } from '../../../shared/ports/change-feed.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'
import { callOf, plainKind } from './called.ts'
import { storedOf } from './fake-services.ts'

const { request } = callOf('GET /apis/g.dev/v1/ks')
const objects = viewOf({ kind: plainKind, request }, createVirtualClock())
const introducing: View = {
  ...objects,
  introduces: true,
  event: (_stored, isFirst) => (isFirst ? '"first"' : '"next"'),
}

function streamOf(more: Partial<Stream> = {}): Stream {
  const selection = { namespace: '', name: undefined, selector: undefined, isMutable: false }
  return {
    view: objects,
    wire: lineWire,
    membership: createFixedMembership(selection),
    sharedAs: 'all',
    mayRepeat: false,
    hasSent: false,
    overlap: new Map(),
    pastEnd: 0n,
    reachBack: 0n,
    position: '10',
    ...more,
  } as Stream
}

const changeOf = (name: string, version: string, type: Change['type'] = 'modified'): Change => {
  return { type, stored: storedOf({ name, resourceVersion: version }), touched: {} as unknown as Change['touched'] }
}

function segmentOf(...changes: readonly Change[]): Segment {
  return { changes, unshown: [], resourceVersion: '20', length: 0, total: 0, texts: new Map(), next: undefined }
}

/** The lines as they are sent. */
function linesOf(text: unknown): readonly string[] {
  const all = typeof text === 'string' ? text : Buffer.concat((text ?? []) as Uint8Array[]).toString()
  return all.split('\n').slice(0, -1)
}

const told = (text: unknown) =>
  linesOf(text).map((line) => {
    const { type, object } = JSON.parse(line) as { type: string; object: { metadata: { name: string } } }
    return `${type} ${object.metadata.name}`
  })

describe('what a watch says', () => {
  it('of the objects there are is that they are added', () => {
    const known: string[] = []
    const stream = streamOf({
      membership: { ...streamOf().membership, knows: ({ metadata }) => void known.push(metadata.name) },
    })
    expect(told(initialText(stream, [storedOf({ name: 'a' }), storedOf({ name: 'b' })]))).toEqual([
      'ADDED a',
      'ADDED b',
    ])
    expect([known, stream.hasSent]).toEqual([['a', 'b'], true])
  })

  it('of changes that it reads alone is what its selection holds', () => {
    const changes = [changeOf('a', '11', 'added'), changeOf('b', '12', 'removed')]
    expect(told(pastChangesText(streamOf(), changes))).toEqual(['ADDED a', 'DELETED b'])
    const none = { namespace: 'other', name: undefined, selector: undefined, isMutable: false }
    expect(pastChangesText(streamOf({ membership: createFixedMembership(none) }), changes)).toBeUndefined()
    expect(segmentText(streamOf({ membership: createFixedMembership(none) }), segmentOf(...changes))).toBeUndefined()
  })

  it('is told of its columns first', () => {
    const stream = streamOf({ view: introducing })
    const text = initialText(stream, [storedOf({}), storedOf({})])
    expect(linesOf(text)).toEqual(['{"type":"ADDED","object":"first"}', '{"type":"ADDED","object":"next"}'])
  })

  it('in a bookmark is a version, and what is said of it', () => {
    const line = (annotations: Record<string, string>) =>
      bookmarkLine({ kind: plainKind, view: objects, resourceVersion: '7', isFirst: false, annotations })
    const object = '{"apiVersion":"g.dev/v1","kind":"K","metadata":{"resourceVersion":"7"}}'
    expect(line({})).toBe(`{"type":"BOOKMARK","object":${object}}\n`)
    expect(line({ a: 'b' })).toContain('"metadata":{"resourceVersion":"7","annotations":{"a":"b"}}')
  })
})

describe('a segment', () => {
  it('is a text for the first, and the same bytes for all others who are told the same', () => {
    const segment = segmentOf(changeOf('a', '11'))
    const texts = [1, 2, 3].map(() => segmentText(streamOf({ hasSent: true }), segment))
    expect(texts.map(told)).toEqual([['MODIFIED a'], ['MODIFIED a'], ['MODIFIED a']])
    expect(texts.map((text) => typeof text)).toEqual(['string', 'object', 'object'])
    expect(texts[2]).toBe(texts[1])
  })

  it('is nothing for all whom it does not concern, so that their silence has its signs', () => {
    const elsewhere = { namespace: 'other', name: undefined, selector: undefined, isMutable: false }
    const segment = segmentOf(changeOf('a', '11'))
    const stream = () => streamOf({ membership: createFixedMembership(elsewhere) })
    expect([1, 2, 3].map(() => segmentText(stream(), segment))).toEqual([undefined, undefined, undefined])
  })

  it('is apart for those who are told something else', () => {
    const segment = segmentOf(changeOf('a', '11'))
    const first = segmentText(streamOf(), segment)
    expect(segmentText(streamOf({ sharedAs: 'others' }), segment)).toBe(first)
    expect([...segment.texts.keys()]).toEqual(['all', 'others'])
  })

  it('is made anew for who has to hear of columns first', () => {
    const segment = segmentOf(changeOf('a', '11'))
    const text = (hasSent: boolean) => linesOf(segmentText(streamOf({ view: introducing, hasSent }), segment))
    expect(text(true)).toEqual(['{"type":"MODIFIED","object":"next"}'])
    expect(text(false)).toEqual(['{"type":"MODIFIED","object":"first"}'])
    expect([...segment.texts.keys()]).toEqual(['all'])
    const all = [1, 2].map(() => segmentText(streamOf({ view: introducing, hasSent: true }), segment))
    expect(all[1]).toBe(all[0])
  })

  it('is shared by its lines among those who are told of different changes', () => {
    const segment = segmentOf(changeOf('a', '11'), changeOf('b', '12'))
    let made = 0
    const view: View = {
      ...objects,
      event: (stored) => `{"n":${++made},"metadata":{"name":"${stored.object.metadata.name}"}}`,
    }
    const alone = () => streamOf({ view, sharedAs: undefined, hasSent: true })
    expect([told(segmentText(alone(), segment)), told(segmentText(alone(), segment)), made]).toEqual([
      ['MODIFIED a', 'MODIFIED b'],
      ['MODIFIED a', 'MODIFIED b'],
      2,
    ])
    const first = { ...alone(), view: { ...view, introduces: true }, hasSent: false }
    expect(segmentText(first, segment)).toBeTypeOf('string')
    expect(made).toBe(3)
  })

  it('is told to others in parts, each made when the one before it is taken, and moves on with the last', () => {
    const length = 4_000
    const changes = Array.from({ length: 10 }, (_, i) => changeOf(`k${i}`, String(11 + i)))
    const segment = segmentOf(...changes)
    let made = 0
    const view: View = {
      ...objects,
      event: ({ object: { metadata } }) =>
        `{"n":${++made},"metadata":{"name":"${metadata.name}"},"text":"${'x'.repeat(length)}"}`,
    }
    const stream = streamOf({ view, sharedAs: undefined, hasSent: true })
    const parts = [told(segmentText(stream, segment))]
    // One more was made to see that it does not fit.
    expect([parts[0]?.length, made, stream.position]).toEqual([4, 5, '10'])
    while (stream.part !== undefined) parts.push(told(partText(stream, stream.part)))
    expect(parts.map(({ length: lines }) => lines)).toEqual([4, 4, 2])
    expect(parts.flat()).toEqual(changes.map((_, i) => `MODIFIED k${i}`))
    expect([made, stream.position]).toEqual([10, '20'])
  })

  it('is told in parts of a piece at most, and a line of one piece is a text', () => {
    const around = '{"type":"MODIFIED","object":""}\n'.length
    const sizesOf = (...lengths: readonly number[]): readonly unknown[] => {
      const left = [...lengths]
      const view: View = { ...objects, event: () => `"${'x'.repeat((left.shift() ?? 0) - around)}"` }
      const segment = segmentOf(...lengths.map((_, i) => changeOf(`k${i}`, String(11 + i))))
      const stream = streamOf({ view, sharedAs: undefined, hasSent: true })
      const texts = [segmentText(stream, segment)]
      while (stream.part !== undefined) texts.push(partText(stream, stream.part))
      return texts.map((text) => (typeof text === 'string' ? text.length : text?.map((piece) => piece.length)))
    }
    expect(sizesOf(8_000, 8_384, 100)).toEqual([16_384, 100])
    expect(sizesOf(8_000, 8_385)).toEqual([8_000, 8_385])
    expect(sizesOf(16_384)).toEqual([16_384])
    expect(sizesOf(16_385)).toEqual([[16_384, 1]])
  })

  it('has long lines as bytes that all share who are told them', () => {
    const segment = segmentOf(changeOf('a', '11'), changeOf('long', '12'), changeOf('b', '13'))
    const view: View = {
      ...objects,
      event: ({ object: { metadata } }) =>
        `{"metadata":{"name":"${metadata.name}"},"text":"${'x'.repeat(metadata.name === 'long' ? 50_000 : 1)}"}`,
    }
    const readAll = (): readonly (Text | undefined)[] => {
      const stream = streamOf({ view, sharedAs: undefined, hasSent: true })
      const texts = [segmentText(stream, segment)]
      while (stream.part !== undefined) texts.push(partText(stream, stream.part))
      return texts
    }
    const [one, other] = [readAll(), readAll()]
    expect(one.map(told)).toEqual([['MODIFIED a'], ['MODIFIED long'], ['MODIFIED b']])
    expect(one[1]).toHaveLength(4)
    expect(other[1]).toBe(one[1])
  })

  it('moves the position on', () => {
    const stream = streamOf()
    segmentText(stream, segmentOf())
    expect(stream.position).toBe('20')
  })
})

describe('changes that the log has told', () => {
  const segment = () => segmentOf(changeOf('a', '15'), changeOf('b', '15'), changeOf('c', '25'), changeOf('d', '31'))
  const key = (name: string) => `g.dev/K//${name}`

  it('are not told again', () => {
    const stream = streamOf({ mayRepeat: true, pastEnd: 25n })
    expect(told(segmentText(stream, segment()))).toEqual(['MODIFIED d'])
    for (const sharedAs of ['all', undefined])
      expect(told(segmentText(streamOf({ pastEnd: 25n, sharedAs }), segment()))).toHaveLength(4)
  })

  it('are known by their versions where a feed reaches back', () => {
    const overlap = new Map([
      [key('b'), 15n],
      [key('c'), 24n],
    ])
    const stream = streamOf({ mayRepeat: true, pastEnd: 30n, reachBack: 20n, overlap })
    expect(told(segmentText(stream, segment()))).toEqual(['MODIFIED a', 'MODIFIED c', 'MODIFIED d'])
    const nearer = streamOf({ mayRepeat: true, pastEnd: 30n, reachBack: 15n })
    expect(told(segmentText(nearer, segment()))).toEqual(['MODIFIED c', 'MODIFIED d'])
  })

  it.each([
    ['24', { position: '10', mayRepeat: true, left: 1 }],
    ['25', { position: '25', mayRepeat: true, left: 1 }],
    ['29', { position: '29', mayRepeat: true, left: 1 }],
    ['30', { position: '30', mayRepeat: false, left: 0 }],
    ['31', { position: '31', mayRepeat: false, left: 0 }],
  ])('are behind at %s: %j', (version, { left, ...state }) => {
    const stream = streamOf({ mayRepeat: true, pastEnd: 25n, reachBack: 5n, overlap: new Map([['x', 1n]]) })
    moveOn(stream, version)
    expect(stream).toMatchObject(state)
    expect(stream.overlap.size).toBe(left)
  })
})
