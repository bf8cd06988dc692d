import type { Facts, Relatives } from '../../../../../shared/engine/insight/explain/facts.ts'
import type { ObjectSituation } from '../../../../../shared/engine/insight/explain/situation.ts'
import type { EngineState } from '../../../../../shared/model/engine-state.ts'
import type { ObjectKey } from '../../../../../shared/model/object-key.ts'
import type { ApiObject, ObjectMeta } from '../../../../../shared/model/object.ts'
import type { Controller } from '../../../../../shared/reconciler/controller.ts'
import { labelsChanged } from '../../../../../shared/reconciler/predicates.ts'

export const nowMs = Date.parse('2026-01-01T12:00:00Z')

export interface Given {
  readonly metadata?: Partial<ObjectMeta>
  readonly status?: object
  /** What the object has beside metadata and status. */
  readonly content?: object
  readonly engine?: EngineState
  readonly controller?: Partial<Controller>
  readonly facts?: Partial<Facts>
}

const none: Relatives = { shown: [], more: 0 }

/** Of a widget that is as desired, unless something else is given. */
export function factsOf({ metadata, status, content, engine = {}, controller, facts }: Given = {}): Facts {
  const ready = { type: 'Ready', status: 'True', reason: 'Reconciled', message: '', lastTransitionTime: hoursAgo(1) }
  const object = {
    apiVersion: 'test.setpoint.dev/v1',
    kind: 'Widget',
    metadata: {
      name: 'w',
      namespace: 'default',
      uid: 'uid-w',
      resourceVersion: '7',
      generation: 2,
      creationTimestamp: hoursAgo(3),
      finalizers: ['test/ours'],
      ...metadata,
    },
    spec: { size: 1 },
    ...content,
    status: { observedGeneration: 2, conditions: [ready], ...status },
  } as unknown as ApiObject
  const given = {
    name: 'widget',
    finalizer: 'test/ours',
    reportsStatus: true,
    timeoutMs: 60_000,
    resyncMs: 0,
    owns: [],
    when: () => true,
  }
  return {
    kind: { group: 'test.setpoint.dev', kind: 'Widget', plural: 'widgets', hasStatus: true },
    stored: { object, engine },
    nowMs,
    controller: { ...given, ...controller },
    owners: [],
    children: none,
    references: none,
    referrers: none,
    events: [],
    ...facts,
  } as unknown as Facts
}

export function hoursAgo(hours: number): string {
  return new Date(nowMs - hours * 3_600_000).toISOString()
}

/** A wait of half a minute for the object's generation. */
export function waiting(kind: string, more: object = {}): EngineState {
  return { wait: { kind, generation: 2, atMs: nowMs + 30_000, ...more } } as unknown as EngineState
}

export function keyOfConfig(name: string): ObjectKey {
  return { group: '', kind: 'ConfigMap', namespace: 'default', name }
}

export const failure = { failure: { attempt: 3, error: 'no luck' } }
export const deleted = { deletionTimestamp: hoursAgo(2) }
export const paused = { annotations: { 'setpoint.dev/paused': 'true' } }
const notReady = { type: 'Ready', status: 'False', reason: 'Waiting', message: 'for parts', lastTransitionTime: '' }
const circle = { type: 'HotLoop', status: 'True', reason: 'SpecChanges', message: 'spec.size', lastTransitionTime: '' }

/** An object in each situation. */
export const situations: Readonly<Record<ObjectSituation, Given>> = {
  unattended: { facts: { controller: undefined } },
  paused: { metadata: paused },
  held: { metadata: { ...deleted, finalizers: ['x/one', 'y/two'] } },
  stopped: { engine: waiting('Stopped', failure) },
  failing: { engine: waiting('Backoff', failure) },
  toldToWait: { engine: waiting('RetryAfter', failure) },
  slowedDown: { engine: waiting('RateLimited') },
  inCircles: { engine: waiting('HotLoop'), status: { conditions: [circle] } },
  deleting: { metadata: deleted, engine: waiting('Requeue') },
  changed: { metadata: { generation: 3 } },
  notReady: { status: { conditions: [notReady] } },
  asDesired: {},
}

/** An edit of the spec by which nobody is woken. */
export const letPass: Given = { ...situations.changed, controller: { when: labelsChanged } }
