import type { ApiObject } from '../../model/object.ts'
import { touches, wakesItself } from '../../model/stored-object.ts'
import type { Change } from '../../ports/change-feed.ts'
import { changeText } from '../state/change-text.ts'

/** Why a change wakes somebody, in words for people: who did what. No run ever sees them. */

/** Of the object itself: `changed by kubectl-edit (spec.size)`, or which parts were touched. */
export function ownReason({ touched, stored }: Change): string {
  const { change } = stored.engine
  if (change !== undefined && touches(touched, 'spec', 'delete')) return changeText(change)
  return `${touched.filter((part) => part !== 'fields').join(', ')} changed${by(stored.object)}`
}

export function childReason(change: Change): string {
  return `child ${whatHappened(change)}`
}

export function referenceReason(change: Change): string {
  return `${whatHappened(change)}, and is referred to`
}

export const newReferenceReason = 'its status refers to more than before'

export function mapReason(change: Change): string {
  return `${whatHappened(change)}, and maps here`
}

/** `ConfigMap default/settings changed by kubectl-edit`. A status is its controller's, whoever wrote the rest. */
function whatHappened({ type, touched, stored: { object } }: Change): string {
  const { kind, metadata } = object
  const name = `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`
  if (type === 'removed') return `${name} was removed`
  const isStatusAlone = touches(touched, 'status') && !wakesItself(touched)
  return isStatusAlone ? `status of ${name} changed` : `${name} changed${by(object)}`
}

/** The last writer, if the object's fields are tracked and they tell it: their times are whole seconds. */
function by({ metadata: { managedFields = [] } }: ApiObject): string {
  let last: { readonly manager: string; readonly time: string } | undefined
  let isTold = false
  for (const { manager, time = '' } of managedFields) {
    if (last !== undefined && time < last.time) continue
    isTold = last === undefined || time > last.time || manager === last.manager
    last = { manager, time }
  }
  return last === undefined || !isTold ? '' : ` by ${last.manager}`
}
