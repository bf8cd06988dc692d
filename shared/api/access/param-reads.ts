import type { AccessBook } from '../../model/access/access-book.ts'
import { authorize } from '../../model/access/authorize.ts'
import type { ResourceAttributes } from '../../model/access/rules.ts'
import { equal, isObject, textOf, type Json, type JsonObject } from '../../model/json.ts'
import { parseApiVersion, type ApiObject } from '../../model/object.ts'
import { forbidden } from '../../model/schema/field-error.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import type { User } from '../../ports/authenticator.ts'
import { invalidBecause } from '../../resources/admission.ts'
import { mutatingBindingKind, mutatingPolicyKind, policyBindingKind, policyKind } from '../../resources/policy-kinds.ts'
import type { PermitWrite } from '../../resources/resources.ts'
import type { ApiServices } from '../call.ts'
import { permitFor } from './grants.ts'

/**
 * The rights that a write of an admission policy or a binding asks for. The messages of a policy may tell what its
 * parameters hold, so the writer must be allowed to read them. Throws INVALID otherwise, as Kubernetes does
 * (`authorizeCreate`, `authorizeUpdate`).
 */
export async function permitParams(
  { user, wanted, book }: Writing,
  { catalog, resources }: Pick<ApiServices, 'catalog' | 'resources'>,
): Promise<PermitWrite> {
  const permit = permitFor(user, wanted, book)
  const kinds = await catalog.all()
  const policiesOf = policyOfBinding.get(wanted.resource)
  const policies = policiesOf === undefined ? [] : (await resources.list(policiesOf)).items.map(({ object }) => object)
  return (next, live) => {
    permit(next, live)
    if (wanted.subresource !== '') return
    const read = policiesOf === undefined ? kindRead(next, live, kinds) : paramRead(next, live, { policies, kinds })
    if (read === undefined || authorize(user, read, book).allowed) return
    throw refusal(user, next, read)
  }
}

/** Who writes what, and what is known of roles. */
interface Writing {
  readonly user: User
  readonly wanted: ResourceAttributes
  readonly book: AccessBook
}

const policyOfBinding: ReadonlyMap<string, ServedKind> = new Map([
  [policyBindingKind.plural, policyKind],
  [mutatingBindingKind.plural, mutatingPolicyKind],
])

type Read = Pick<ResourceAttributes, 'verb' | 'group' | 'resource' | 'subresource' | 'namespace' | 'name'>

/** A policy may be bound to any object of the kind. */
function kindRead(next: ApiObject, live: ApiObject | undefined, kinds: readonly ServedKind[]): Read | undefined {
  const { paramKind } = specOf(next)
  if (!isObject(paramKind) || equal(paramKind, specOf(live)['paramKind'])) return undefined
  return { verb: 'get', ...resourceOf(paramKind, kinds), name: '*', namespace: '*' }
}

interface Known {
  readonly policies: readonly ApiObject[]
  readonly kinds: readonly ServedKind[]
}

/** Without a namespace it is that of each request, and may be any. */
function paramRead(next: ApiObject, live: ApiObject | undefined, { policies, kinds }: Known): Read | undefined {
  const { paramRef, policyName } = specOf(next)
  const before = specOf(live)
  if (!isObject(paramRef) || (equal(paramRef, before['paramRef']) && policyName === before['policyName'])) return
  const { paramKind } = specOf(policies.find(({ metadata }) => metadata.name === policyName))
  const [name, namespace] = [textOf(paramRef['name']), textOf(paramRef['namespace'])]
  return { verb: name === '' ? 'list' : 'get', ...resourceOf(paramKind, kinds), name, namespace }
}

/** Of a kind that is not known, every resource has to be allowed. */
function resourceOf(
  paramKind: Json | undefined,
  kinds: readonly ServedKind[],
): Pick<Read, 'group' | 'resource' | 'subresource'> {
  if (!isObject(paramKind)) return { group: '*', resource: '*', subresource: '' }
  const { group } = parseApiVersion(textOf(paramKind['apiVersion']))
  const found = kinds.find((kind) => kind.group === group && kind.kind === paramKind['kind'])
  return { group, resource: found?.plural ?? '*', subresource: '' }
}

function specOf(object: ApiObject | undefined): JsonObject {
  return isObject(object?.spec) ? object.spec : {}
}

function refusal({ name }: User, next: ApiObject, { verb, group, resource }: Read): Error {
  const [field, what] = next.kind.endsWith('Binding')
    ? ['spec.paramRef', 'the object referenced by paramRef']
    : ['spec.paramKind', 'all objects of the referenced paramKind']
  const why = `user ${JSON.stringify(name)} does not have "${verb}" permission on ${what} (${resource} in API group ${JSON.stringify(group)})`
  const kind = { group: parseApiVersion(next.apiVersion).group, kind: next.kind }
  return invalidBecause(kind, next.metadata.name, [forbidden(field, why)])
}
