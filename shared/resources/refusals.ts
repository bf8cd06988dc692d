import type { ReviewStatus } from '../model/admission-review.ts'
import { hasCode, OperatingError, type ErrorCode } from '../model/errors.ts'
import type { ApiObject, ObjectMeta } from '../model/object.ts'
import type { ServedKind } from '../model/served-kind.ts'

/** What clients are told when a verb is refused, in Kubernetes' words. */

/** `plural.group`, as messages name a resource; the plural alone in the core group. */
function resourceName(kind: ServedKind): string {
  return kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`
}

export function notFound(kind: ServedKind, name: string): OperatingError {
  return new OperatingError('NOT_FOUND', `${resourceName(kind)} "${name}" not found`, {
    details: { name, group: kind.group, kind: kind.plural },
  })
}

/** Whether it is this object that is not there, and nothing that it names. */
export function saysAbsent(error: unknown, kind: ServedKind, name: string): boolean {
  if (!hasCode(error, 'NOT_FOUND')) return false
  const { details } = error
  return details.name === name && details.kind === kind.plural && details.group === kind.group
}

/** `isLeaving`: the object that is there is being deleted, so that the writer may come again. */
export function alreadyExists(kind: ServedKind, name: string, isLeaving = false): OperatingError {
  const why = `${resourceName(kind)} "${name}" already exists`
  return new OperatingError('ALREADY_EXISTS', isLeaving ? `object is being deleted: ${why}` : why, {
    details: { name, group: kind.group, kind: kind.plural },
  })
}

/** All names that were made for an object are those of others. */
export function noNameLeft({ message, details }: OperatingError): OperatingError {
  const why = `${message}, the server was not able to generate a unique name for the object`
  return new OperatingError('ALREADY_EXISTS', why, { details: { ...details, retryAfterSeconds: 1 } })
}

export function forbiddenFor(kind: ServedKind, name: string, why: string): OperatingError {
  return new OperatingError('FORBIDDEN', `${resourceName(kind)} "${name}" is forbidden: ${why}`, {
    details: { name, group: kind.group, kind: kind.plural },
  })
}

/** What a patch makes of an object, where nobody can decode it. The object is not shown: it may be confidential. */
export function undecodablePatch(why: string): OperatingError {
  const cause = { field: 'patch', reason: 'FieldValueInvalid', message: `Invalid value: ${why}` }
  return new OperatingError('INVALID', ` "" is invalid: patch: ${cause.message}`, { details: { causes: [cause] } })
}

/** What a policy denies, by the reason that it gives. */
export function deniedByPolicy(
  {
    kind: of,
    resource: kind = of,
    object,
    old,
  }: {
    readonly kind: ServedKind
    readonly resource?: ServedKind
    readonly object?: ApiObject
    readonly old?: ApiObject
  },
  [policy, binding]: readonly [string, string],
  { message: why, reason = 'Invalid' }: { readonly message: string; readonly reason?: string },
): OperatingError {
  const name = (object ?? old)?.metadata.name ?? ''
  const message = `ValidatingAdmissionPolicy '${policy}' with binding '${binding}' denied request: ${why}`
  const details = { name, group: kind.group, kind: kind.plural, causes: [{ reason: '', message }] }
  const code = codesOfReasons[reason] ?? 'INVALID'
  return new OperatingError(code, `${resourceName(kind)} "${name}" is forbidden: ${message}`, { details })
}

/** What keeps a policy from changing an object. */
export interface PolicyFailure {
  readonly policy: string
  readonly binding: string
  readonly why: string
}

/** What policies that change objects fail of, by the first of them. */
export function failedPolicies(
  { kind, object }: { readonly kind: ServedKind; readonly object: ApiObject },
  failures: readonly PolicyFailure[],
): OperatingError {
  const messages = failures
    .slice(0, failuresShown)
    .map(({ policy, binding, why }) => `policy '${policy}' with binding '${binding}' denied request: ${why}`)
  const { name } = object.metadata
  const causes = messages.map((message) => ({ reason: '', message }))
  const details = { name, group: kind.group, kind: kind.plural, causes, answer: { status: 403, reason: 'Invalid' } }
  return new OperatingError('FORBIDDEN', messages[0] ?? '', { details })
}

const failuresShown = 20

const codesOfReasons: Readonly<Record<string, ErrorCode>> = {
  Unauthorized: 'UNAUTHORIZED',
  Forbidden: 'FORBIDDEN',
  RequestEntityTooLarge: 'TOO_LARGE',
}

/** What a webhook denies, as it says. */
export function deniedByWebhook(name: string, { code, reason, message, details: said }: ReviewStatus): OperatingError {
  const why = message === '' ? reason : message
  const denial = `admission webhook "${name}" denied the request`
  const details = { ...said, answer: { status: code, reason } }
  return new OperatingError('FORBIDDEN', why === '' ? `${denial} without explanation` : `${denial}: ${why}`, {
    details,
  })
}

/** A webhook that has to be asked, and cannot. */
export function failedWebhook(name: string, why: string, cause?: unknown): OperatingError {
  return new OperatingError('HOOK_FAILED', `Internal error occurred: failed calling webhook "${name}": ${why}`, {
    cause,
  })
}

/** The patch of a webhook that does not fit. */
export function failedPatch(name: string, error: unknown): unknown {
  if (!(error instanceof OperatingError)) return error
  const why = `the patch of admission webhook "${name}" does not fit: ${error.message}`
  return new OperatingError('HOOK_FAILED', `Internal error occurred: ${why}`, { cause: error })
}

/** There is nothing to patch about what is deleted. */
export function unpatchable(name: string): OperatingError {
  const why = `admission webhook "${name}" attempted to modify the object, which is not supported for this operation`
  return new OperatingError('HOOK_FAILED', `Internal error occurred: ${why}`)
}

const outOfDate = 'the object has been modified; please apply your changes to the latest version and try again'

/** VERSION_CONFLICT: the writer worked from a state that has passed. */
export function conflict(
  kind: ServedKind,
  { name, uid }: Pick<ObjectMeta, 'name' | 'uid'>,
  why = outOfDate,
): OperatingError {
  return new OperatingError(
    'VERSION_CONFLICT',
    `Operation cannot be fulfilled on ${resourceName(kind)} "${name}": ${why}`,
    {
      details: { name, group: kind.group, kind: kind.plural, uid },
    },
  )
}

/** Throws VERSION_CONFLICT unless the object is the one, in the version, that the writer named, if any was named. */
export function checkPreconditions(
  kind: ServedKind,
  live: ObjectMeta,
  { uid, resourceVersion }: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined },
): void {
  if (uid !== undefined && uid !== live.uid) {
    throw conflict(kind, live, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.uid}`)
  }
  if (resourceVersion !== undefined && resourceVersion !== live.resourceVersion) throw conflict(kind, live)
}

/** Nothing new of a kind whose definition is being deleted: nobody would see it off. */
export function terminationRefusal(): OperatingError {
  const message = 'create not allowed while custom resource definition is terminating'
  return new OperatingError('METHOD_NOT_ALLOWED', message)
}

export const terminatingReason = 'NamespaceTerminating'

/** Nothing new in a namespace that is being deleted: nobody would remove it. */
export function terminatingRefusal(kind: ServedKind, name: string, namespace: string): OperatingError {
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`
  const refusal = forbiddenFor(kind, name, why)
  const cause = {
    reason: terminatingReason,
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  }
  return new OperatingError('FORBIDDEN', refusal.message, { details: { ...refusal.details, causes: [cause] } })
}
