import { equal, isObject, textOf, type Json } from '../model/json.ts'
import type { ApiObject } from '../model/object.ts'
import { fieldRequired, invalid, type FieldError } from '../model/schema/field-error.ts'
import type { ServedKind } from '../model/served-kind.ts'
import { parseTimestamp } from '../model/time.ts'
import { checkQualifiedName } from '../model/metadata.ts'

/**
 * What Events must hold. One that comes by events.k8s.io is held to more than one of the core group. Errors name the
 * fields as the core group does. Source: kubernetes, `ValidateEventCreate` and `ValidateEventUpdate`.
 */
export function checkEvent(
  next: ApiObject,
  live: ApiObject | undefined,
  { askedAs }: Pick<ServedKind, 'askedAs'>,
): readonly FieldError[] {
  const isNew = askedAs !== undefined
  const errors = isZero(next['eventTime']) ? checkPlace(next) : checkTimed(next, isNew)
  if (!isNew) return errors
  return [...errors, ...(live === undefined ? checkNew(next) : checkUpdate(next, live))]
}

function checkPlace({ metadata, ...event }: ApiObject): readonly FieldError[] {
  const { namespace = '' } = metadata
  const about = namespaceOf(event['involvedObject'])
  return namespace === about || (about === '' && namespace === 'default') ? [] : [elsewhere(about)]
}

function checkTimed({ metadata, ...event }: ApiObject, isNew: boolean): readonly FieldError[] {
  const about = namespaceOf(event['involvedObject'])
  const isPlaced = about !== '' || metadata.namespace === 'default' || metadata.namespace === 'kube-system'
  const reporter = isNew ? 'reportingController' : 'reportingComponent'
  const controller = textOf(event['reportingComponent'])
  return [
    ...(isPlaced ? [] : [elsewhere(about)]),
    ...(controller === '' ? [fieldRequired(reporter)] : []),
    ...checkQualifiedName(reporter, controller),
    ...['reportingInstance', 'action', 'reason'].flatMap((field) => checkLength(field, event[field], 128)),
    ...(isLong(event['message'], 1_024) ? [atMost('message', 1_024)] : []),
  ]
}

function checkLength(field: string, value: Json | undefined, max: number): readonly FieldError[] {
  if (isZero(value)) return [fieldRequired(field)]
  return isLong(value, max) ? [atMost(field, max)] : []
}

function checkNew(event: ApiObject): readonly FieldError[] {
  const { type = '' } = event
  return [
    ...checkSeries(event),
    ...(isZero(event['eventTime']) ? [fieldRequired('eventTime')] : []),
    ...(type === 'Normal' || type === 'Warning' ? [] : [invalid('type', '', `has invalid value: ${textOf(type)}`)]),
    ...['firstTimestamp', 'lastTimestamp', 'count', 'source']
      .filter((field) => !isZero(event[field]))
      .map((field) => invalid(field, '', 'needs to be unset')),
  ]
}

function checkUpdate(next: ApiObject, live: ApiObject): readonly FieldError[] {
  const moved = immutableFields.filter((field) => !isSame(field, next[field], live[field]))
  return [
    ...(equal(next['series'], live['series']) ? [] : checkSeries(next)),
    ...moved.map((field) =>
      invalid(field === 'reportingComponent' ? 'reportingController' : field, next[field], 'field is immutable'),
    ),
  ]
}

const immutableFields = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingComponent',
  'reportingInstance',
]

function checkSeries({ series }: ApiObject): readonly FieldError[] {
  if (!isObject(series)) return []
  return [
    ...(Number(series['count'] ?? 0) < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(isZero(series['lastObservedTime']) ? [fieldRequired('series.lastObservedTime')] : []),
  ]
}

/** A program in Go keeps no part of a second of a `metav1.Time`, and writes what is empty or not there alike. */
function isSame(field: string, one: Json | undefined, other: Json | undefined): boolean {
  if (isZero(one) && isZero(other)) return true
  if (field.endsWith('Timestamp')) return secondOf(one) === secondOf(other)
  return equal(withoutZeros(one), withoutZeros(other))
}

function secondOf(time: Json | undefined): number {
  return Math.floor((parseTimestamp(textOf(time)) ?? 0) / 1_000)
}

function withoutZeros(value: Json | undefined): Json | undefined {
  return isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, part]) => !isZero(part))) : value
}

function isZero(value: Json | undefined): boolean {
  if (isObject(value)) return Object.values(value).every(isZero)
  return value === undefined || value === null || value === '' || value === 0
}

function elsewhere(about: string): FieldError {
  return invalid('involvedObject.namespace', about, 'does not match event.namespace')
}

function atMost(field: string, max: number): FieldError {
  return invalid(field, '', `can have at most ${max} characters`)
}

/** In bytes, as Kubernetes counts them. */
function isLong(value: Json | undefined, max: number): boolean {
  return new TextEncoder().encode(textOf(value)).length > max
}

function namespaceOf(reference: Json | undefined): string {
  return isObject(reference) ? textOf(reference['namespace']) : ''
}
