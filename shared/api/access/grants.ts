import type { AccessBook } from '../../model/access/access-book.ts'
import { aggregationOf } from '../../model/access/aggregation.ts'
import { authorize, everything, rulesFor } from '../../model/access/authorize.ts'
import { findUncovered, rulesText } from '../../model/access/rule-allows.ts'
import { roleRefOf, rulesOf, type PolicyRule, type ResourceAttributes } from '../../model/access/rules.ts'
import { OperatingError } from '../../model/errors.ts'
import { equal, type JsonObject } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'
import type { User } from '../../ports/authenticator.ts'
import type { PermitWrite } from '../../resources/resources.ts'
import { accessGroup } from '../../resources/access-kinds.ts'
import { forbiddenObject, requireAllowed } from './guard.ts'

/**
 * What of a write beyond its verb a user has to be allowed: to create what an apply or a PUT finds absent, and to have
 * what a role or a binding gives, unless the verbs `escalate` and `bind` allow more.
 */
export function permitFor(user: User, wanted: ResourceAttributes, book: AccessBook): PermitWrite {
  return (next, live) => {
    if (wanted.verb !== 'create' && live === undefined) requireCreate(user, wanted, book)
    if (wanted.group !== accessGroup || wanted.subresource !== '') return
    const write = { user, wanted, book, next, live }
    if (next.kind.endsWith('Binding')) checkBound(write)
    else checkRules(write)
  }
}

interface AccessWrite {
  readonly user: User
  readonly wanted: ResourceAttributes
  readonly book: AccessBook
  readonly next: ApiObject
  readonly live: ApiObject | undefined
}

function requireCreate(user: User, wanted: ResourceAttributes, book: AccessBook): void {
  const creation = { ...wanted, verb: 'create' }
  requireAllowed(authorize(user, creation, book), user, creation)
}

function checkRules(write: AccessWrite): void {
  const { user, wanted, book, next, live } = write
  if (authorize(user, { ...wanted, verb: 'escalate' }, book).allowed || isOnlyLetGo(write)) return
  requireHeld(write, rulesOf(next))
  if (aggregationOf(next) === undefined && (live === undefined || aggregationOf(live) === undefined)) return
  if (findUncovered(rulesFor(user, wanted.namespace, book).rules, everything).length === 0) return
  throw forbiddenObject(placeOf(write), 'must have cluster-admin privileges to use the aggregationRule')
}

function checkBound(write: AccessWrite): void {
  const { user, wanted, book, next } = write
  if (isOnlyLetGo(write)) return
  const ref = roleRefOf(next)
  const resource = ref.kind === 'Role' ? 'roles' : 'clusterroles'
  const bind = { ...wanted, verb: 'bind', resource, name: ref.name }
  if (authorize(user, bind, book).allowed) return
  const rules = book.rulesOf(ref, wanted.namespace)
  if (rules !== undefined) return requireHeld(write, rules)
  const message = `${resource}.${accessGroup} ${JSON.stringify(ref.name)} not found`
  throw new OperatingError('NOT_FOUND', message, { details: { name: ref.name, group: accessGroup, kind: resource } })
}

/** Throws FORBIDDEN unless the user may do everything that the rules allow. */
function requireHeld(write: AccessWrite, rules: readonly PolicyRule[]): void {
  const { user, wanted, book } = write
  const held = rulesFor(user, wanted.namespace, book)
  const missing = findUncovered(held.rules, rules)
  if (missing.length === 0) return
  const groups = user.groups.map((group) => JSON.stringify(group)).join(' ')
  const problem = held.problem === '' ? '' : `; resolution errors: [${held.problem}]`
  throw forbiddenObject(
    placeOf(write),
    `user ${JSON.stringify(user.name)} (groups=[${groups}]) is attempting to grant RBAC permissions not currently held:\n${rulesText(missing)}${problem}`,
  )
}

function placeOf({ wanted, next }: AccessWrite): ResourceAttributes {
  return { ...wanted, name: next.metadata.name }
}

/** Whoever lets an object go, by its finalizers or owners, gives nobody anything. */
function isOnlyLetGo({ next, live }: AccessWrite): boolean {
  return live !== undefined && equal(withoutTies(next), withoutTies(live))
}

function withoutTies({ metadata, ...rest }: ApiObject): JsonObject {
  const { finalizers: _, ownerReferences: __, managedFields: ___, generation: ____, ...others } = metadata
  return { ...rest, metadata: others }
}
