import { stringify } from 'yaml'
import { isCondition } from '../../../model/conditions.ts'
import { isObserved } from '../../../model/convergence.ts'
import { isObject, type Json, type JsonObject } from '../../../model/json.ts'
import { isDeleting, type ApiObject } from '../../../model/object.ts'
import { canonicalStart } from '../../../model/schema/canonical-json.ts'
import { shorten } from '../../../model/shorten.ts'
import { changeText } from '../../state/change-text.ts'
import { beginningOf } from './beginning.ts'
import { findFieldDifferences, type Difference } from './difference.ts'
import type { Facts } from './facts.ts'
import { objectSituationOf } from './situation.ts'
import { ago, agoText, atMost, formatKey, relativeLines, section } from './words.ts'
import { reportedPart } from '../../../model/status-fields.ts'

/** The questions about what is: desired, observed, and where the two differ. */

export function explainDesired(facts: Facts): readonly string[] {
  const { stored, owners, references, referrers, nowMs } = facts
  const { object, engine } = stored
  const { generation, deletionTimestamp } = object.metadata
  const change = engine.change === undefined ? '' : `, ${changeText(engine.change)} ${ago(engine.change.atMs, nowMs)}`
  return [
    `Generation ${generation}${change}.`,
    ...(isDeleting(object) ? [`Deletion was requested ${agoText(deletionTimestamp, nowMs) ?? ''}.`] : []),
    ...content(object),
    ...section('Its fields are managed by:', managers(object, nowMs)),
    ...section('It belongs to:', relativeLines({ shown: owners, more: 0 })),
    ...section('It refers to:', relativeLines(references)),
    ...section('It is referred to by:', relativeLines(referrers)),
  ]
}

/** The beginning of what the object declares, as YAML; of a secret the names alone. */
function content(object: ApiObject): readonly string[] {
  const { apiVersion, kind, metadata: _, status: __, ...declared } = object
  if (apiVersion !== 'v1' || kind !== 'Secret') return yaml(declared)
  const names = isObject(object['data']) ? Object.keys(object['data']) : []
  return [`data: ${shorten(names.join(', '), shownLength)} (values are not shown)`]
}

function yaml(value: JsonObject): readonly string[] {
  return Object.keys(value).length === 0 ? [] : stringify(beginningOf(value)).trimEnd().split('\n')
}

function managers({ metadata: { managedFields = [] } }: ApiObject, nowMs: number): readonly string[] {
  return managedFields.map(({ manager, operation, subresource, time }) => {
    const of = subresource === undefined ? '' : ` of ${subresource}`
    return `${manager}  ${operation}${of}, last ${agoText(time, nowMs) ?? 'at an unknown time'}`
  })
}

export function explainObserved({ stored: { object }, kind, children, controller }: Facts): readonly string[] {
  const status = reportedPart(object.status ?? {})
  const makes = (controller?.owns ?? []).map((owned) => owned.kind.kind)
  return [
    ...(kind.hasStatus ? [formatObserved(object.status?.['observedGeneration'])] : ['The kind keeps no status.']),
    ...(Object.keys(status).length === 0 ? [] : yaml({ status })),
    ...section('Its children:', relativeLines(children)),
    ...(makes.length > 0 && children.shown.length === 0 ? [`It has no children yet, of ${makes.join(', ')}.`] : []),
    ...(controller === undefined
      ? []
      : ['The control plane cannot see outside; the reconciler reports in the status what it finds there.']),
  ]
}

function formatObserved(observedGeneration: unknown): string {
  return observedGeneration === undefined
    ? 'No run has succeeded yet.'
    : `Generation ${String(observedGeneration)} is the newest that a run has observed.`
}

const differencesMax = 30

export function explainDifference(facts: Facts): readonly string[] {
  const { kind, children, references } = facts
  const { object } = facts.stored
  // Of an object that is as desired, a field of the same name means something else.
  const situation = objectSituationOf(facts)
  const isDesired =
    situation === 'asDesired' || (situation === 'paused' && isObserved(object) && isCondition(object, 'Ready'))
  const spec = isDesired || !isObject(object.spec) ? {} : object.spec
  const fields = findFieldDifferences(spec, object.status ?? {})
  const lines = [
    ...(kind.hasStatus && !isObserved(object) ? [formatUnobserved(object)] : []),
    ...fields.map(formatDifference),
    ...references.shown
      .filter((one) => one.object === undefined)
      .map(
        ({ key, isDamaged }) => `${formatKey(key)}: is referred to and ${isDamaged ? 'is damaged' : 'does not exist'}.`,
      ),
    ...(isDeleting(object)
      ? [`The object still exists${children.shown.length > 0 ? ', and so do children of it' : ''}.`]
      : []),
  ]
  return lines.length > 0 ? atMost(differencesMax, lines) : ['None that the control plane can see.']
}

function formatDifference({ path, spec, status }: Difference): string {
  return `${shorten(path, shownLength)}: ${jsonStart(spec)} in spec, ${jsonStart(status)} in status.`
}

const shownLength = 400

function jsonStart(value: Json): string {
  return shorten(canonicalStart(value, shownLength + 1), shownLength)
}

function formatUnobserved({ metadata: { generation } }: ApiObject): string {
  return `Generation ${generation} is not observed yet: its change may be done in part, or not at all.`
}
