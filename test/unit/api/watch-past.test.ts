import { describe, expect, it } from 'vitest'
import type { Segment } from '../../../shared/api/watch/live-changes.ts'
import { createFixedMembership } from '../../../shared/api/watch/membership.ts'
import { beginPast, readPast } from '../../../shared/api/watch/past.ts'
import type { Past, Stream } from '../../../shared/api/watch/stream-state.ts'
import { lineWire } from '../../../shared/api/watch/wire.ts'
import { viewOf } from '../../../shared/api/view.ts'
import type { Conversion } from '../../../shared/model/conversion.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { Change, ChangeBatch } from '../../../shared/ports/change-feed.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'
import { callOf, plainKind } from './called.ts'
import { storedOf } from './fake-services.ts'

const clock = createVirtualClock(0)
const { request } = callOf('GET /apis/g.dev/v1/ks')
const all = createFixedMembership({ namespace: '', name: undefined, selector: undefined, isMutable: false })
const gone = new OperatingError('EXPIRED', 'the log begins later')

interface Told {
  readonly asked: string[]
  isClosed: boolean
  rejoined: number
}

type Answer = ChangeBatch | Error | Promise<ChangeBatch>

/** A watch whose log answers what a test says, in order, and whose place among the live changes is this one. */
function watchOf(answers: readonly Answer[], liveAt?: string, more: Partial<Stream> = {}) {
  const told: Told = { asked: [], isClosed: false, rejoined: 0 }
  const left = [...answers]
  const changes: AsyncIterator<ChangeBatch> = {
    next: async () => {
      const answer = left.shift()
      if (answer instanceof Error) throw answer
      return answer === undefined ? { done: true, value: undefined } : { done: false, value: await answer }
    },
    return: async () => {
      told.isClosed = true
      return { done: true, value: undefined }
    },
  }
  const stream = {
    kind: plainKind,
    view: viewOf({ kind: plainKind, request }, clock),
    wire: lineWire,
    clock,
    signal: new AbortController().signal,
    membership: all,
    position: '10',
    overlap: new Map(),
    reachBack: 0n,
    pastEnd: 0n,
    mayRepeat: false,
    isCut: false,
    hasSent: false,
    at: undefined,
    live: {
      rejoin: (one: Stream) => {
        told.rejoined++
        one.at = liveAt === undefined ? undefined : ({ resourceVersion: liveAt, next: undefined } as unknown as Segment)
      },
    },
    follow: (after: string) => {
      told.asked.push(after)
      return changes
    },
    ...more,
  } as unknown as Stream
  return { stream, told }
}

function batch(resourceVersion: string, ...versions: readonly string[]): ChangeBatch {
  const changes = versions.map((version): Change => {
    const stored = storedOf({ name: `n${version}`, resourceVersion: version })
    return { type: 'modified', stored, touched: [] }
  })
  return { changes, resourceVersion }
}

function begun(stream: Stream): Past {
  const past = beginPast(stream)
  stream.past = past
  return past
}

const text = async (stream: Stream, past: Past): Promise<string> => {
  const lines = await readPast(stream, past)
  return typeof lines === 'string' ? lines : Buffer.concat(lines ?? []).toString()
}

describe('a walk through the log', () => {
  it('takes its place among the live changes ahead of the question, and asks from where the watch is', async () => {
    const late = Promise.withResolvers<ChangeBatch>()
    const { stream, told } = watchOf([late.promise], '11')
    const past = begun(stream)
    expect([told.asked, told.rejoined]).toEqual([['10'], 0])
    const read = readPast(stream, past)
    expect([told.rejoined, stream.at?.resourceVersion]).toEqual([1, '11'])
    late.resolve(batch('12'))
    await read
  })

  it('that has no place there yet goes by where it is', async () => {
    const { stream } = watchOf([batch('12', '10', '11')], undefined, { reachBack: 1n })
    await readPast(stream, begun(stream))
    expect([...stream.overlap.values()]).toEqual([10n, 11n])
  })

  it('fails when it is read if the log does not reach back', async () => {
    const { stream } = watchOf([gone], '11')
    await expect(readPast(stream, begun(stream))).rejects.toBe(gone)
  })

  it.each<readonly [string, string, string | undefined, boolean]>([
    ['short of the live changes', '11', '12', false],
    ['at the live changes', '12', '12', true],
    ['past the live changes', '13', '12', true],
    ['with no place among the live changes', '13', undefined, false],
  ])('goes live when it has reached them: %s', async (_, end, liveAt, isLive) => {
    const { stream, told } = watchOf([batch(end, '11')], liveAt)
    expect(await text(stream, begun(stream))).toMatch(/"name":"n11"/)
    expect({ position: stream.position, past: stream.past === undefined, at: stream.at !== undefined }).toEqual({
      position: end,
      past: isLive,
      at: isLive,
    })
    expect(told.isClosed).toBe(isLive)
    expect(stream.isCut).toBe(false)
  })

  it('goes on with a new place and the next batch until then', async () => {
    const { stream, told } = watchOf([batch('11', '11'), batch('12', '12')], '12')
    const past = begun(stream)
    expect(await text(stream, past)).toMatch(/n11/)
    expect(await text(stream, past)).toMatch(/n12/)
    expect([told.asked, told.rejoined, stream.past]).toEqual([['10'], 2, undefined])
  })

  it('of nothing that is told says nothing, and moves on', async () => {
    const { stream } = watchOf([batch('11')], '12')
    expect(await readPast(stream, begun(stream))).toBeUndefined()
    expect(stream.position).toBe('11')
  })

  it('ends with the log', async () => {
    const { stream } = watchOf([], '12')
    expect(await readPast(stream, begun(stream))).toBeUndefined()
    expect([stream.isCut, stream.position]).toEqual([true, '10'])
  })

  it('ends without a word when its client has left meanwhile', async () => {
    const client = new AbortController()
    const { stream } = watchOf([batch('11', '11')], '12', { signal: client.signal })
    const past = begun(stream)
    client.abort()
    expect(await readPast(stream, past)).toBeUndefined()
    expect([stream.isCut, stream.position]).toEqual([true, '10'])
  })

  it('has the objects of a batch converted together, ahead of showing them', async () => {
    const prepared: (readonly [readonly string[], string])[] = []
    const conversion = {
      version: 'v1',
      prepare: async (objects: readonly ApiObject[], version: string) =>
        void prepared.push([objects.map(({ metadata }) => metadata.name), version]),
      convert: (object: ApiObject, version: string) => ({ ...object, apiVersion: `g.dev/${version}` }),
    } as unknown as Conversion
    const kind = { ...plainKind, version: 'v2', conversion }
    const { stream } = watchOf([batch('12', '11', '12')], '12', { kind })
    expect(await text(stream, begun(stream))).toMatch(/"apiVersion":"g.dev\/v2"/)
    expect(prepared).toEqual([[['n11', 'n12'], 'v2']])
  })

  it('ends, after what can be told, at an object that cannot be shown', async () => {
    const conversion = {
      version: 'v1',
      convert: (object: ApiObject) => {
        if (object.metadata.name === 'n12') throw new OperatingError('CONVERSION_FAILED', 'n12 has no v2')
        return object
      },
    } as unknown as Conversion
    const kind = { ...plainKind, version: 'v2', conversion }
    const { stream } = watchOf([batch('13', '11', '12')], '13', { kind })
    expect(await text(stream, begun(stream))).toMatch(/n11/)
    expect(stream).toMatchObject({ isCut: true, failure: { code: 'EXPIRED' } })
    expect(stream.failure?.message).toContain('n12 has no v2')
  })
})

describe('where a look may see less than an earlier one', () => {
  it('keeps its first place among the live changes until it has looked so much later', async () => {
    const { stream, told } = watchOf([batch('12'), batch('14'), batch('15')], '12', { reachBack: 3n })
    const past = begun(stream)
    await readPast(stream, past)
    const place = stream.at
    expect(place?.resourceVersion).toBe('12')
    // While nothing happens the end moves on, and the place with it.
    Object.assign(place ?? {}, { resourceVersion: '14' })
    await readPast(stream, past)
    expect([stream.past, stream.at, told.rejoined]).toEqual([past, place, 1])
    await readPast(stream, past)
    expect([stream.past, stream.at, told.rejoined, told.isClosed]).toEqual([undefined, place, 1, true])
  })

  it('takes another place where it has lost the one that it had', async () => {
    const { stream, told } = watchOf([batch('13'), batch('15')], '12', { reachBack: 3n })
    const past = begun(stream)
    await readPast(stream, past)
    stream.at = undefined
    stream.live.rejoin = (one) => {
      told.rejoined++
      one.at = { resourceVersion: '13', next: undefined } as unknown as Segment
    }
    await readPast(stream, past)
    expect([stream.past, told.rejoined, stream.liveAt]).toEqual([past, 2, 13n])
  })
})

describe('what the log and the live changes may both tell', () => {
  const overlapOf = async (reachBack: bigint, liveAt: string) => {
    const { stream } = watchOf([batch('20', '11', '15', '16', '20')], liveAt, { reachBack })
    await readPast(stream, begun(stream))
    return { mayRepeat: stream.mayRepeat, pastEnd: stream.pastEnd, versions: [...stream.overlap.values()] }
  }

  it.each<readonly [string, readonly [bigint, string], boolean, readonly bigint[]]>([
    ['a log in order that ends where they begin', [0n, '20'], false, []],
    ['a log in order that ends behind where they begin', [0n, '19'], true, []],
    ['a log in order that ends ahead of them', [0n, '21'], false, []],
    ['a feed that reaches back, from its first version of doubt', [5n, '20'], true, [16n, 20n]],
    ['a feed that reaches back as far as the log is ahead', [5n, '25'], false, []],
    ['a feed that reaches back less far than that', [5n, '24'], true, [20n]],
  ])('is remembered: %s', async (_, [reachBack, liveAt], mayRepeat, versions) => {
    expect(await overlapOf(reachBack, liveAt)).toEqual({ mayRepeat, pastEnd: 20n, versions })
  })
})
