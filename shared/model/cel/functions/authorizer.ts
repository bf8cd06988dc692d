import type { Decision } from '../../access/authorize.ts'
import type { Attributes, ResourceAttributes } from '../../access/rules.ts'
import { isObject, type Json } from '../../json.ts'
import type { Meter } from '../meter.ts'
import { spendText, type Functions } from '../overload.ts'
import { CelFailure, Opaque, type Result, type Value } from '../value.ts'

/** Whether the one who asks, or an account of a namespace, may do something. */
export type Decide = (wanted: Attributes, account?: OtherAccount) => Decision

export interface OtherAccount {
  readonly namespace: string
  readonly name: string
}

/** A value that nothing but itself equals. */
abstract class Unique extends Opaque {
  equals(other: Opaque): boolean {
    return this === other
  }
}

class Authorizer extends Unique {
  readonly type = 'kubernetes.authorization.Authorizer'
  readonly decide: (wanted: Attributes) => Decision

  constructor(decide: (wanted: Attributes) => Decision) {
    super()
    this.decide = decide
  }
}

/** What is asked about, as far as it is said. */
class Check extends Unique {
  readonly type: string
  readonly wanted: Attributes
  readonly decide: Authorizer['decide']

  constructor(type: 'Group' | 'Path' | 'Resource', wanted: Attributes, decide: Authorizer['decide']) {
    super()
    this.type = `kubernetes.authorization.${type}Check`
    this.wanted = wanted
    this.decide = decide
  }
}

class Answer extends Unique {
  readonly type = 'kubernetes.authorization.Decision'
  readonly decision: Decision

  constructor(decision: Decision) {
    super()
    this.decision = decision
  }
}

/** The values of `authorizer` and of `authorizer.requestResource`. */
export function authorizerValues(decide: Decide, request: Json): readonly Result[] {
  const { resource, subResource, namespace, name } = isObject(request) ? request : {}
  const { group, resource: plural } = isObject(resource) ? resource : {}
  const ask = (wanted: Attributes): Decision => decide(wanted)
  const parts = { group, resource: plural, subresource: subResource, namespace, name }
  const wanted = {
    ...nothing,
    ...Object.fromEntries(Object.entries(parts).map(([part, text]) => [part, String(text ?? '')])),
  }
  return [new Accounts(decide), new Check('Resource', wanted, ask)]
}

/** The one that knows of other accounts, too. */
class Accounts extends Authorizer {
  readonly ofAccount: Decide

  constructor(decide: Decide) {
    super((wanted) => decide(wanted))
    this.ofAccount = decide
  }
}

const nothing: ResourceAttributes = { verb: '', group: '', resource: '', subresource: '', namespace: '', name: '' }

/** A question takes a look at all roles of somebody. */
const checkSteps = 20_000

function narrow(part: 'resource' | 'subresource' | 'namespace' | 'name') {
  return ([check, text]: readonly Value[]): Result => {
    const { wanted, decide } = check as Check
    return new Check('Resource', { ...(wanted as ResourceAttributes), [part]: text as string }, decide)
  }
}

/** Roles know no selectors: as on Kubernetes, RBAC answers as if none were named, one that cannot be read too. */
function sameCheck([check]: readonly Value[]): Result {
  return check as Check
}

function answer([check, verb]: readonly Value[], meter: Meter): Result {
  meter.spend(checkSteps)
  const { wanted, decide } = check as Check
  return new Answer(decide({ ...wanted, verb: verb as string }))
}

const label = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/

const prefix = 'kubernetes.authorization.'

export const authorizers: Functions = {
  [`${prefix}Authorizer.path(string) ${prefix}PathCheck`]: ([from, path]) =>
    path === ''
      ? new CelFailure('path must not be empty')
      : new Check('Path', { verb: '', path: path as string }, (from as Authorizer).decide),
  [`${prefix}Authorizer.group(string) ${prefix}GroupCheck`]: ([from, group]) =>
    new Check('Group', { ...nothing, group: group as string }, (from as Authorizer).decide),
  [`${prefix}Authorizer.serviceAccount(string, string) ${prefix}Authorizer`]: ([from, namespace, name], meter) => {
    spendText(meter, namespace as string, name as string)
    if (!label.test(name as string)) return new CelFailure('Invalid service account name')
    if (!label.test(namespace as string)) return new CelFailure('Invalid service account namespace')
    const account = { namespace: namespace as string, name: name as string }
    return from instanceof Accounts ? new Authorizer((wanted) => from.ofAccount(wanted, account)) : (from as Value)
  },
  [`${prefix}GroupCheck.resource(string) ${prefix}ResourceCheck`]: ([check, resource]) =>
    resource === ''
      ? new CelFailure('resource must not be empty')
      : narrow('resource')([check as Value, resource as Value]),
  [`${prefix}ResourceCheck.subresource(string) ${prefix}ResourceCheck`]: narrow('subresource'),
  [`${prefix}ResourceCheck.namespace(string) ${prefix}ResourceCheck`]: narrow('namespace'),
  [`${prefix}ResourceCheck.name(string) ${prefix}ResourceCheck`]: narrow('name'),
  [`${prefix}ResourceCheck.fieldSelector(string) ${prefix}ResourceCheck`]: sameCheck,
  [`${prefix}ResourceCheck.labelSelector(string) ${prefix}ResourceCheck`]: sameCheck,
  [`${prefix}ResourceCheck.check(string) ${prefix}Decision`]: answer,
  [`${prefix}PathCheck.check(string) ${prefix}Decision`]: answer,
  [`${prefix}Decision.allowed() bool`]: ([said]) => (said as Answer).decision.allowed,
  [`${prefix}Decision.reason() string`]: ([said]) => (said as Answer).decision.reason,
  [`${prefix}Decision.errored() bool`]: () => false,
  [`${prefix}Decision.error() string`]: () => '',
}
