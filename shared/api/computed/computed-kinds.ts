import type { StructuralSchema } from '../../model/schema/structural-schema.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import { unstoredKind, type UnstoredKind } from '../unstored-kind.ts'

/**
 * What a control plane knows of its own work, as kinds that can be read and not written. Nothing of them is stored, so
 * they cannot be watched. The entry of an object without a namespace is in `default`, as its events are.
 */
const group = 'setpoint.dev'

const about: StructuralSchema = {
  type: 'object',
  description: 'The object that it is about.',
  properties: {
    group: text('Empty for the core group.'),
    kind: text(),
    namespace: text('Left out if the object has none.'),
    name: text(),
  },
}

const controller = text('The controller that runs the object.')

export const queuedKeyKind = computedKind('QueuedKey', {
  description:
    'An object that runs, or that stands in the queue of its controller. Served on one machine: SQS does not name what is in its queues.',
  namespaced: true,
  fields: {
    controller,
    object: about,
    state: {
      ...text(
        'running; ready, which is to run next; held, which waits for a short time in the queue; or delayed, which is ready later.',
      ),
      enum: ['running', 'ready', 'held', 'delayed'],
    },
    since: time('Since when it is running or ready.'),
    until: time('Until when it is held or delayed.'),
    lane: { ...text('Urgent keys go ahead of background keys.'), enum: ['urgent', 'background'] },
    reason: text('What woke it.'),
  },
})

export const queueKind = computedKind('Queue', {
  description: 'A queue of wake-ups, with its length.',
  fields: {
    controllers: { ...strings('Whose wake-ups are in it: controllers, and loops of the engine.') },
    waiting: count('How many could be handed out now. On AWS it is about how many messages the queue has.'),
    oldestSeconds: count('For how long the one that waits longest has waited. On one machine only.'),
  },
})

export const timerKind = computedKind('Timer', {
  description: 'The timer of an object, which runs the object at the latest when it is due.',
  namespaced: true,
  fields: {
    controller,
    object: about,
    dueTime: time('When the object runs at the latest.'),
    waiting: text('What the object waits for, as status.reconcile of the object says it, or Change.'),
    error: text('The message of the last failure, if the object waits after one.'),
  },
})

export const budgetKind = computedKind('Budget', {
  description: 'What bounds runs, retries, or calls of a far side.',
  fields: {
    controller: text('The controller that it bounds; left out if it bounds all.'),
    bounds: {
      ...text(
        'Retries of all controllers together, Concurrency of runs, Runs of a controller, RunsPerObject, or Calls of a far side by one account.',
      ),
      enum: ['Retries', 'Concurrency', 'Runs', 'RunsPerObject', 'Calls'],
    },
    perSecond: number('So many a second on the average. Of Calls it is what the far side allows now.'),
    burst: number('So many at once.'),
    max: count('Of Concurrency: so many at a time. Of RunsPerObject: so many within the time.'),
    withinSeconds: number('Of RunsPerObject: the time.'),
    account: text('Of Calls: a digest of the name of the account.'),
    left: number('What is left of it in this process. Below zero, so many wait.'),
    closedUntil: time('Of Calls: the far side has asked for no calls before this time.'),
    message: text('What cannot be told here, and why.'),
  },
})

export const apiServiceKind = unstoredKind('apiregistration.k8s.io', 'APIService', {
  description: 'A version of a group that is served. None of them is served by others.',
  spec: {
    type: 'object',
    properties: {
      group: text('Empty for the core group.'),
      version: text(),
      groupPriorityMinimum: count('The higher, the sooner clients take the group.'),
      versionPriority: count('The higher, the sooner clients take the version.'),
    },
  },
  status: { type: 'object', properties: { conditions: { type: 'array', items: { type: 'object' } } } },
})

/** All of them; a control plane serves those that it can tell. */
export const computedKinds: readonly ServedKind[] = [queuedKeyKind, queueKind, timerKind, budgetKind, apiServiceKind]

/** Whether objects of the kind are computed when somebody reads them. */
export function isComputed(kind: ServedKind): boolean {
  return computedKinds.includes(kind)
}

interface Described extends Pick<UnstoredKind, 'description' | 'namespaced'> {
  readonly fields: Readonly<Record<string, StructuralSchema>>
}

function computedKind(kind: string, { fields, ...described }: Described): ServedKind {
  const status: StructuralSchema = { type: 'object', description: 'What is so now.', properties: fields }
  const selectableFields = fields['controller'] === undefined ? [] : ['status.controller']
  return unstoredKind(group, kind, { ...described, status, selectableFields })
}

function text(description?: string): StructuralSchema {
  return { type: 'string', ...(description === undefined ? {} : { description }) }
}

function time(description: string): StructuralSchema {
  return { type: 'string', format: 'date-time', description }
}

function number(description: string): StructuralSchema {
  return { type: 'number', description }
}

function count(description: string): StructuralSchema {
  return { type: 'integer', format: 'int64', description }
}

function strings(description: string): StructuralSchema {
  return { type: 'array', items: { type: 'string' }, description }
}
