import { expect, it } from 'vitest'
import { wheelSlots } from '../../../../shared/model/wheel.ts'
import type { KindName, ObjectIndex } from '../../../../shared/ports/object-index.ts'
import type { WorkQueue } from '../../../../shared/ports/work-queue.ts'
import { turnOf, turnWheel } from '../../../../shared/runtime/aws/wheel-turn.ts'

const hour = { resyncMs: 3_600_000, everyMs: 60_000 }
const minute = { resyncMs: 60_000, everyMs: 60_000 }
const garbage = { resyncMs: 24 * 3_600_000, everyMs: 3_600_000 }
const minutes = (count: number): number => count * 60_000
const nowMs = minutes(1_000_000)

it.each([
  { what: 'a minute on', of: hour, behind: 1, from: 1, to: 0 },
  { what: 'five at a time, if some were missed', of: hour, behind: 20, from: 20, to: 15 },
  { what: 'a round behind goes on there', of: hour, behind: 100, from: 100, to: 95 },
  {
    what: 'of more than two rounds whole ones are left out, so that the slots are the same',
    of: hour,
    behind: 250,
    from: 70,
    to: 65,
  },
  { what: 'the same after days', of: hour, behind: 5_000, from: 80, to: 75 },
  { what: 'of a short period, too', of: minute, behind: 10.5, from: 2.5, to: 0 },
  { what: 'of garbage an hour at a time', of: garbage, behind: 61, from: 61, to: 0 },
  { what: 'and not earlier', of: garbage, behind: 59, from: 59, to: 59 },
])('the wheel is turned $what', ({ of, behind, from, to }) => {
  const turn = turnOf({ turnedMs: nowMs - minutes(behind) }, of, nowMs)
  expect(turn).toEqual({ turnedMs: nowMs - minutes(from), toMs: nowMs - minutes(to) })
})

it('the place within a step stays where it is, however many rounds are left out', () => {
  const within = { untilMs: nowMs - minutes(249), place: '80000000' }
  const turn = turnOf({ turnedMs: nowMs - minutes(250), within }, hour, nowMs)
  expect(turn.within).toEqual({ untilMs: nowMs - minutes(69), place: '80000000' })
})

/** Turns the wheel of a kind by the hour that has passed; where it stands, how many keys were listed each time. */
async function turnHour(objects: number, room = 4_500) {
  const listed: number[] = []
  const onWheel = async ({ group, kind }: KindName, from: number, to: number) => {
    const count = Math.round(((to - from) * objects) / wheelSlots)
    listed.push(count)
    return Array.from({ length: count }, (_, i) => ({ group, kind, namespace: 'n', name: `${from}-${i}` }))
  }
  let left = room
  const pace = {
    get left() {
      return left
    },
    grant: (count: number) => {
      const granted = Math.min(count, left)
      left -= granted
      return granted
    },
  }
  const queue = { send: async () => {} } as unknown as WorkQueue
  const controller = { name: 'gc', kind: { group: 'g', kind: 'K' }, ...garbage }
  const turn = turnOf({ turnedMs: nowMs - minutes(60) }, garbage, nowMs)
  const index = { onWheel } as unknown as ObjectIndex
  const { turnedMs } = await turnWheel(turn, controller, {
    index,
    pace,
    sender: () => ({ queueOf: () => queue, unsent: 0 }),
  })
  return { turned: turnedMs - turn.turnedMs, listed }
}

it('of ten million objects, no more are listed at once than those of a minute', async () => {
  const { listed } = await turnHour(10_000_000)
  expect(Math.max(...listed)).toBeLessThanOrEqual(10_000_000 / 1_200)
})

it('of a thousand objects, few looks are enough for an hour', async () => {
  const { turned, listed } = await turnHour(1_000)
  expect(turned).toBe(minutes(60))
  expect(listed.length).toBeLessThanOrEqual(4)
})

it('of a hundred thousand, an hour is turned without ever listing more than there is room for', async () => {
  const { turned, listed } = await turnHour(100_000, 10_000)
  expect(turned).toBe(minutes(60))
  expect(Math.max(...listed)).toBeLessThanOrEqual(10_000)
})
