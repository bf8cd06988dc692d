import { beforeEach, describe, expect, it } from 'vitest'
import { batchesOf, inBatches, type BatchOptions } from '../../../../shared/adapters/aws/client/batches.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import type { Random } from '../../../../shared/ports/random.ts'
import { expectCode } from '../../../support/expect-code.ts'
import { createVirtualClock, type VirtualClock } from '../../../support/virtual-clock.ts'

let clock: VirtualClock
/** Each call: when it was made, and what it was given. */
let calls: (readonly [number, string])[]
beforeEach(() => {
  clock = createVirtualClock(0)
  calls = []
})

type Call = BatchOptions<string>['call']

const chance = (share: number): Random => ({ next: () => share, uuid: () => 'u' })

/** Refuses entries for now, as often as their digit says; for good, if they end with `!`. */
const refusing = (): Call => {
  const left = new Map<string, number>()
  return async (batch) => {
    calls.push([clock.nowMs(), batch.join(' ')])
    return batch.flatMap((entry) => {
      const refusals = left.get(entry) ?? Number(/\d+/.exec(entry)?.[0] ?? 0)
      left.set(entry, refusals - 1)
      const isFinal = entry.endsWith('!')
      const code = isFinal ? 'Invalid' : entry.startsWith('slow') ? 'ThrottlingException' : 'Busy'
      return isFinal || refusals > 0 ? [{ entry, code, message: entry, isFinal }] : []
    })
  }
}

async function put(entries: readonly string[], more: Partial<BatchOptions<string>> = {}): Promise<void> {
  const random = chance(1)
  const done = inBatches(entries, { attempt: 'put', sizeMax: 2, call: refusing(), clock, random, ...more })
  done.catch(() => {})
  await clock.advance(60_000)
  await done
}

describe('entries in batches', () => {
  it('are called for in their order, and not at all if there are none', async () => {
    await put([])
    expect(calls).toEqual([])
    await put(['a', 'b', 'c'])
    expect(calls.map(([, batch]) => batch)).toEqual(['a b', 'c'])
  })

  it('are tried again, and only those that were refused, at intervals that double', async () => {
    await put(['a5', 'b1'])
    expect(calls).toEqual([
      [0, 'a5 b1'],
      [200, 'a5 b1'],
      [600, 'a5'],
      [1_400, 'a5'],
      [3_000, 'a5'],
      [6_200, 'a5'],
    ])
  })

  it('wait for less by chance', async () => {
    await put(['a2'], { random: chance(0.25) })
    expect(calls.map(([atMs]) => atMs)).toEqual([0, 50, 150])
  })

  it.each<[string, readonly string[], 'THROTTLED' | 'UNAVAILABLE' | 'INTERNAL', string, number]>([
    ['for now', ['a9'], 'UNAVAILABLE', 'cannot put: Busy: a9', 6],
    ['for being too many', ['slow9'], 'THROTTLED', 'cannot put: ThrottlingException: slow9', 6],
    ['for good', ['a!'], 'INTERNAL', 'cannot put: Invalid: a!', 1],
    ['for good, one of two', ['a!', 'b'], 'INTERNAL', 'Invalid', 1],
    ['one for good, one for now', ['a!', 'b9'], 'UNAVAILABLE', 'cannot put: Busy: b9', 6],
    ['one for good, one for now in another batch', ['a!', 'b', 'slow9'], 'THROTTLED', 'slow9', 7],
    ['one for good, one until it is taken', ['a!', 'b1'], 'INTERNAL', 'Invalid', 2],
  ])('that are refused %s', async (...[, entries, code, message, count]) => {
    expect((await expectCode(put(entries), code)).message).toContain(message)
    expect(calls).toHaveLength(count)
  })

  it('are tried, all of them, though a call fails', async () => {
    const call: Call = async (batch) => {
      calls.push([clock.nowMs(), batch.join(' ')])
      if (batch.includes('a')) throw new OperatingError('INTERNAL', 'no such queue')
      if (batch.includes('c')) throw new OperatingError('UNAVAILABLE', 'away')
      return []
    }
    await expectCode(put(['a', 'b', 'c', 'd', 'e'], { call }), 'UNAVAILABLE')
    expect(calls.map(([, batch]) => batch)).toEqual(['a b', 'c d', 'e'])
  })

  it('are tried no more once somebody ends it, and once at least', async () => {
    const end = new AbortController()
    const ending: Call = async (batch) => {
      end.abort()
      return refusing()(batch)
    }
    await expectCode(put(['a9'], { call: ending, signal: end.signal }), 'UNAVAILABLE')
    expect(calls).toEqual([[0, 'a9']])
    await put(['b'], { signal: end.signal })
    expect(calls).toHaveLength(2)
  })

  it('are in eight calls at once at most', async () => {
    let [underWay, most] = [0, 0]
    const call: Call = async () => {
      most = Math.max(most, ++underWay)
      await clock.sleep(10)
      underWay--
      return []
    }
    await put(
      Array.from({ length: 40 }, (_, i) => `e${i}`),
      { call },
    )
    expect([most, underWay]).toEqual([8, 0])
  })
})

it.each([
  [[], 2, []],
  [['a'], 2, [['a']]],
  [['a', 'b'], 2, [['a', 'b']]],
  [['a', 'b', 'c'], 2, [['a', 'b'], ['c']]],
  [['a', 'b', 'c'], 1, [['a'], ['b'], ['c']]],
])('%j in batches of %d', (entries, sizeMax, batches) => {
  expect(batchesOf(entries, sizeMax)).toEqual(batches)
})
