import { authorize, isAllowedByGroup, type Decision } from '../../model/access/authorize.ts'
import { authorizeAgain } from '../../model/access/remembered-decisions.ts'
import type { AccessBook } from '../../model/access/access-book.ts'
import type { Attributes, ResourceAttributes } from '../../model/access/rules.ts'
import { OperatingError } from '../../model/errors.ts'
import { proceed, type Eventual } from '../../model/eventual.ts'
import type { User } from '../../ports/authenticator.ts'

/** Roles and bindings as they are now. */
export type ReadAccess = () => Eventual<AccessBook>

/** Whether a user may do something. Whom a group lets do it waits for nothing. */
export function decideAccess(
  user: User,
  wanted: Attributes,
  readAccess: ReadAccess,
  decide = authorize,
): Eventual<Decision> {
  if (isAllowedByGroup(user, wanted)) return allowedByGroup
  return proceed(readAccess(), (book) => decide(user, wanted, book))
}

/** Decides for the sender of a request. The sender asks the same again and again, so decisions are remembered. */
export function decideAgain(user: User, wanted: Attributes, readAccess: ReadAccess): Eventual<Decision> {
  return decideAccess(user, wanted, readAccess, authorizeAgain)
}

/** Throws FORBIDDEN for what nobody has allowed. */
export function requireAllowed({ allowed, reason }: Decision, user: User, wanted: Attributes): void {
  if (!allowed) throw accessRefusal(user, wanted, reason)
}

const allowedByGroup: Decision = { allowed: true, reason: '' }

/** FORBIDDEN in Kubernetes' words. */
function accessRefusal({ name }: User, wanted: Attributes, reason: string): OperatingError {
  const because = reason === '' ? '' : `: ${reason}`
  const user = `User ${JSON.stringify(name)} cannot ${wanted.verb}`
  if (wanted.path !== undefined)
    return new OperatingError('FORBIDDEN', `forbidden: ${user} path ${JSON.stringify(wanted.path)}${because}`)
  return forbiddenObject(wanted, `${user} ${resourceText(wanted)}${because}`)
}

/** FORBIDDEN about an object, or about a kind where it has no name. */
export function forbiddenObject(
  { group, resource, name }: Pick<ResourceAttributes, 'group' | 'resource' | 'name'>,
  why: string,
): OperatingError {
  const kind = group === '' ? resource : `${resource}.${group}`
  const subject = name === '' ? kind : `${kind} ${JSON.stringify(name)}`
  const details = { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: resource }
  return new OperatingError('FORBIDDEN', `${subject} is forbidden: ${why}`, { details })
}

function resourceText({ resource, subresource, group, namespace }: ResourceAttributes): string {
  const whole = subresource === '' ? resource : `${resource}/${subresource}`
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`
  return `resource ${JSON.stringify(whole)} in API group ${JSON.stringify(group)} ${where}`
}
