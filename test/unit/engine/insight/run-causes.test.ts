import { expect, it } from 'vitest'
import { causesOf, isUnprompted } from '../../../../shared/engine/insight/run-causes.ts'
import type { Wait } from '../../../../shared/model/engine-state.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import type { Origin, WakeUp } from '../../../../shared/ports/work-queue.ts'

const key = { group: 'example.com', kind: 'Widget', namespace: 'default', name: 'w' }
const wakeUp = (origin: Origin): WakeUp => ({ key, lane: 'urgent', origin, reason: `by ${origin}` }) as WakeUp

/** Of the second generation. */
function storedWith(wait: Wait | undefined): StoredObject {
  return { object: { metadata: { generation: 2 } }, engine: wait === undefined ? {} : { wait } } as StoredObject
}

const requeue = (generation: number): Wait => ({ kind: 'Requeue', generation, atMs: 1 })
const resync = (generation: number): Wait => ({ kind: 'Resync', generation, atMs: 1 })
const over = 'its wait was over'

interface Row {
  readonly what: string
  readonly isRepeated?: boolean
  readonly origins: readonly Origin[]
  readonly wait?: Wait
  readonly causes: readonly string[]
  readonly unprompted: boolean
}

it.each<Row>([
  { what: 'a change', origins: ['change'], causes: ['by change'], unprompted: false },
  {
    what: 'a change and a resync',
    origins: ['change', 'resync'],
    wait: requeue(2),
    causes: ['by change', 'by resync'],
    unprompted: false,
  },
  { what: 'a timer', origins: ['timer'], wait: requeue(2), causes: ['by timer'], unprompted: true },
  {
    what: 'a change that is back from its hold',
    isRepeated: true,
    origins: ['change'],
    wait: requeue(2),
    causes: [over],
    unprompted: true,
  },
  {
    what: 'the same for a short resync',
    isRepeated: true,
    origins: ['change'],
    wait: resync(2),
    causes: [over],
    unprompted: true,
  },
  {
    what: 'a new object, whose first turn was cut off',
    isRepeated: true,
    origins: ['change'],
    causes: ['by change'],
    unprompted: false,
  },
  {
    what: 'a change whose first turn was cut off',
    isRepeated: true,
    origins: ['change'],
    wait: resync(1),
    causes: ['by change'],
    unprompted: false,
  },
  {
    what: 'a timer whose first turn was cut off',
    isRepeated: true,
    origins: ['timer'],
    causes: ['by timer'],
    unprompted: true,
  },
])('$what', ({ isRepeated = false, origins, wait, causes, unprompted }) => {
  const turn = { isRepeated, wakeUps: origins.map(wakeUp) }
  expect(causesOf(turn, storedWith(wait))).toEqual(causes)
  expect(isUnprompted(turn, storedWith(wait))).toBe(unprompted)
})
