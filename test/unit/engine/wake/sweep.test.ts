import { describe, expect, it } from 'vitest'
import {
  listDue,
  noteSlots,
  sweepTimers,
  sweepWheel,
  wakeSlots,
  type SweepOptions,
  type SweptController,
} from '../../../../shared/engine/wake/sweep.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import type { DueTimer, ObjectIndex } from '../../../../shared/ports/object-index.ts'
import type { Logger } from '../../../../shared/ports/logger.ts'
import type { WakeUp } from '../../../../shared/ports/work-queue.ts'
import { widgetKind } from '../../../support/stored-object.ts'

const nowMs = 1_000_000
const keyOf = (name: string) => ({ ...widgetKind, namespace: 'default', name })
const widget: SweptController = { name: 'widget', kind: widgetKind, resyncMs: 3_600_000 }

const told: unknown[] = []
const logger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: (_, fields) => void told.push(fields),
  with: () => logger,
}

/** An index that knows these, what it was asked, and what was sent. */
function world({
  due = [],
  onWheel = () => [],
}: {
  due?: readonly DueTimer[]
  onWheel?: (from: number, to: number) => string[]
}) {
  const asked: unknown[][] = []
  const sent: (readonly [string, readonly WakeUp[]])[] = []
  const index = {
    due: async (...args: unknown[]) => {
      asked.push(args)
      return due
    },
    onWheel: async (...args: readonly [unknown, number, number]) => {
      asked.push([...args])
      return onWheel(args[1], args[2]).map(keyOf)
    },
  } as unknown as ObjectIndex
  const queueOf = ({ name }: { readonly name: string }) => ({
    send: async (wakeUps: readonly WakeUp[]) => void sent.push([name, wakeUps]),
  })
  const options = { index, queueOf } as unknown as Omit<SweepOptions, 'controllers'>
  return { options, asked, sent }
}

const dueAt = (name: string, dueAtMs: number): DueTimer => ({ key: keyOf(name), dueAtMs })

describe('sweepTimers', () => {
  it('wakes what is due soon, and once more what is late', async () => {
    const due = [dueAt('late', nowMs - 1), dueAt('now', nowMs), dueAt('soon', nowMs + 5)]
    const { options, asked, sent } = world({ due })
    await sweepTimers({ ...options, controllers: [widget] }, nowMs, 10_000)
    expect(asked).toEqual([[widgetKind, nowMs + 10_000, 1_000, 0]])
    const timer = { origin: 'timer', lane: 'background', reason: 'its timer was due' }
    expect(sent).toEqual([
      [
        'widget',
        [
          { ...timer, key: keyOf('late'), dedupId: `late:${nowMs - 1}`, notBeforeMs: nowMs - 1 },
          { ...timer, key: keyOf('now'), dedupId: `timer:${nowMs}`, notBeforeMs: nowMs },
          { ...timer, key: keyOf('soon'), dedupId: `timer:${nowMs + 5}`, notBeforeMs: nowMs + 5 },
        ],
      ],
    ])
  })

  it('wakes other keys of the same names where a controller says so, and sends nothing where nothing is due', async () => {
    const record = { group: 'removed.example.com', kind: 'Widget' }
    const { options, sent } = world({ due: [dueAt('w', nowMs)] })
    await sweepTimers({ ...options, controllers: [{ ...widget, wakes: record }] }, nowMs, 0)
    expect(sent[0]?.[1][0]?.key).toEqual({ ...record, namespace: 'default', name: 'w' })
    const idle = world({})
    await sweepTimers({ ...idle.options, controllers: [widget] }, nowMs, 0)
    expect(idle.sent).toEqual([])
  })
})

describe('a page of what is due', () => {
  const many = (count: number, atMs: (i: number) => number): DueTimer[] =>
    Array.from({ length: count }, (_, i) => dueAt(`w${i}`, atMs(i)))
  it.each([
    { what: 'that is not full is the last', due: many(999, (i) => i), count: 999, nextMs: undefined },
    { what: 'leaves its last millisecond to the next', due: many(1_000, (i) => i >> 1), count: 998, nextMs: 499 },
    { what: 'of one millisecond leaves the rest of that late', due: many(1_000, () => 7), count: 1_000, nextMs: 8 },
    { what: 'with one that is earlier', due: many(1_000, (i) => (i === 0 ? 6 : 7)), count: 1, nextMs: 7 },
  ])('$what', async ({ due, count, nextMs }) => {
    const { options } = world({ due })
    const page = await listDue(options, widget, nowMs)
    expect([page.timers.length, page.nextMs]).toEqual([count, nextMs])
  })

  it('begins where it is told to', async () => {
    const { options, asked } = world({})
    await listDue(options, widget, nowMs, 5)
    expect(asked).toEqual([[widgetKind, nowMs, 1_000, 5]])
  })
})

describe('sweepWheel', () => {
  it('wakes those whose slot was passed, and says how many', async () => {
    const { options, asked, sent } = world({ onWheel: (from) => [`w${from}`, 'v'] })
    const never = { ...widget, name: 'never', resyncMs: 0 }
    expect(await sweepWheel({ ...options, controllers: [never, widget] }, 2_000, 3_000)).toBe(2)
    expect(asked).toEqual([[widgetKind, 2, 3]])
    const resync = {
      origin: 'resync',
      dedupId: 'resync:2000',
      lane: 'background',
      reason: 'resync',
      notBeforeMs: 2_000,
    }
    expect(sent).toEqual([
      [
        'widget',
        [
          { ...resync, key: keyOf('w2') },
          { ...resync, key: keyOf('v') },
        ],
      ],
    ])
  })

  it('goes round with a period of a millisecond, too', async () => {
    const { options, asked } = world({})
    await sweepWheel({ ...options, controllers: [{ ...widget, resyncMs: 1 }] }, 2_000, 3_000)
    expect(asked).toEqual([[widgetKind, 0, 3_600]])
  })
})

it('wakeSlots wakes every object of each controller on these slots, and says how many', async () => {
  const { options, sent } = world({ onWheel: (from, to) => [`w${from}`, `w${to}`] })
  const gadget = { ...widget, name: 'gadget' }
  const id = { dedupId: 'all:7', resourceVersion: '7' }
  expect(await wakeSlots({ ...options, controllers: [widget, gadget] }, { from: 3, to: 9 }, id)).toBe(4)
  const wakeUp = { ...id, origin: 'change', lane: 'background', reason: 'all objects are looked at' }
  const both = ['w3', 'w9'].map((name) => ({ ...wakeUp, key: keyOf(name) }))
  expect(sent).toEqual([
    ['widget', both],
    ['gadget', both],
  ])
})

it('noteSlots has the objects of all kinds noted, twenty at once', async () => {
  const names = Array.from({ length: 30 }, (_, i) => `w${i}`)
  const { options, asked } = world({ onWheel: () => names })
  const noted: string[] = []
  let underWay = 0
  let most = 0
  const noteStored = async ({ name }: { readonly name: string }): Promise<void> => {
    most = Math.max(most, ++underWay)
    await Promise.resolve()
    underWay--
    noted.push(name)
  }
  const kinds = [widgetKind, { group: '', kind: 'ConfigMap' }]
  expect(await noteSlots({ index: options.index, noteStored, logger }, kinds, { from: 3, to: 9 })).toBe(60)
  expect(asked).toEqual(kinds.map((kind) => [kind, 3, 9]))
  expect(noted.toSorted()).toEqual([...names, ...names].toSorted())
  expect(most).toBe(20)
})

describe('noteSlots, where one object fails,', () => {
  const noteAll = async (error: Error): Promise<readonly string[]> => {
    told.length = 0
    const { options } = world({ onWheel: () => ['a', 'b', 'c'] })
    const noted: string[] = []
    const noteStored = async ({ name }: { readonly name: string }): Promise<void> => {
      if (name === 'b') throw error
      noted.push(name)
    }
    expect(await noteSlots({ index: options.index, noteStored, logger }, [widgetKind], { from: 3, to: 9 })).toBe(3)
    return noted
  }

  it('passes it over, and says so', async () => {
    expect(await noteAll(new OperatingError('INTERNAL', 'the item is too large'))).toEqual(['a', 'c'])
    expect(told).toEqual([{ ...keyOf('b'), error: 'OperatingError: the item is too large' }])
  })

  it.each(['THROTTLED', 'UNAVAILABLE', 'WRITE_UNKNOWN'] as const)(
    'fails with what passes by itself: %s',
    async (code) => {
      await expect(noteAll(new OperatingError(code, 'not now'))).rejects.toThrow('not now')
      expect(told).toEqual([])
    },
  )
})
