import type { JsonObject } from '../json.ts'
import type { ApiObject } from '../object.ts'
import { aggregationOf, fitsSelector } from './aggregation.ts'
import { roleRefOf, rulesOf, subjectsOf, type PolicyRule, type RoleRef, type Subject } from './rules.ts'

/** Whoever asks. */
export interface Asker {
  readonly name: string
  readonly groups: readonly string[]
}

/** A binding, with its subjects apart: it is found by each of them. */
export interface Binding {
  readonly kind: string
  readonly name: string
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string
  readonly roleRef: RoleRef
  readonly subjects: readonly Subject[]
}

/**
 * All roles and bindings, found by whom they are for. It follows the objects one by one: what a question costs grows
 * with the bindings of the one who asks, and not with all there are.
 */
export interface AccessBook {
  /** Another number after every change. */
  readonly revision: number
  /** The object as it is now: a role or a binding. */
  note(object: ApiObject): void
  forget(object: ApiObject): void
  /** Of a user, for questions about a namespace: those for all namespaces first. */
  bindingsOf(asker: Asker, namespace: string): Iterable<Binding>
  /** What a role allows; `undefined` if there is no such role. The namespace is the binding's. */
  rulesOf(role: RoleRef, namespace: string): readonly PolicyRule[] | undefined
}

export function createAccessBook(): AccessBook {
  const roles = createRoles()
  const objects = new Map<string, Binding>()
  const bySubject = new Map<string, Map<string, Binding>>()

  let revision = 0
  const forget = (object: ApiObject): void => {
    revision++
    roles.forget(object)
    const key = placeOf(object)
    const binding = objects.get(key)
    if (binding === undefined) return
    objects.delete(key)
    for (const subject of binding.subjects) {
      const name = indexName(binding.namespace, subjectName(subject, binding.namespace))
      const bound = bySubject.get(name)
      bound?.delete(key)
      if (bound?.size === 0) bySubject.delete(name)
    }
  }

  const note = (object: ApiObject): void => {
    forget(object)
    if (object.kind === 'Role' || object.kind === 'ClusterRole') return roles.note(object)
    if (object.kind !== 'RoleBinding' && object.kind !== 'ClusterRoleBinding') return
    const binding = bindingFrom(object)
    const key = placeOf(object)
    objects.set(key, binding)
    for (const subject of binding.subjects) {
      const name = indexName(binding.namespace, subjectName(subject, binding.namespace))
      const bound = bySubject.get(name) ?? new Map<string, Binding>()
      bySubject.set(name, bound.set(key, binding))
    }
  }

  function* bindingsIn(asker: Asker, namespace: string): Generator<Binding> {
    yield* bySubject.get(indexName(namespace, `User ${asker.name}`))?.values() ?? []
    for (const group of asker.groups) yield* bySubject.get(indexName(namespace, `Group ${group}`))?.values() ?? []
  }

  function* bindingsOf({ name, groups }: Asker, namespace: string): Generator<Binding> {
    // A review names the groups, and may name one very often.
    const asker = { name, groups: groups.length < 2 ? groups : [...new Set(groups)] }
    yield* bindingsIn(asker, '')
    if (namespace !== '') yield* bindingsIn(asker, namespace)
  }

  return {
    get revision() {
      return revision
    },
    note,
    forget,
    bindingsOf,
    rulesOf: roles.rulesOf,
  }
}

/** The roles, and what each allows: of a gathering one the rules of those that it gathers, as they are now. */
function createRoles(): Pick<AccessBook, 'note' | 'forget' | 'rulesOf'> {
  const rules = new Map<string, readonly PolicyRule[]>()
  const clusterRoles = new Map<string, ApiObject>()
  const gathered = new Map<string, readonly PolicyRule[]>()

  const forget = (object: ApiObject): void => {
    if (object.kind === 'ClusterRole') {
      gathered.clear()
      clusterRoles.delete(object.metadata.name)
    }
    rules.delete(placeOf(object))
  }

  const note = (object: ApiObject): void => {
    if (object.kind === 'ClusterRole') {
      gathered.clear()
      clusterRoles.set(object.metadata.name, object)
    }
    rules.set(placeOf(object), rulesOf(object))
  }

  const gatheredRules = (role: ApiObject): readonly PolicyRule[] => {
    const { name } = role.metadata
    const known = gathered.get(name) ?? gatherRules(role, clusterRoles)
    gathered.set(name, known)
    return known
  }

  return {
    note,
    forget,
    rulesOf: ({ kind, name }, namespace) => {
      if (kind === 'Role') return rules.get(`Role ${namespace} ${name}`)
      const role = kind === 'ClusterRole' ? clusterRoles.get(name) : undefined
      if (role === undefined) return
      return aggregationOf(role) === undefined ? rules.get(placeOf(role)) : gatheredRules(role)
    },
  }
}

/** The rules of all roles that a role gathers, by way of others that gather too; each rule once. */
function gatherRules(role: ApiObject, clusterRoles: ReadonlyMap<string, ApiObject>): readonly PolicyRule[] {
  const found = new Map<string, PolicyRule>()
  const seen = new Set<ApiObject>([role])
  // A set is gone through with what is added meanwhile.
  for (const next of seen) {
    const selectors = aggregationOf(next)
    const others = selectors === undefined ? [] : [...clusterRoles.values()]
    for (const gathered of others.filter((other) => isGathered(other, selectors))) seen.add(gathered)
    if (selectors === undefined) for (const rule of rulesOf(next)) found.set(JSON.stringify(rule), rule)
  }
  return [...found.keys()].toSorted().map((text) => found.get(text) as PolicyRule)
}

function isGathered({ metadata: { labels = {} } }: ApiObject, selectors: readonly JsonObject[] = []): boolean {
  return selectors.some((selector) => fitsSelector(selector, labels))
}

function bindingFrom(object: ApiObject): Binding {
  const { name, namespace = '' } = object.metadata
  return { kind: object.kind, name, namespace, roleRef: roleRefOf(object), subjects: subjectsOf(object) }
}

function placeOf({ kind, metadata: { namespace = '', name } }: ApiObject): string {
  return `${kind} ${namespace} ${name}`
}

function indexName(namespace: string, subject: string): string {
  return `${namespace} ${subject}`
}

/** A ServiceAccount is the user that its tokens are of. One without a namespace is in that of the binding, if any. */
function subjectName({ kind, name, namespace }: Subject, bindingNamespace: string): string {
  if (kind !== 'ServiceAccount') return `${kind} ${name}`
  const home = namespace === '' ? bindingNamespace : namespace
  return home === '' ? '' : `User ${serviceAccountUser(home, name)}`
}

/** The user that the tokens of a ServiceAccount are of. */
export function serviceAccountUser(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`
}
