import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAccessBook, type AccessBook } from '../../../../shared/model/access/access-book.ts'
import {
  authorize,
  everything,
  isAllowedByGroup,
  rulesFor,
  serviceAccountGroups,
} from '../../../../shared/model/access/authorize.ts'
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

  it.each([
    ['a Role', 'Role', 'a', 'a', true],
    ['a Role of another namespace', 'Role', 'b', 'a', false],
    ['a Role, in another namespace', 'Role', 'a', 'b', false],
    ['something else', 'Other', 'a', 'a', false],
  ])('asks for %s in the namespace of the binding', (...row) => {
    const [, kind, home, namespace, allowed] = row
    const metadata = { name: 'r', namespace: home }
    const role = { kind: 'Role', metadata, rules: [rule('get', 'pods')] } as unknown as ApiObject
    const bound = { ...binding('b', 'r', toAlice, 'a'), roleRef: { kind, name: 'r' } }
    expect(authorize(alice, { ...getPods, namespace }, book(role, bound)).allowed).toBe(allowed)
    const missing =
      kind === 'Role' && home === 'a' ? '' : `${kind.toLowerCase()}.rbac.authorization.k8s.io "r" not found`
    expect(rulesFor(alice, 'a', book(role, bound)).problem).toBe(missing)
  })

  it.each([
    ['in the namespace of a subject', { namespace: 'c' }, undefined, 'c', true],
    ['in the namespace of a subject, not of the binding', { namespace: 'c' }, 'a', 'a', false],
    ['without any namespace', {}, undefined, '', false],
  ])('knows a ServiceAccount %s', (...row) => {
    const [, of, place, home, allowed] = row
    const robot = { name: `system:serviceaccount:${home}:robot`, groups: [] }
    const roles = book(
      clusterRole('r', [rule('get', 'pods')]),
      binding('b', 'r', [{ kind: 'ServiceAccount', name: 'robot', ...of }], place),
    )
    const decided = authorize(robot, getPods, roles)
    expect(decided.allowed).toBe(allowed)
    if (allowed) expect(decided.reason).toContain('to ServiceAccount "robot/c"')
  })

  it('names the subject of several that it is about, and asks a path of all namespaces only', () => {
    const subjects = [{ kind: 'User', name: 'bob' }, { kind: 'Group', name: 'other' }, ...toAlice]
    const roles = book(clusterRole('r', [{ verbs: ['get'], nonResourceURLs: ['/x'] }]), binding('b', 'r', subjects))
    expect(authorize(alice, { verb: 'get', path: '/x' }, roles).reason).toContain('to User "alice"')
    const inOne = book(clusterRole('r', [{ verbs: ['get'], nonResourceURLs: ['/x'] }]), binding('b', 'r', subjects, ''))
    inOne.forget(binding('b', 'r', subjects, ''))
    inOne.note(binding('b', 'r', subjects, 'a'))
    expect(authorize(alice, { verb: 'get', path: '/x' }, inOne).allowed).toBe(false)
  })

  it('takes no user for a group, and no group for a user', () => {
    const roles = book(
      clusterRole('r', [rule('get', 'pods')]),
      binding('b', 'r', [{ kind: 'User', name: 'devs' }]),
      binding('c', 'r', [{ kind: 'Group', name: 'alice' }]),
    )
    expect(authorize(alice, getPods, roles)).toEqual({ allowed: false, reason: '' })
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

  it('tells roles of a namespace, roles of all, and anything else apart', () => {
    const metadata = { name: 'r', namespace: 'a' }
    const role = { kind: 'Role', metadata, rules: [rule('get', 'pods')] } as unknown as ApiObject
    const all = book(role, clusterRole('c', [rule('get', 'x')]))
    const found = (kind: string, name: string, namespace = 'a') => all.rulesOf({ kind, name }, namespace)?.length
    expect([found('Role', 'r'), found('Role', 'r', 'b'), found('ClusterRole', 'r'), found('Role', 'c')]).toEqual([
      1,
      undefined,
      undefined,
      undefined,
    ])
    expect([found('ClusterRole', 'c'), found('Other', 'c'), found('Other', 'r')]).toEqual([1, undefined, undefined])
    all.forget(role)
    expect([found('Role', 'r'), found('ClusterRole', 'c')]).toEqual([undefined, 1])
    all.forget(clusterRole('c', []))
    expect(found('ClusterRole', 'c')).toBeUndefined()
  })

  it('tells each binding once, and those of all namespaces first', () => {
    const all = book(
      binding('b', 'r', toAlice, 'a'),
      binding('c', 'r', toAlice),
      binding('d', 'r', toAlice, 'undefined'),
    )
    const names = (namespace: string) => [...all.bindingsOf(alice, namespace)].map(({ name }) => name)
    expect([names(''), names('a'), names('b')]).toEqual([['c'], ['c', 'b'], ['c']])
    all.note(clusterRole('r', [{ verbs: ['get'], nonResourceURLs: ['/x'] }]))
    all.forget(binding('c', 'r', []))
    expect(authorize(alice, { verb: 'get', path: '/x' }, all).allowed).toBe(false)
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

describe('the rules that hold for somebody', () => {
  const all = book(
    clusterRole('r', [rule('get', 'pods')]),
    binding('b', 'r', toAlice),
    binding('c', 'gone', toAlice, 'a'),
  )
  const held = rulesOf({ rules: [rule('get', 'pods')] })

  it('are those of their roles in a namespace, and it is told which are missing', () => {
    expect(rulesFor(alice, 'a', all)).toEqual({
      rules: held,
      problem: 'clusterrole.rbac.authorization.k8s.io "gone" not found',
    })
    expect(rulesFor(alice, 'b', all)).toEqual({ rules: held, problem: '' })
  })

  it('are all of them for superusers, and those of reading for readers', () => {
    expect(rulesFor({ ...alice, groups: ['system:masters'] }, 'b', all).rules).toEqual([...held, ...everything])
    const both = rulesFor({ ...alice, groups: ['setpoint:readers', 'system:masters'] }, 'b', all)
    expect(both.rules).toEqual([...held, ...everything])
    const { rules } = rulesFor({ ...alice, groups: ['setpoint:readers'] }, 'b', all)
    expect(rules.slice(1).map(({ verbs }) => verbs)).toEqual([
      ['get', 'list', 'watch'],
      ['get', 'head'],
    ])
  })

  it('are told once, where somebody is bound twice over', () => {
    const twice = book(
      clusterRole('r', [rule('get', 'pods')]),
      binding('b', 'r', [...toAlice, { kind: 'Group', name: 'devs' }, ...toAlice]),
    )
    expect(rulesFor(alice, 'a', twice).rules).toEqual(held)
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

it.each([
  [['system:masters'], true, true],
  [['setpoint:readers'], true, false],
  [['setpoint:readers', 'system:masters'], true, true],
  [['devs'], false, false],
])('by the groups %j alone somebody may read: %s, and write: %s', (groups, reads, writes) => {
  const who = { name: 'x', groups }
  const may = (verb: string): boolean => isAllowedByGroup(who, { ...getPods, verb })
  expect([may('list'), may('update')]).toEqual([reads, writes])
})

it('a ServiceAccount is in the groups of all, of those of its namespace, and of all who are known', () => {
  expect(serviceAccountGroups('a')).toEqual([
    'system:serviceaccounts',
    'system:serviceaccounts:a',
    'system:authenticated',
  ])
})

it('the book has another number after every change', () => {
  const all = book()
  const bound = binding('b', 'r', toAlice)
  const numbers = [all.revision]
  for (const change of [
    () => all.note(bound),
    () => all.note(bound),
    () => all.forget(bound),
    () => all.forget(bound),
  ]) {
    change()
    numbers.push(all.revision)
  }
  expect(new Set(numbers).size).toBe(5)
})

it('the rules of a user are looked at as far as a request allows, and no farther', () => {
  const bound = { kind: 'K', name: 'b', namespace: '', roleRef: { kind: 'ClusterRole', name: 'r' }, subjects: [] }
  const [may] = rulesOf({ rules: [rule('get', 'pods')] })
  const [other] = rulesOf({ rules: [rule('list', 'x')] })
  const times = (count: number, one: object) => Array.from({ length: count }, () => one)
  const ask = (...rules: readonly object[]) =>
    authorize(alice, getPods, { ...book(), bindingsOf: () => [bound], rulesOf: () => rules as never })
  const long = { ...other, resources: Array(29_997).fill('x') }
  const last = (more: number) => ({ ...may, resources: ['pods', ...(Array(more).fill('x') as string[])] })
  // The weight of each is 30,000, that of the binding 30, and there may be 3,000,000 in all.
  expect(ask(...times(99, long), last(29_966))).toMatchObject({ allowed: true })
  const refused = ask(...times(99, long), last(29_967))
  expect(refused).toMatchObject({ allowed: false, reason: expect.stringContaining('more rules') as string })
  expect(ask(...times(99, long))).toEqual({ allowed: false, reason: '' })
})

it('bindings of roles that allow nothing are looked at as far, too', () => {
  const bound = { kind: 'K', name: 'b', namespace: '', roleRef: { kind: 'ClusterRole', name: 'r' }, subjects: [] }
  let looks = 0
  function* many() {
    for (; looks < 1_000_000; looks++) yield bound
  }
  const empty = { ...book(), bindingsOf: many, rulesOf: () => [] }
  expect(authorize(alice, getPods, empty)).toMatchObject({
    allowed: false,
    reason: expect.stringContaining('more rules'),
  })
  expect(looks).toBe(100_000)
})
