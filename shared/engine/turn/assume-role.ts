import { roleAnnotation } from '../../model/control-annotations.ts'
import { OperatingError } from '../../model/errors.ts'
import { namespaceKeyOf } from '../../model/object-key.ts'
import type { ApiObject } from '../../model/object.ts'
import type { RoleCredentials, RoleRequest } from '../../ports/roles.ts'
import type { AssumedRole } from '../../reconciler/context.ts'
import type { EngineOptions } from './engine-options.ts'

interface Assuming {
  readonly controller: { readonly name: string }
  /** The object that is reconciled. */
  readonly object: ApiObject
  readonly engine: Pick<EngineOptions, 'roles' | 'store'>
  readonly time: { readonly deadlineMs: number }
}

/** Credentials that are good until the run's time is over. */
export async function assumeRole(
  role: AssumedRole = {},
  { controller, object, engine, time }: Assuming,
): Promise<RoleCredentials> {
  const { roles, store } = engine
  if (roles === undefined)
    throw new OperatingError(
      'UNAVAILABLE',
      'roles are assumed on AWS only: give a test roles of its own (createTestEnv)',
    )
  const { namespace } = object.metadata
  const isNamed = role.roleArn === undefined && namespace !== undefined
  const annotated = isNamed ? await store.get(namespaceKeyOf(namespace)) : undefined
  const roleArn = role.roleArn ?? annotated?.object.metadata.annotations?.[roleAnnotation]
  return roles.assume(
    roleRequestOf({ ...role, ...(roleArn !== undefined && { roleArn }) }, object, controller),
    time.deadlineMs,
  )
}

/** Of IAM, with a path or without. */
const arnPattern = /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/
const sessionNameMax = 64
const tagsMax = 50

/** What is asked of STS. Throws UNAVAILABLE while nobody has named a role, and INVALID for what is none. */
export function roleRequestOf(
  { roleArn, externalId, session = 'namespace', tags = {} }: AssumedRole,
  { kind, metadata: { namespace, name } }: Pick<ApiObject, 'kind' | 'metadata'>,
  { name: controller }: { readonly name: string },
): RoleRequest {
  if (roleArn === undefined)
    throw new OperatingError(
      'UNAVAILABLE',
      namespace === undefined
        ? `${kind} ${name} has no namespace, and no role of its own`
        : `the namespace ${namespace} names no role: kubectl annotate namespace ${namespace} ${roleAnnotation}=arn:aws:iam::123456789012:role/Tenant`,
    )
  if (!arnPattern.test(roleArn)) throw new OperatingError('INVALID', `"${roleArn}" is not the ARN of an IAM role`)
  const isOfObject = session === 'object' || namespace === undefined
  const all = {
    ...tags,
    'setpoint:controller': controller,
    ...(namespace !== undefined && { 'setpoint:namespace': namespace }),
    ...(isOfObject && { 'setpoint:name': name }),
  }
  if (Object.keys(all).length > tagsMax)
    throw new OperatingError('INVALID', `a session has ${tagsMax} tags at most, ours among them`)
  const whose = [controller, namespace, ...(isOfObject ? [name] : [])].filter((part) => part !== undefined)
  const asked = externalId ?? (namespace === undefined ? undefined : `setpoint:${namespace}`)
  return {
    roleArn,
    sessionName: whose
      .join('.')
      .replaceAll(/[^\w+=,.@-]/g, '-')
      .slice(0, sessionNameMax),
    ...(asked !== undefined && { externalId: asked }),
    tags: all,
  }
}
