import { expect, it } from 'vitest'
import type { EngineState, Failure } from '../../../shared/model/engine-state.ts'
import { present } from '../../../shared/model/present.ts'
import { storedWidget } from '../../support/stored-object.ts'

const failed = (failure: Failure): EngineState => ({ wait: { kind: 'Backoff', generation: 1, atMs: 1_500, failure } })
const nextRunAt = '1970-01-01T00:00:01.500Z'
const change = { verb: 'changed', atMs: 0, by: 'ann', sinceMs: 1, trace: 'x' } as const
const at = '1970-01-01T00:00:00.000Z'

it.each<[string, EngineState, object]>([
  ['a wait', { wait: { kind: 'Resync', generation: 1, atMs: 1_500 } }, { waiting: 'Resync', nextRunAt }],
  ['a failure', failed({ attempt: 2, error: 'no' }), { waiting: 'Backoff', attempt: 2, nextRunAt, lastError: 'no' }],
  [
    'a failure that was told to wait',
    failed({ attempt: 0, error: 'no' }),
    { waiting: 'Backoff', nextRunAt, lastError: 'no' },
  ],
  [
    'the same failure again',
    failed({ attempt: 1, error: 'no', sameErrors: 2 }),
    { waiting: 'Backoff', attempt: 1, nextRunAt, lastError: 'no', sameErrors: 2 },
  ],
  [
    'a stop',
    { wait: { kind: 'Stopped', generation: 1, failure: { attempt: 0, error: 'no' } } },
    { waiting: 'Stopped', lastError: 'no' },
  ],
  [
    'a change that no run has observed',
    { wait: { kind: 'Requeue', generation: 1, atMs: 1_500 }, change },
    { waiting: 'Requeue', nextRunAt, change: { at, by: 'ann', verb: 'changed' } },
  ],
  [
    'the fields of a change',
    { wait: { kind: 'Requeue', generation: 1, atMs: 1_500 }, change: { ...change, fields: ['spec.a'] } },
    { waiting: 'Requeue', nextRunAt, change: { at, by: 'ann', verb: 'changed', fields: ['spec.a'] } },
  ],
  [
    'what is expected, and when things were last as declared',
    { memory: { expectations: { made: 1_500 }, syncedAtMs: 0 } },
    { lastSyncTime: at, expectations: { made: nextRunAt } },
  ],
])('an object shows %s', (_what, engine, reconcile) => {
  const stored = { ...storedWidget('w'), engine }
  expect(present(stored)).toStrictEqual({ ...stored.object, status: { reconcile } })
  const object = { ...stored.object, status: { ready: true } }
  expect(present({ object, engine }).status).toEqual({ ready: true, reconcile })
})

it.each<[EngineState]>([[{}], [{ change }], [{ wakeAtMs: 5, memory: { syncedAtMs: 0, notes: { a: 1 } } }]])(
  'an object at rest is as it is: %j',
  (engine) => {
    const stored = { ...storedWidget('w'), engine }
    expect(present(stored)).toBe(stored.object)
  },
)
