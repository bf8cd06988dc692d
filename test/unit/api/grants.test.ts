import { describe, expect, it } from 'vitest'
import { permitFor } from '../../../shared/api/access/grants.ts'
import { createAccessBook } from '../../../shared/model/access/access-book.ts'
import type { ResourceAttributes } from '../../../shared/model/access/rules.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject, ObjectMeta } from '../../../shared/model/object.ts'
import { endOf } from './end-of.ts'

const group = 'rbac.authorization.k8s.io'
const user = { name: 'ann', groups: ['team', 'all'] }
const wantedOf = (resource: string, verb = 'update', more: Partial<ResourceAttributes> = {}): ResourceAttributes => {
  return { verb, group, resource, subresource: '', namespace: 'n', name: 'x', ...more }
}
const rule = (verb: string, resource: string, apiGroup = '', names: readonly string[] = []) => {
  return { verbs: [verb], apiGroups: [apiGroup], resources: [resource], resourceNames: [...names] }
}
const getPods = rule('get', 'pods')
const everything = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

function objectOf(kind: string, parts: JsonObject, metadata: Partial<ObjectMeta> = {}): ApiObject {
  return { apiVersion: `${group}/v1`, kind, metadata: { name: 'x', ...metadata }, ...parts } as unknown as ApiObject
}

const roleOf = (...rules: readonly JsonObject[]) => objectOf('Role', { rules: [...rules] })
const bindingTo = (name: string, kind = 'ClusterRole') =>
  objectOf('RoleBinding', { roleRef: { kind, name }, subjects: [{ kind: 'User', name: 'bob' }] })

/** Of a user who may do what these rules allow in the namespace; there is a role that reads pods. */
function ends(rules: readonly JsonObject[], wanted: ResourceAttributes, next: ApiObject, live?: ApiObject): unknown {
  const book = createAccessBook()
  book.note(objectOf('ClusterRole', { rules: [getPods] }, { name: 'reader' }))
  book.note(objectOf('Role', { rules: [getPods] }, { name: 'reader', namespace: 'n' }))
  book.note(objectOf('Role', { rules: [...rules] }, { name: 'hers', namespace: 'n' }))
  book.note(
    objectOf(
      'RoleBinding',
      { roleRef: { kind: 'Role', name: 'hers' }, subjects: [{ kind: 'User', name: 'ann' }] },
      { name: 'hers', namespace: 'n' },
    ),
  )
  return endOf(() => permitFor(user, wanted, book)(next, live)) ?? 'permitted'
}

const granting = (what: string, grants = '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}') =>
  `FORBIDDEN: ${what} "x" is forbidden: user "ann" (groups=["team" "all"]) is attempting to grant RBAC permissions not currently held:\n${grants}`

describe('who writes a role', () => {
  const roles = `roles.${group}`
  const live = roleOf()
  const next = roleOf(getPods)
  it.each<[string, readonly JsonObject[], ApiObject, string]>([
    ['has what it gives', [getPods], next, 'permitted'],
    ['has not', [], next, granting(roles)],
    ['has another', [rule('get', 'nodes')], next, granting(roles)],
    ['gives nothing', [], roleOf(), 'permitted'],
    ['may escalate', [rule('escalate', 'roles', group)], next, 'permitted'],
    ['may escalate another', [rule('escalate', 'roles', group, ['y'])], next, granting(roles)],
  ])('%s', (_who, rules, role, end) => {
    expect(ends(rules, wantedOf('roles'), role, live)).toBe(end)
    expect(ends(rules, wantedOf('roles', 'create'), role)).toBe(end)
  })

  it('lets it go by its finalizers and owners, and changes nothing else', () => {
    const owner = { apiVersion: 'v1', kind: 'K', name: 'k', uid: 'u' }
    const held = (metadata: Partial<ObjectMeta>, ...rules: JsonObject[]) => objectOf('Role', { rules }, metadata)
    const before = held({ finalizers: ['a/b'], ownerReferences: [owner], generation: 1, managedFields: [] }, getPods)
    const end = (after: ApiObject) => ends([], wantedOf('roles'), after, before)
    expect(end(held({ generation: 2 }, getPods))).toBe('permitted')
    expect(end(held({ labels: { a: 'b' } }, getPods))).toBe(granting(roles))
    expect(end(held({}, getPods, rule('get', 'nodes')))).toContain('not currently held')
  })

  it('of a part of it is not asked, nor of another group', () => {
    expect(ends([], wantedOf('roles', 'update', { subresource: 'status' }), next, live)).toBe('permitted')
    expect(ends([], wantedOf('roles', 'update', { group: 'g.dev' }), next, live)).toBe('permitted')
  })

  it('is told of rules that could not be looked up', () => {
    const book = createAccessBook()
    const subjects = [{ kind: 'User', name: 'ann' }]
    book.note(objectOf('ClusterRoleBinding', { roleRef: { kind: 'ClusterRole', name: 'gone' }, subjects }))
    const problem = `; resolution errors: [clusterrole.${group} "gone" not found]`
    expect(endOf(() => permitFor(user, wantedOf('roles'), book)(next, live))).toBe(`${granting(roles)}${problem}`)
  })
})

describe('who writes a ClusterRole that gathers others', () => {
  const plain = objectOf('ClusterRole', { rules: [] })
  const gathering = objectOf('ClusterRole', { rules: [], aggregationRule: { clusterRoleSelectors: [] } })
  const no = `FORBIDDEN: clusterroles.${group} "x" is forbidden: must have cluster-admin privileges to use the aggregationRule`
  it.each<[string, readonly JsonObject[], ApiObject, ApiObject | undefined, string]>([
    ['may do everything', everything, gathering, plain, 'permitted'],
    ['may do everything at paths alone', everything.slice(1), gathering, plain, no],
    ['makes one', [], gathering, undefined, no],
    ['makes it one', [], gathering, plain, no],
    ['lets it be none', [], plain, gathering, no],
    ['makes none', [], plain, undefined, 'permitted'],
    ['may escalate', [rule('escalate', 'clusterroles', group)], gathering, plain, 'permitted'],
  ])('%s', (...row) => {
    const [, rules, next, live, end] = row
    const labelled = { ...next, metadata: { ...next.metadata, labels: { new: 'yes' } } }
    expect(ends(rules, wantedOf('clusterroles', live ? 'update' : 'create'), labelled, live)).toBe(end)
  })
})

describe('who writes a binding', () => {
  const bindings = `rolebindings.${group}`
  it.each<[string, readonly JsonObject[], ApiObject, string]>([
    ['has what the role gives', [getPods], bindingTo('reader'), 'permitted'],
    ['has what a role of the namespace gives', [getPods], bindingTo('reader', 'Role'), 'permitted'],
    ['has not', [], bindingTo('reader'), granting(bindings)],
    ['may bind that role', [rule('bind', 'clusterroles', group, ['reader'])], bindingTo('reader'), 'permitted'],
    ['may bind that of the namespace', [rule('bind', 'roles', group)], bindingTo('reader', 'Role'), 'permitted'],
    ['may bind roles only', [rule('bind', 'roles', group)], bindingTo('reader'), granting(bindings)],
    [
      'may bind another role',
      [rule('bind', 'clusterroles', group, ['other'])],
      bindingTo('reader'),
      granting(bindings),
    ],
    ['names a role that is not there', [], bindingTo('gone'), `NOT_FOUND: clusterroles.${group} "gone" not found`],
    ['names none of the namespace', [], bindingTo('gone', 'Role'), `NOT_FOUND: roles.${group} "gone" not found`],
    ['may bind what is not there', [rule('bind', 'clusterroles', group)], bindingTo('gone'), 'permitted'],
  ])('%s', (_who, rules, binding, end) => {
    expect(ends(rules, wantedOf('rolebindings', 'create'), binding)).toBe(end)
    const live = { ...binding, subjects: [] } as unknown as ApiObject
    expect(ends(rules, wantedOf('rolebindings'), binding, live)).toBe(end)
  })

  it('lets it go', () => {
    const binding = bindingTo('reader')
    const held = { ...binding, metadata: { ...binding.metadata, finalizers: ['a/b'] } }
    expect(ends([], wantedOf('rolebindings'), binding, held)).toBe('permitted')
  })

  it('is told which role is not there', () => {
    const book = createAccessBook()
    const details = { name: 'gone', group, kind: 'clusterroles' }
    const write = () => permitFor(user, wantedOf('rolebindings'), book)(bindingTo('gone'), bindingTo('reader'))
    expect(write).toThrow(expect.objectContaining({ details }))
    expect(write).toThrow(OperatingError)
  })
})

describe('who makes by another verb what is not there', () => {
  const wanted = wantedOf('ks', 'patch', { group: 'g.dev' })
  const next = objectOf('K', {})
  const no =
    'FORBIDDEN: ks.g.dev "x" is forbidden: User "ann" cannot create resource "ks" in API group "g.dev" in the namespace "n"'
  it('may create it', () => {
    expect(ends([], wanted, next)).toBe(no)
    expect(ends([rule('patch', 'ks', 'g.dev')], wanted, next)).toBe(no)
    expect(ends([rule('create', 'ks', 'g.dev')], wanted, next)).toBe('permitted')
    expect(ends([], wanted, next, next)).toBe('permitted')
    expect(ends([], { ...wanted, verb: 'create' }, next)).toBe('permitted')
  })
})
