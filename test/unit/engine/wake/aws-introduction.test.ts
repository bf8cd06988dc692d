import { describe, expect, it } from 'vitest'
import {
  completeIntroduction,
  createAwsIntroduction,
  notIntroduced,
  type Introduced,
  type Room,
} from '../../../../shared/engine/wake/aws-introduction.ts'
import type { SweptController } from '../../../../shared/engine/wake/sweep.ts'
import type { ObjectIndex } from '../../../../shared/ports/object-index.ts'
import type { WakeUp } from '../../../../shared/ports/work-queue.ts'
import { widgetKind } from '../../../support/stored-object.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

const startMs = 1_000_000
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => logger }
const watching = { id: 'v1', kinds: [widgetKind] }
const watcher: SweptController = { name: 'widget', kind: widgetKind, resyncMs: 0, watching }
const plain: SweptController = { name: 'widget', kind: widgetKind, resyncMs: 0 }

/** A tick over a wheel with so many objects on each slot. */
function tickOver({
  perSlot,
  takesMs = 0,
  unsent = 0,
  ...room
}: Partial<Pick<Room, 'keysMax' | 'untilMs'>> & {
  readonly perSlot: (slot: number) => number
  /** For each slice of the wheel. */
  readonly takesMs?: number
  /** How many of each send there was no room for. */
  readonly unsent?: number
}) {
  const clock = createVirtualClock(startMs)
  const noted: string[] = []
  const sent: WakeUp[] = []
  const index = {
    onWheel: async (_kind: unknown, from: number, to: number) => {
      clock.moveTo(clock.nowMs() + takesMs)
      return Array.from({ length: to - from }, (_, i) => from + i).flatMap((slot) =>
        Array.from({ length: perSlot(slot) }, (_, i) => ({
          ...widgetKind,
          namespace: 'default',
          name: `${slot}-${i}`,
        })),
      )
    },
  } as unknown as ObjectIndex
  const noteStored = async ({ name }: { readonly name: string }) => void noted.push(name)
  const introduction = createAwsIntroduction({ index, clock, noteStored, logger })
  const queueOf = () => ({ send: async (wakeUps: readonly WakeUp[]) => void sent.push(...wakeUps) })
  const tick = (controller: SweptController, begun: Introduced): Promise<Introduced> =>
    introduction.advance(controller, begun, {
      queueOf,
      keysMax: 1_000_000,
      untilMs: Infinity,
      unsent: () => Math.min(unsent, sent.length),
      ...room,
    } as unknown as Room)
  return { tick, noted, sent, names: () => sent.map(({ key }) => key.name) }
}

describe('the first look of a loop on AWS', () => {
  it('begins with the tick after the one that learns what the loop watches, and anew with another watch', async () => {
    const { tick, noted, sent } = tickOver({ perSlot: () => 1 })
    expect(await tick(watcher, notIntroduced)).toEqual({ watching: 'v1', noted: 0, woken: 0 })
    expect(await tick(watcher, { watching: 'v0', noted: 9, woken: 9, wokenTo: 'x' })).toEqual({
      watching: 'v1',
      noted: 0,
      woken: 0,
    })
    expect(await tick(plain, { watching: 'v0', noted: 9, woken: 9 })).toEqual({ noted: 0, woken: 0 })
    expect([noted, sent]).toEqual([[], []])
  })

  it.each([
    ['watches', watcher, { watching: 'v1', noted: 3_600, woken: 3_600 }],
    ['watches nothing', plain, { noted: 3_600, woken: 3_600 }],
  ])('is over for a loop that %s and that no object is older than', async (_what, controller, complete) => {
    const { tick, noted, sent } = tickOver({ perSlot: () => 1 })
    const whole = completeIntroduction(controller)
    expect(whole).toEqual(complete)
    expect(await tick(controller, whole)).toBe(whole)
    expect([noted, sent]).toEqual([[], []])
  })

  it('notes about five thousand objects a tick, wakes none before all are noted, and then as many a tick', async () => {
    const { tick, noted, names } = tickOver({ perSlot: () => 100 })
    const first = await tick(watcher, { watching: 'v1', noted: 0, woken: 0 })
    expect([first, noted.length, names().length]).toEqual([
      { watching: 'v1', noted: 50, woken: 0, sinceMs: startMs },
      5_000,
      0,
    ])
    expect((await tick(watcher, { ...first, noted: 3_599 })).noted).toBe(3_600)
    expect(names()).toEqual([])
    const woken = await tick(watcher, { watching: 'v1', noted: 3_600, woken: 0 })
    expect([woken, names().length]).toEqual([{ watching: 'v1', noted: 3_600, woken: 50, sinceMs: startMs }, 5_000])
    expect((await tick(watcher, { ...woken, woken: 3_599 })).woken).toBe(3_600)
  })

  it('wakes no more than there is room for, at once where nothing is watched, each object once', async () => {
    const { tick, sent } = tickOver({ perSlot: () => 1, keysMax: 3 })
    expect(await tick(plain, notIntroduced)).toEqual({ noted: 0, woken: 3, sinceMs: startMs })
    expect(sent).toHaveLength(3)
    expect(sent[0]).toMatchObject({ dedupId: `introduction  ${startMs}`, origin: 'change', key: { name: '0-0' } })
    const { tick: watched, sent: sentBy } = tickOver({ perSlot: () => 60, keysMax: 1 })
    await watched(watcher, { watching: 'v1', noted: 3_600, woken: 0 })
    expect(sentBy[0]?.dedupId).toBe(`introduction v1 ${startMs}`)
  })

  it.each([
    { what: 'notes for fifteen seconds', room: {}, noted: 16 },
    { what: 'notes no longer than the tick may take', room: { untilMs: startMs + 3_000 }, noted: 4 },
  ])('$what', async ({ room, noted }) => {
    const { tick } = tickOver({ perSlot: () => 60, takesMs: 1_000, ...room })
    expect((await tick(watcher, { watching: 'v1', noted: 0, woken: 0 })).noted).toBe(noted)
  })

  it('keeps the moment at which it began, by which its wake-ups are told from those of the one before', async () => {
    const { tick, sent } = tickOver({ perSlot: () => 1, keysMax: 3 })
    const known = { ...notIntroduced, sinceMs: 7 }
    expect(await tick(plain, known)).toEqual({ ...known, woken: 3 })
    expect(sent[0]?.dedupId).toBe('introduction  7')
  })

  it('wakes no longer than the tick may take', async () => {
    const { tick } = tickOver({ perSlot: () => 60, takesMs: 1_000, untilMs: startMs + 20_000 })
    expect((await tick(plain, notIntroduced)).woken).toBe(21)
  })

  it('goes on behind what it could send of a slot, and with whole slots from there', async () => {
    const perSlot = (slot: number): number => (slot === 7 || slot === 8 ? 60 : 0)
    const { tick, names } = tickOver({ perSlot, unsent: 20 })
    const begun = await tick(plain, { noted: 0, woken: 7 })
    expect(begun).toMatchObject({ noted: 0, woken: 7, wokenTo: expect.any(String) as string })
    const took = names().slice(0, 40)
    const next = tickOver({ perSlot })
    expect(await next.tick(plain, begun)).toEqual({ noted: 0, woken: 3_600, sinceMs: startMs })
    expect(next.names()).toHaveLength(80)
    expect(new Set([...took, ...next.names()]).size).toBe(120)
  })

  it('looks at several slots again of which it could not send all', async () => {
    const { tick, names } = tickOver({ perSlot: (slot) => (slot === 0 ? 0 : 30), unsent: 1 })
    expect(await tick(plain, notIntroduced)).toEqual({ noted: 0, woken: 1, sinceMs: startMs })
    expect(names()).toHaveLength(60)
  })

  it('looks at a slot again of which it could send nothing', async () => {
    const { tick } = tickOver({ perSlot: () => 60, unsent: 60 })
    expect(await tick(plain, { noted: 0, woken: 5 })).toEqual({ noted: 0, woken: 5, sinceMs: startMs })
  })
})
