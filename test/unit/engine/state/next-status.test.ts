import { describe, expect, it } from 'vitest'
import { nextStatus } from '../../../../shared/engine/state/next-status.ts'
import type { RunFacts } from '../../../../shared/engine/state/run-facts.ts'
import { conditionOf } from '../../../../shared/model/conditions.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import type { ApiObject } from '../../../../shared/model/object.ts'
import type { Verdict } from '../../../../shared/reconciler/verdict.ts'

/** The status before × the verdict → the status after. */
const facts: RunFacts = { nowMs: 5_000_000, chance: 0, generation: 1, showsStatus: true }
const failure = { reason: 'R', message: 'm' } as const
const conflict: Verdict = { kind: 'failed', quiet: true, ...failure }
const report = { status: { b: 2 }, conditions: { Fed: { status: 'True', reason: 'Full' } } } as const

function objectWith(status?: JsonObject, metadata: object = {}): ApiObject {
  return {
    apiVersion: 'a/v1',
    kind: 'K',
    metadata: { name: 'n', uid: 'u', generation: 1, ...metadata },
    ...(status && { status }),
  } as unknown as ApiObject
}

/** What the user reads of it, without conditions and what was observed. */
function ownOf({ status: { conditions: _, observedGeneration: __, ...own } = {} }: ApiObject): JsonObject {
  return own
}

describe('nextStatus', () => {
  it.each([
    { what: 'done', verdict: { kind: 'done' } },
    { what: 'again', verdict: { kind: 'again', afterMs: 1 } },
    { what: 'failed', verdict: conflict },
  ] as const)('$what without a status of its own keeps what was said', ({ verdict }) => {
    expect(ownOf(nextStatus(objectWith({ a: 1 }), verdict, facts))).toEqual({ a: 1 })
  })

  it.each([
    { what: 'done', verdict: { kind: 'done', ...report } },
    { what: 'again', verdict: { kind: 'again', afterMs: 1, ...report } },
    { what: 'failed', verdict: { ...conflict, report } },
    { what: 'stopped', verdict: { kind: 'stopped', ...failure, report } },
    { what: 'told to wait', verdict: { kind: 'retryAfter', afterMs: 1, message: 'm', report } },
  ] as const)('$what with a status replaces it, and sets the conditions that it names', ({ verdict }) => {
    const next = nextStatus(objectWith({ a: 1 }), verdict, facts)
    expect(ownOf(next)).toEqual({ b: 2 })
    expect(conditionOf(next, 'Fed')?.status).toBe('True')
  })

  it('leaves fields of the status to another manager that owns them', () => {
    const managedFields = [
      {
        manager: 'other',
        operation: 'Update',
        apiVersion: 'a/v1',
        time: '2026-01-01T00:00:00Z',
        subresource: 'status',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:status': { 'f:a': {} } },
      },
    ]
    const live = objectWith({ a: 1, c: 3 }, { managedFields })
    const reporter = {
      manager: 'me',
      schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    } as const
    const owned = nextStatus(live, { kind: 'done', ...report }, { ...facts, reporter })
    expect(ownOf(owned)).toEqual({ a: 1, b: 2 })
    expect(owned.metadata).toEqual(live.metadata)
    const taken = nextStatus(live, { kind: 'done', status: { a: 5 } }, { ...facts, reporter })
    expect(ownOf(taken)).toEqual({ a: 5 })
    expect(taken.metadata.managedFields ?? []).toEqual([])
    expect(ownOf(nextStatus(live, { kind: 'done', ...report }, facts))).toEqual({ b: 2 })
    const alone = objectWith({ a: 1 })
    expect(nextStatus(alone, { kind: 'done', ...report }, { ...facts, reporter }).metadata).toBe(alone.metadata)
  })

  it('is none where nobody has said anything', () => {
    expect('status' in nextStatus(objectWith(), conflict, facts)).toBe(false)
    expect('status' in nextStatus(objectWith({ conditions: [] }), conflict, facts)).toBe(false)
  })

  it('says the first generation that was observed, and a failure takes no newer word back', () => {
    expect(nextStatus(objectWith(), { kind: 'done' }, facts).status?.['observedGeneration']).toBe(1)
    expect(nextStatus(objectWith({ observedGeneration: 1 }), conflict, facts).status?.['observedGeneration']).toBe(1)
  })

  it('says which request of a run was answered', () => {
    const asked = objectWith(
      { lastHandledReconcileAt: 'old' },
      { annotations: { 'setpoint.dev/reconcile-requested-at': 'new' } },
    )
    expect(nextStatus(asked, conflict, facts).status).toEqual({ lastHandledReconcileAt: 'new' })
    // One that came while the run was under way is for the next.
    expect(nextStatus(asked, conflict, { ...facts, request: 'new' }).status).toEqual({ lastHandledReconcileAt: 'new' })
    expect(nextStatus(asked, conflict, { ...facts, request: 'old' }).status).toEqual({ lastHandledReconcileAt: 'old' })
    expect(nextStatus(asked, conflict, { ...facts, request: undefined }).status).toEqual({
      lastHandledReconcileAt: 'old',
    })
    const first = objectWith({}, { annotations: { 'setpoint.dev/reconcile-requested-at': 'new' } })
    expect(nextStatus(first, conflict, { ...facts, request: undefined }).status).toBeUndefined()
  })

  it.each([
    ['a run that began without it', facts],
    ['a run that knew of none', { ...facts, request: undefined }],
    ['a run that began with it', { ...facts, request: 'old' }],
  ])('says nothing of a request that was taken back, after %s', (_what, known) => {
    expect(nextStatus(objectWith({ lastHandledReconcileAt: 'old' }), conflict, known).status).toBeUndefined()
  })

  const condition = (type: string, reason: string) =>
    ({ type, status: 'True', reason, message: '', lastTransitionTime: 't' }) as const

  it('takes HotLoop away with the first run that is no probe', () => {
    const live = objectWith({ conditions: [condition('HotLoop', 'StatusFlaps')] })
    expect(conditionOf(nextStatus(live, { kind: 'done' }, facts), 'HotLoop')).toBeUndefined()
    expect(conditionOf(nextStatus(live, { kind: 'done' }, { ...facts, probeAtMs: 9 }), 'HotLoop')).toBeDefined()
  })

  it.each([
    ['Pending', 'Requeued'],
    ['Reconciled', 'Reconciled'],
    ['Booting', 'Booting'],
  ])('again after %s: Ready is %s', (before, after) => {
    const live = objectWith({ conditions: [condition('Ready', before)] })
    expect(conditionOf(nextStatus(live, { kind: 'again', afterMs: 1 }, facts), 'Ready')?.reason).toBe(after)
  })
})
