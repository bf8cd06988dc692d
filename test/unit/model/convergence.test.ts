import { expect, it } from 'vitest'
import { isConverged, isObserved } from '../../../shared/model/convergence.ts'
import type { EngineState, Wait } from '../../../shared/model/engine-state.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import { storedWidget } from '../../support/stored-object.ts'

const ready = { observedGeneration: 2, conditions: [{ type: 'Ready', status: 'True' }] }
const waiting = (kind: Wait['kind']): EngineState => ({
  wait: { kind, generation: 2, atMs: 5, failure: { attempt: 1, error: 'no' } },
})

it('an object that was never looked at is observed at no generation', () => {
  const { object } = storedWidget('w', { generation: 1 })
  expect([isObserved(object), isObserved({ ...object, status: { observedGeneration: 1 } })]).toEqual([false, true])
})

it.each<[string, JsonObject | undefined, EngineState, string | undefined, boolean, boolean]>([
  ['was never looked at', undefined, {}, undefined, false, false],
  ['was observed and is Ready', ready, {}, undefined, true, true],
  ['was observed at a later generation', { ...ready, observedGeneration: 3 }, {}, undefined, true, true],
  ['has changed since', { ...ready, observedGeneration: 1 }, {}, undefined, false, false],
  ['is not Ready', { ...ready, conditions: [{ type: 'Ready', status: 'False' }] }, {}, undefined, true, false],
  ['has no conditions', { observedGeneration: 2 }, {}, undefined, true, false],
  ['is being deleted', ready, {}, '2026-01-01T00:00:00Z', true, false],
  ['waits for its resync', ready, waiting('Resync'), undefined, true, true],
  ['waits for another look', ready, waiting('Requeue'), undefined, true, true],
  ['was put off by a limit', ready, waiting('RateLimited'), undefined, true, true],
  ['has failed since', ready, waiting('Backoff'), undefined, true, false],
  ['is to wait after a failure', ready, waiting('RetryAfter'), undefined, true, false],
  ['has stopped', ready, waiting('Stopped'), undefined, true, false],
])('an object that %s', (...row) => {
  const [, status, engine, deletionTimestamp, observed, converged] = row
  const { object } = storedWidget('w', { generation: 2, ...(deletionTimestamp && { deletionTimestamp }) })
  const shown = { ...object, ...(status && { status }) }
  expect([isObserved(shown), isConverged({ object: shown, engine })]).toEqual([observed, converged])
})
