import { describe, expect, it } from 'vitest'
import { admit, type Admission } from '../../../../shared/engine/state/admission.ts'
import type { EngineState } from '../../../../shared/model/engine-state.ts'
import type { ServedKind } from '../../../../shared/model/served-kind.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import type { WakeUp } from '../../../../shared/ports/work-queue.ts'

/** State × wake-ups → what becomes of the turn. */
const nowMs = 1_000_000

interface Row {
  readonly what: string
  readonly metadata?: object
  readonly engine?: EngineState
  readonly wakeUps?: readonly Partial<WakeUp>[]
  readonly receiveCount?: number
  readonly isGone?: true
  readonly isUnknownKind?: true
  readonly onRemoved?: 'reconcile'
  readonly faults?: string
  readonly nowMs?: number
  readonly deletionPolicy?: 'Delete' | 'Retain'
  readonly admission: Admission
}

const change = { origin: 'change' } as const
const timer = { origin: 'timer' } as const
const resync = { origin: 'resync' } as const
const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' }
const run: Admission = { kind: 'run' }
const faults = 'spec.heading: Required value'
const refused: Admission = { kind: 'refuse', message: faults }
const ours = { ...deleted, finalizers: ['a/ours'] }
const keeping = { annotations: { 'setpoint.dev/deletion-policy': 'Retain' } }

const requeue = (atMs: number, generation = 1): EngineState => ({ wait: { kind: 'Requeue', generation, atMs } })
const held = (untilMs: number): EngineState => ({ ...requeue(nowMs + 30_000), hold: { handle: 'h', untilMs } })

const rows: readonly Row[] = [
  { what: 'an object that is gone', isGone: true, admission: { kind: 'drop' } },
  { what: 'an unknown kind, first look', isUnknownKind: true, admission: { kind: 'retry', afterMs: 2_000 } },
  {
    what: 'an unknown kind, last look but one',
    isUnknownKind: true,
    receiveCount: 4,
    admission: { kind: 'retry', afterMs: 2_000 },
  },
  { what: 'an unknown kind, last look', isUnknownKind: true, receiveCount: 5, admission: { kind: 'drop' } },

  { what: 'a change', admission: run },
  { what: 'a change during a wait', engine: requeue(nowMs + 30_000), admission: run },
  { what: 'a change, on a clock that has just begun', nowMs: 0, admission: run },
  { what: 'a resync', wakeUps: [resync], admission: run },
  {
    what: 'a debounced change',
    wakeUps: [{ ...change, notBeforeMs: nowMs + 5_000 }],
    admission: { kind: 'hide', untilMs: nowMs + 5_000 },
  },
  {
    what: 'a change debounced beyond a hidden message',
    wakeUps: [{ ...change, notBeforeMs: nowMs + 60_001 }],
    admission: { kind: 'sleep', atMs: nowMs + 60_001 },
  },
  {
    what: 'a debounced change beside one that is not',
    wakeUps: [{ ...change, notBeforeMs: nowMs + 5_000 }, change],
    admission: run,
  },
  {
    what: 'a paced resync of an object that was observed',
    wakeUps: [{ ...resync, notBeforeMs: nowMs + 10 }],
    admission: { kind: 'hide', untilMs: nowMs + 10 },
  },
  {
    what: 'a paced resync ahead of a change',
    engine: { change: { verb: 'changed', atMs: 0, by: 'me' } },
    wakeUps: [{ ...resync, notBeforeMs: nowMs + 10 }],
    admission: run,
  },

  { what: 'a timer that is due', engine: requeue(nowMs), wakeUps: [timer], admission: run },
  {
    what: 'a timer that came early',
    engine: requeue(nowMs + 60_000),
    wakeUps: [timer],
    admission: { kind: 'hide', untilMs: nowMs + 60_000 },
  },
  {
    what: 'a timer that came a moment early',
    engine: requeue(nowMs + 1),
    wakeUps: [timer],
    admission: { kind: 'hide', untilMs: nowMs + 1 },
  },
  {
    what: 'a timer that came far too early',
    engine: requeue(nowMs + 60_001),
    wakeUps: [timer],
    admission: { kind: 'sleep', atMs: nowMs + 60_001 },
  },
  { what: 'a timer of an object without one', wakeUps: [timer], admission: { kind: 'sleep', atMs: Infinity } },
  {
    what: 'a timer of an object that has changed since',
    engine: requeue(nowMs + 5_000, 0),
    wakeUps: [timer],
    admission: { kind: 'drop' },
  },
  {
    what: 'a wish that is due before the wait',
    engine: { ...requeue(nowMs + 5_000), wakeAtMs: nowMs },
    wakeUps: [timer],
    admission: run,
  },
  {
    what: 'a timer that is back ahead of its hold: it was woken',
    engine: held(nowMs + 1),
    wakeUps: [timer],
    receiveCount: 2,
    admission: run,
  },
  {
    what: 'a timer that comes for the first time ahead of a hold: that one could not be hidden',
    engine: held(nowMs + 30_000),
    wakeUps: [timer],
    admission: { kind: 'hide', untilMs: nowMs + 30_000 },
  },
  {
    what: 'a resync of an object with its own period that comes for the first time ahead of a hold',
    metadata: { annotations: { 'setpoint.dev/resync': '10m' } },
    engine: held(nowMs + 30_000),
    wakeUps: [resync],
    admission: { kind: 'hide', untilMs: nowMs + 30_000 },
  },
  { what: 'a change ahead of a hold', engine: held(nowMs + 30_000), admission: run },
  {
    what: 'a timer whose hold is over',
    engine: held(nowMs),
    wakeUps: [timer],
    receiveCount: 2,
    admission: { kind: 'hide', untilMs: nowMs + 30_000 },
  },
  {
    what: 'a resync of an object whose own period was set by a clock that was ahead',
    metadata: { annotations: { 'setpoint.dev/resync': '10m' } },
    engine: { wait: { kind: 'Resync', generation: 1, atMs: nowMs + 600_001 } },
    wakeUps: [resync],
    admission: run,
  },
  ...(['Requeue', 'Expectation', 'Stopped', 'Backoff'] as const).map((kind) => ({
    what: `a resync of an object with its own period whose ${kind} was set by a clock that was ahead`,
    metadata: { annotations: { 'setpoint.dev/resync': '10m' } },
    engine: { wait: { kind, generation: 1, atMs: nowMs + 3_600_001, failure: { attempt: 1, error: 'e' } } },
    wakeUps: [resync],
    admission: run,
  })),
  ...(['RateLimited', 'HotLoop', 'RetryAfter'] as const).map((kind) => ({
    what: `a resync of an object with its own period that is ${kind} for long`,
    metadata: { annotations: { 'setpoint.dev/resync': '10m' } },
    engine: { wait: { kind, generation: 1, atMs: nowMs + 3_600_001, failure: { attempt: 1, error: 'e' } } },
    wakeUps: [resync],
    admission: { kind: 'sleep', atMs: nowMs + 3_600_001 } as const,
  })),
  {
    what: 'a resync of an object that wants none',
    metadata: { annotations: { 'setpoint.dev/resync': '0' } },
    engine: requeue(nowMs + 90_000),
    wakeUps: [resync],
    admission: { kind: 'sleep', atMs: nowMs + 90_000 },
  },
  {
    what: 'a resync of an object with its own period whose backoff is longer',
    metadata: { annotations: { 'setpoint.dev/resync': '10m' } },
    engine: {
      wait: { kind: 'Backoff', generation: 1, atMs: nowMs + 900_000, failure: { attempt: 9, error: 'e' } },
    },
    wakeUps: [resync],
    admission: { kind: 'sleep', atMs: nowMs + 900_000 },
  },
  {
    what: 'a resync of an object whose own period is not over',
    metadata: { annotations: { 'setpoint.dev/resync': '10m' } },
    engine: { wait: { kind: 'Resync', generation: 1, atMs: nowMs + 600_000 } },
    wakeUps: [resync],
    admission: { kind: 'sleep', atMs: nowMs + 600_000 },
  },
  {
    what: 'a timer of an object whose own period was set by a clock that was ahead',
    metadata: { annotations: { 'setpoint.dev/resync': '10m' } },
    engine: { wait: { kind: 'Resync', generation: 1, atMs: nowMs + 600_001 } },
    wakeUps: [timer],
    admission: { kind: 'sleep', atMs: nowMs + 600_001 },
  },
  {
    what: 'a resync of an object with a period of its own',
    metadata: { annotations: { 'setpoint.dev/resync': '10m' } },
    engine: requeue(nowMs + 9_000),
    wakeUps: [resync],
    admission: { kind: 'hide', untilMs: nowMs + 9_000 },
  },

  {
    what: 'a paused object',
    metadata: { annotations: { 'setpoint.dev/paused': 'true' } },
    admission: { kind: 'pause' },
  },
  {
    what: 'a deleted object that others hold',
    metadata: { ...deleted, finalizers: ['x/y'] },
    admission: { kind: 'rest' },
  },
  { what: 'a deleted object that we hold', metadata: { ...deleted, finalizers: ['a/ours'] }, admission: run },
  {
    what: 'a deleted object of a controller that sees removals',
    metadata: deleted,
    onRemoved: 'reconcile',
    admission: run,
  },
  {
    what: 'a paused object that is being deleted',
    metadata: { ...deleted, annotations: { 'setpoint.dev/paused': 'true' } },
    admission: { kind: 'pause' },
  },
  { what: 'an object that does not fit its kind', faults, admission: refused },
  { what: 'a resync of one that does not fit', faults, wakeUps: [resync], admission: refused },
  {
    what: 'a timer of one that does not fit, before its time',
    faults,
    engine: requeue(nowMs + 9_000),
    wakeUps: [timer],
    admission: { kind: 'hide', untilMs: nowMs + 9_000 },
  },
  {
    what: 'a paused object that does not fit',
    faults,
    metadata: { annotations: { 'setpoint.dev/paused': 'true' } },
    admission: { kind: 'pause' },
  },
  {
    what: 'a deleted object that does not fit and was never run',
    faults,
    metadata: deleted,
    admission: { kind: 'rest' },
  },
  { what: 'a deleted object that does not fit and is to be cleaned up', faults, metadata: ours, admission: refused },
  {
    what: 'a deleted object that does not fit, whose annotation keeps what is outside',
    faults,
    metadata: { ...ours, ...keeping },
    deletionPolicy: 'Delete',
    admission: run,
  },
  {
    what: 'a deleted object that does not fit, whose controller keeps what is outside',
    faults,
    metadata: ours,
    deletionPolicy: 'Retain',
    admission: run,
  },
  {
    what: 'an object that does not fit, whose controller would keep what is outside',
    faults,
    deletionPolicy: 'Retain',
    admission: refused,
  },
  {
    what: 'a deleted object that does not fit, of a controller without such policies',
    faults,
    metadata: { ...deleted, ...keeping },
    onRemoved: 'reconcile',
    admission: refused,
  },
  {
    what: 'one that does not fit, after runs without an end',
    faults,
    engine: { memory: { unended: 5 } },
    admission: refused,
  },
  { what: 'one that does not fit and is gone', faults, isGone: true, admission: { kind: 'drop' } },

  { what: 'four runs without an end', engine: { memory: { unended: 4 } }, admission: run },
  { what: 'five runs without an end', engine: { memory: { unended: 5 } }, admission: { kind: 'stall' } },
  {
    what: 'five runs without an end, and a user who has changed it since',
    engine: { memory: { unended: 5 }, wait: { kind: 'RateLimited', generation: 0, atMs: nowMs } },
    admission: { kind: 'run' },
  },
]

describe('admit', () => {
  it.each(rows)('$what: $admission.kind', (row) => {
    const object = { apiVersion: 'a/v1', kind: 'K', metadata: { name: 'n', uid: 'u', generation: 1, ...row.metadata } }
    const stored = row.isGone === true ? undefined : ({ object, engine: row.engine ?? {} } as unknown as StoredObject)
    const admission = admit({
      controller: {
        finalizer: 'a/ours',
        ...(row.onRemoved && { onRemoved: row.onRemoved }),
        ...(row.deletionPolicy && { deletionPolicy: row.deletionPolicy }),
      },
      faults: row.faults,
      kind: row.isUnknownKind === true ? undefined : ({ hasStatus: true } as ServedKind),
      stored,
      turn: { wakeUps: (row.wakeUps ?? [change]) as readonly WakeUp[], receiveCount: row.receiveCount ?? 1 },
      nowMs: row.nowMs ?? nowMs,
    })
    expect(admission).toEqual(row.admission)
  })
})
