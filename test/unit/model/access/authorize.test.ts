import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAccessBook, type AccessBook } from '../../../../shared/model/access/access-book.ts'
import { authorize, rulesFor } from '../../../../shared/model/access/authorize.ts'
import { findUncovered, rulesText } from '../../../../shared/model/access/rule-allows.ts'
import { rulesOf } from '../../../../shared/model/access/rules.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import type { ApiObject } from '../../../../shared/model/object.ts'

const rule = (verb: string, resource: string): JsonObject => ({ verbs: [verb], apiGroups: [''], resources: [resource] })

function clusterRole(name: string, rules: JsonObject[], labels = {}, gathers?: JsonObject[]): ApiObject {
  const aggregation = gathers === undefined ? {} : { aggregationRule: { clusterRoleSelectors: gathers } }
  return { kind: 'ClusterRole', metadata: { name, labels }, rules, ...aggregation } as unknown as ApiObject
}

function binding(name: string, role: string, subjects: JsonObject[], namespace?: string): ApiObject {
  const kind = namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding'
  const metadata = namespace === undefined ? { name } : { name, namespace }
  return { kind, metadata, roleRef: { kind: 'ClusterRole', name: role }, subjects } as unknown as ApiObject
}

function book(...objects: readonly ApiObject[]): AccessBook {
  const made = createAccessBook()
  for (const object of objects) made.note(object)
  return made
}

const alice = { name: 'alice', groups: ['devs'] }
const toAlice = [{ kind: 'User', name: 'alice' }]
const getPods = { verb: 'get', group: '', resource: 'pods', subresource: '', namespace: 'a', name: 'x' }

describe('a decision', () => {
  it('lets the superuser group do everything without any role', () => {
    const root = { name: 'root', groups: ['system:masters'] }
    expect(authorize(root, getPods, book())).toEqual({ allowed: true, reason: '' })
    expect(authorize(root, { verb: 'get', path: '/metrics' }, book()).allowed).toBe(true)
  })

  it('names the binding that allows', () => {
    const bindings = [
      [binding('b', 'r', toAlice), 'ClusterRoleBinding "b" of ClusterRole "r" to User "alice"'],
      [binding('b', 'r', toAlice, 'a'), 'RoleBinding "b/a" of ClusterRole "r" to User "alice"'],
      [
        binding('b', 'r', [{ kind: 'Group', name: 'devs' }]),
        'ClusterRoleBinding "b" of ClusterRole "r" to Group "devs"',
      ],
    ] as const
    for (const [bound, reason] of bindings) {
      const found = authorize(alice, getPods, book(clusterRole('r', [rule('get', 'pods')]), bound))
      expect(found).toEqual({ allowed: true, reason: `RBAC: allowed by ${reason}` })
    }
  })

  it('names the ServiceAccount that is allowed', () => {
    const robot = { name: 'system:serviceaccount:a:robot', groups: [] }
    const roles = book(
      clusterRole('r', [rule('get', 'pods')]),
      binding('b', 'r', [{ kind: 'ServiceAccount', name: 'robot' }], 'a'),
    )
    expect(authorize(robot, getPods, roles).reason).toContain('to ServiceAccount "robot/a"')
    expect(authorize(robot, { ...getPods, namespace: 'b' }, roles)).toEqual({ allowed: false, reason: '' })
  })

  it('names roles that are missing', () => {
    const missing = (name: string): string => `clusterrole.rbac.authorization.k8s.io "${name}" not found`
    const one = book(binding('b', 'gone', toAlice))
    expect(authorize(alice, getPods, one)).toEqual({ allowed: false, reason: `RBAC: ${missing('gone')}` })
    const two = book(binding('b', 'gone', toAlice), binding('c', 'lost', toAlice))
    expect(authorize(alice, getPods, two).reason).toBe(`RBAC: [${missing('gone')}, ${missing('lost')}]`)
  })
})

describe('the book', () => {
  it('follows what is written and removed', () => {
    const bound = binding('b', 'r', toAlice)
    const role = clusterRole('r', [rule('get', 'pods')])
    const all = book(bound)
    const may = (): boolean => authorize(alice, getPods, all).allowed
    expect(may()).toBe(false)
    all.note(role)
    expect(may()).toBe(true)
    all.note(binding('b', 'r', [{ kind: 'User', name: 'bob' }]))
    expect(may()).toBe(false)
    all.note(bound)
    expect(may()).toBe(true)
    all.forget(role)
    expect(may()).toBe(false)
    all.note(role)
    all.forget(bound)
    expect([may(), rulesFor(alice, 'a', all)]).toEqual([false, { rules: [], problem: '' }])
  })

  it('gathers the rules of labelled roles, also of those that gather, as they are now', () => {
    const view = { 'to-view': 'true' }
    const all = book(
      clusterRole('view', [rule('delete', 'pods')], { 'to-edit': 'true' }, [{ matchLabels: view }]),
      clusterRole('edit', [], {}, [{ matchExpressions: [{ key: 'to-edit', operator: 'Exists' }] }]),
      clusterRole('pods', [rule('get', 'pods')], view),
    )
    const edit = { kind: 'ClusterRole', name: 'edit' }
    expect(all.rulesOf(edit, '')).toEqual(rulesOf({ rules: [rule('get', 'pods')] }))
    all.note(clusterRole('more', [rule('list', 'pods'), rule('get', 'pods')], view))
    expect(all.rulesOf(edit, '')).toHaveLength(2)
    all.forget(clusterRole('more', []))
    expect(all.rulesOf(edit, '')).toHaveLength(1)
  })

  it('gathers in circles, and comes to an end', () => {
    const all = book(
      clusterRole('a', [rule('get', 'x')], { of: 'b' }, [{ matchLabels: { of: 'a' } }]),
      clusterRole('b', [rule('get', 'y')], { of: 'a' }, [{ matchLabels: { of: 'b' } }, {}]),
      clusterRole('c', [rule('get', 'z')], { of: 'a' }),
    )
    expect(all.rulesOf({ kind: 'ClusterRole', name: 'a' }, '')).toEqual(rulesOf({ rules: [rule('get', 'z')] }))
  })

  it('says after any writes what one says that was made from the end of them', () => {
    const change = fc.record({
      name: fc.constantFrom('b', 'c'),
      role: fc.constantFrom('r', 's'),
      who: fc.constantFrom('alice', 'bob'),
      namespace: fc.constantFrom(undefined, 'a'),
      removed: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
        const followed = book(clusterRole('r', [rule('get', 'pods')]), clusterRole('s', [rule('get', 'secrets')]))
        const left = new Map<string, ApiObject>()
        for (const { name, role, who, namespace, removed } of changes) {
          const object = binding(name, role, [{ kind: 'User', name: who }], namespace)
          if (removed) followed.forget(object)
          else followed.note(object)
          left.delete(`${namespace} ${name}`)
          if (!removed) left.set(`${namespace} ${name}`, object)
        }
        const fresh = book(...left.values())
        const names = (one: AccessBook, namespace: string): readonly string[] =>
          [...one.bindingsOf(alice, namespace)].map((found) => JSON.stringify(found)).toSorted()
        for (const namespace of ['', 'a', 'b']) expect(names(followed, namespace)).toEqual(names(fresh, namespace))
      }),
    )
  })
})

describe('what may be granted', () => {
  it('is told as Kubernetes tells it, the verbs of one resource together', () => {
    const wanted = rulesOf({ rules: [{ verbs: ['get', 'list'], apiGroups: ['', 'apps'], resources: ['pods'] }] })
    const held = rulesOf({ rules: [rule('list', 'pods')] })
    expect(rulesText(findUncovered(held, wanted))).toBe(
      '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}\n{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list"]}',
    )
  })

  it('is refused where it is too much to look at', () => {
    const names = (letter: string): string[] => Array.from({ length: 2_000 }, (_, i) => `${letter}${i}`)
    const wanted = rulesOf({ rules: [{ verbs: ['list'], apiGroups: [''], resources: names('a') }] })
    const others = rulesOf({ rules: [{ verbs: ['list'], apiGroups: [''], resources: names('b') }] })
    expect(findUncovered([...others, ...wanted], wanted).length).toBeGreaterThan(0)
    expect(findUncovered(wanted, wanted.slice(0, 1)).length).toBeGreaterThan(0)
    const few = rulesOf({ rules: [{ verbs: ['list'], apiGroups: [''], resources: names('a').slice(0, 500) }] })
    expect(findUncovered(wanted, few)).toEqual([])
    const all = book(
      clusterRole(
        'r',
        Array.from({ length: 2_000 }, () => ({ ...rule('get', 'b'), resources: names('b') })),
      ),
      binding('b', 'r', toAlice),
    )
    expect(authorize(alice, getPods, all)).toMatchObject({
      allowed: false,
      reason: expect.stringContaining('more rules'),
    })
  })
})

it('readers read everything and write nothing, without any role', () => {
  const reader = { name: 'r', groups: ['setpoint:readers'] }
  const may = (verb: string): boolean => authorize(reader, { ...getPods, verb }, book()).allowed
  expect(['get', 'list', 'watch', 'create', 'delete', 'impersonate'].map(may)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ])
  expect(authorize(reader, { verb: 'get', path: '/metrics' }, book()).allowed).toBe(true)
  expect(authorize(reader, { verb: 'post', path: '/x' }, book()).allowed).toBe(false)
})
