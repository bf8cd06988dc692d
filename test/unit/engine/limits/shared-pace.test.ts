import { expect, it } from 'vitest'
import { createSharedPace, type SharedPace } from '../../../../shared/engine/limits/shared-pace.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import type { Reserve } from '../../../../shared/ports/reservations.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

const limit = { perSecond: 1, burst: 1 }
const startMs = 1_000_000

/** A pace whose line gives one place a second. */
function paceWith(): {
  readonly pace: SharedPace
  readonly asked: number[]
  readonly clock: ReturnType<typeof createVirtualClock>
} {
  const clock = createVirtualClock(startMs)
  const asked: number[] = []
  let nextMs = startMs
  const reserve: Reserve = async (_line, count) => {
    asked.push(count)
    return Array.from({ length: count }, () => (nextMs = Math.max(nextMs, clock.nowMs()) + 1_000))
  }
  const pace = createSharedPace({ name: 'c', controllerLimit: limit }, { clock, reserve })
  if (pace === undefined) throw new Error('there is a limit')
  return { pace, asked, clock }
}

const stored = (reservedMs?: number): StoredObject =>
  ({ object: {}, engine: reservedMs === undefined ? {} : { memory: { reservedMs } } }) as unknown as StoredObject

it('is none where there is no limit, or whoever takes the keys keeps it', () => {
  const clock = createVirtualClock(startMs)
  expect(createSharedPace({ name: 'c', controllerLimit: limit }, { clock })).toBeUndefined()
  const reserve: Reserve = async () => []
  expect(createSharedPace({ name: 'c', controllerLimit: undefined }, { clock, reserve })).toBeUndefined()
})

it('the turns of a batch share a request, whoever leaves is not waited for, and each has a place of its own', async () => {
  const { pace, asked } = paceWith()
  const [first, second, third] = [pace.enter(), pace.enter(), pace.enter()]
  const places = [first.runAtMs(stored()), third.runAtMs(stored())]
  expect(asked).toEqual([])
  second.leave()
  expect(await Promise.all(places)).toEqual([startMs + 1_000, startMs + 2_000])
  expect(asked).toEqual([2])
})

it('a turn whose object has a place already is not waited for', async () => {
  const { pace, asked } = paceWith()
  const [first, second] = [pace.enter(), pace.enter()]
  const place = second.runAtMs(stored())
  expect(await first.runAtMs(stored(startMs + 5_000))).toBe(startMs + 5_000)
  expect(await place).toBe(startMs + 1_000)
  expect(asked).toEqual([1])
})

it('a turn that leaves once it has asked, or leaves twice, decides for no other', async () => {
  const { pace, asked } = paceWith()
  const [first, second, third] = [pace.enter(), pace.enter(), pace.enter()]
  const places = [first.runAtMs(stored())]
  first.leave()
  second.leave()
  second.leave()
  await Promise.resolve()
  expect(asked).toEqual([])
  places.push(third.runAtMs(stored()))
  await Promise.all(places)
  expect(asked).toEqual([2])
})

it('a turn that asks a second time waits for the turns that came after its first time', async () => {
  const { pace, asked, clock } = paceWith()
  const first = pace.enter()
  await first.runAtMs(stored())
  await clock.advance(60_000)
  const second = pace.enter()
  const places = [first.runAtMs(stored()), second.runAtMs(stored())]
  await Promise.all(places)
  expect(asked).toEqual([1, 2])
})

it('a place is asked for once a turn, and one that the object holds is good for ten seconds', async () => {
  const { pace, asked, clock } = paceWith()
  const turn = pace.enter()
  expect(turn.hasReservation(stored())).toBe(false)
  expect(turn.hasReservation(stored(startMs + 5_000))).toBe(true)
  expect(await turn.runAtMs(stored(startMs + 5_000))).toBe(startMs + 5_000)
  expect(asked).toEqual([])
  await clock.advance(15_000)
  expect(turn.isLate()).toBe(false)
  await clock.advance(1)
  expect([turn.isLate(), turn.hasReservation(stored(startMs + 5_000))]).toEqual([true, false])
  const atMs = await turn.runAtMs(stored(startMs + 5_000))
  expect(await turn.runAtMs(stored())).toBe(atMs)
  expect(asked).toEqual([1])
})

it('tells everybody who asked that the line cannot be asked', async () => {
  const clock = createVirtualClock(startMs)
  const reserve: Reserve = async () => {
    throw new RangeError('away')
  }
  const pace = createSharedPace({ name: 'c', controllerLimit: limit }, { clock, reserve })
  if (pace === undefined) throw new Error('there is a limit')
  const turns = [pace.enter(), pace.enter()]
  const told = await Promise.allSettled(turns.map((turn) => turn.runAtMs(stored())))
  expect(told.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})
