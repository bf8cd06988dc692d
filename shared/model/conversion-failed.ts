import { OperatingError } from './errors.ts'
import { parseApiVersion, type ApiObject } from './object.ts'
import { shorten } from './shorten.ts'

interface Named {
  readonly group: string
  readonly kind: string
}

interface Failure {
  readonly object: ApiObject
  readonly to: string
  readonly why: string
  readonly cause?: unknown
}

/** So much of what a function says as people read. */
const whyLengthMax = 500

/** CONVERSION_FAILED, with the kind, the versions and the object's name. */
export function conversionFailed({ group, kind }: Named, { object, to, why, cause }: Failure): OperatingError {
  const { name } = object.metadata
  const details = { name, group, kind }
  const message = `${subjectOf({ group, kind }, object, to)}: ${shorten(why, whyLengthMax)}`
  return new OperatingError('CONVERSION_FAILED', message, { details, ...(cause === undefined ? {} : { cause }) })
}

/**
 * The same where the release that runs has no functions for these versions, and another one had. No fault of the API,
 * whose alarms would hold up the release that has them; reconcilers try again.
 */
export function functionsLacking({ group, kind }: Named, object: ApiObject, to: string): OperatingError {
  const why = `this release has no functions for that; deploy one that has both versions (olderVersions of defineKind)`
  const message = `${subjectOf({ group, kind }, object, to)}: ${why}`
  const causes = [{ reason: 'FieldValueInvalid', message, field: 'apiVersion' }]
  const answer = { status: 422, reason: 'Invalid' }
  const details = { name: object.metadata.name, group, kind, causes, answer }
  return new OperatingError('CONVERSION_FAILED', message, { details })
}

function subjectOf({ group, kind }: Named, { apiVersion, metadata }: ApiObject, to: string): string {
  const { namespace, name } = metadata
  const from = parseApiVersion(apiVersion).version
  const whose = `${kind}.${group} "${namespace === undefined ? '' : `${namespace}/`}${name}"`
  return `${whose} cannot be converted from ${from} to ${to}`
}
