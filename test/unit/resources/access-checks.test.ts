import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { FieldError } from '../../../shared/model/schema/field-error.ts'
import { checkBinding, checkRole, withSubjectGroups } from '../../../shared/resources/access-checks.ts'

const group = 'rbac.authorization.k8s.io'

/** `verbs Required`, for each error. */
function namesOf(errors: readonly FieldError[], prefix = ''): readonly string[] {
  return errors.map(({ field, reason }) => `${field.replace(prefix, '')} ${reason.replace('FieldValue', '')}`)
}

const object = (kind: string, content: object): ApiObject =>
  ({ kind, metadata: {}, ...content }) as unknown as ApiObject

describe('a rule of a role', () => {
  const whole = { verbs: ['get'], apiGroups: [''], resources: ['secrets'] }
  const urls = { verbs: ['get'], nonResourceURLs: ['/healthz'] }
  it.each<[string, JsonObject, readonly string[], readonly string[]]>([
    ['is whole', whole, [], []],
    ['has no verb', { ...whole, verbs: [] }, ['verbs Required'], ['verbs Required']],
    ['has no group', { ...whole, apiGroups: [] }, ['apiGroups Required'], ['apiGroups Required']],
    ['has no resource', { ...whole, resources: [] }, ['resources Required'], ['resources Required']],
    [
      'has nothing',
      {},
      ['verbs', 'apiGroups', 'resources'].map((one) => `${one} Required`),
      ['verbs', 'apiGroups', 'resources'].map((one) => `${one} Required`),
    ],
    ['is of paths', urls, [], ['nonResourceURLs Invalid']],
    [
      'is of paths, and has no verb',
      { ...urls, verbs: [] },
      ['verbs Required'],
      ['verbs Required', 'nonResourceURLs Invalid'],
    ],
    [
      'is of paths and a group',
      { ...urls, apiGroups: [''] },
      ['nonResourceURLs Invalid'],
      ['nonResourceURLs Invalid', 'nonResourceURLs Invalid'],
    ],
    [
      'is of paths and a resource',
      { ...urls, resources: ['a'] },
      ['nonResourceURLs Invalid'],
      ['nonResourceURLs Invalid', 'nonResourceURLs Invalid'],
    ],
    [
      'is of paths and a name',
      { ...urls, resourceNames: ['a'] },
      ['nonResourceURLs Invalid'],
      ['nonResourceURLs Invalid', 'nonResourceURLs Invalid'],
    ],
  ])('that %s', (_what, rule, ofCluster, ofNamespace) => {
    expect(namesOf(checkRole(object('ClusterRole', { rules: [rule] })), 'rules[0].')).toEqual(ofCluster)
    expect(namesOf(checkRole(object('Role', { rules: [rule] })), 'rules[0].')).toEqual(ofNamespace)
  })

  it('is named by its place', () => {
    const errors = checkRole(object('Role', { rules: [whole, { ...whole, verbs: [] }] }))
    expect(namesOf(errors)).toEqual(['rules[1].verbs Required'])
    expect(checkRole(object('ClusterRole', {}))).toEqual([])
  })
})

describe('an aggregation of roles', () => {
  const path = 'aggregationRule.clusterRoleSelectors'
  const check = (selectors: readonly object[], kind = 'ClusterRole'): readonly string[] =>
    namesOf(checkRole(object(kind, { aggregationRule: { clusterRoleSelectors: selectors } })), `${path}[0].`)

  it.each<[string, readonly object[], readonly string[]]>([
    ['no selector', [], [`${path} Required`]],
    ['a label', [{ matchLabels: { 'example.com/a': 'b', A: 'c' } }], []],
    ['a label of no name', [{ matchLabels: { 'a b': 'c' } }], ['matchLabels Invalid']],
    ['what is no map of labels', [{ matchLabels: 'x' }], []],
    ['one of several', [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }], []],
    [
      'one of none',
      [{ matchExpressions: [{ key: 'a', operator: 'In', values: [] }] }],
      ['matchExpressions[0].values Required'],
    ],
    [
      'none of none',
      [{ matchExpressions: [{ key: 'a', operator: 'NotIn' }] }],
      ['matchExpressions[0].values Required'],
    ],
    ['none of several', [{ matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['b'] }] }], []],
    ['a label that is there', [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }], []],
    [
      'a label that is there, by values',
      [{ matchExpressions: [{ key: 'a', operator: 'DoesNotExist', values: ['b'] }] }],
      ['matchExpressions[0].values Invalid'],
    ],
    ['no operator', [{ matchExpressions: [{ key: 'a' }] }], ['matchExpressions[0].operator Invalid']],
    ['no key', [{ matchExpressions: [{ operator: 'Exists' }] }], ['matchExpressions[0].key Invalid']],
    [
      'a key that is none',
      [{ matchExpressions: [{ key: 'a b', operator: 'In', values: ['x'] }] }],
      ['matchExpressions[0].key Invalid'],
    ],
    [
      'all wrong',
      [
        {
          matchExpressions: [
            { key: 5, operator: 'In' },
            { key: '!', operator: 'Is' },
            { key: '', operator: 'Exists', values: ['a'] },
          ],
        },
      ],
      ['values Required', 'key Invalid']
        .map((one) => `matchExpressions[0].${one}`)
        .concat(
          ['operator Invalid', 'key Invalid'].map((one) => `matchExpressions[1].${one}`),
          ['values Invalid', 'key Invalid'].map((one) => `matchExpressions[2].${one}`),
        ),
    ],
  ])('by %s', (_what, selectors, errors) => {
    expect(check(selectors)).toEqual(errors)
    expect(check(selectors, 'Role')).toEqual([])
  })

  it('of several selectors names the wrong one', () => {
    expect(check([{}, { matchLabels: { '!': 'c' } }])).toEqual([`${path}[1].matchLabels Invalid`])
  })
})

describe('a binding', () => {
  const roleRef = { apiGroup: group, kind: 'ClusterRole', name: 'a' }
  const user = { kind: 'User', name: 'u', apiGroup: group }
  const account = { kind: 'ServiceAccount', name: 'a', namespace: 'n' }
  const check = (
    content: object,
    { kind = 'RoleBinding', live }: { readonly kind?: string; readonly live?: object } = {},
  ) => namesOf(checkBinding(object(kind, { roleRef, ...content }), live && object(kind, live)))

  it.each<[string, object, readonly string[], readonly string[]]>([
    ['a ClusterRole', {}, [], []],
    ['a Role', { roleRef: { ...roleRef, kind: 'Role' } }, [], ['roleRef.kind NotSupported']],
    [
      'another kind',
      { roleRef: { ...roleRef, kind: 'User' } },
      ['roleRef.kind NotSupported'],
      ['roleRef.kind NotSupported'],
    ],
    [
      'a role of another group',
      { roleRef: { ...roleRef, apiGroup: '' } },
      ['roleRef.apiGroup NotSupported'],
      ['roleRef.apiGroup NotSupported'],
    ],
    [
      'a role without a name',
      { roleRef: { ...roleRef, name: '' } },
      ['roleRef.name Required'],
      ['roleRef.name Required'],
    ],
    ['a role of no name', { roleRef: { ...roleRef, name: 'a/b' } }, ['roleRef.name Invalid'], ['roleRef.name Invalid']],
    [
      'nothing',
      { roleRef: 'x' },
      ['roleRef.apiGroup NotSupported', 'roleRef.kind NotSupported', 'roleRef.name Required'],
      ['roleRef.apiGroup NotSupported', 'roleRef.kind NotSupported', 'roleRef.name Required'],
    ],
  ])('to %s', (_what, content, inNamespace, inCluster) => {
    expect(check(content)).toEqual(inNamespace)
    expect(check(content, { kind: 'ClusterRoleBinding' })).toEqual(inCluster)
  })

  it.each<[string, object, readonly string[], readonly string[]]>([
    ['a user', user, [], []],
    ['a group', { ...user, kind: 'Group' }, [], []],
    ['a user without a name', { ...user, name: '' }, ['name Required'], ['name Required']],
    ['a user of no group', { kind: 'User', name: 'u' }, ['apiGroup NotSupported'], ['apiGroup NotSupported']],
    ['an account', account, [], []],
    ['an account of a group', { ...account, apiGroup: group }, ['apiGroup NotSupported'], ['apiGroup NotSupported']],
    ['an account without a name', { ...account, name: '' }, ['name Required'], ['name Required']],
    ['an account of no name', { ...account, name: 'A' }, ['name Invalid'], ['name Invalid']],
    ['an account of no namespace', { kind: 'ServiceAccount', name: 'a' }, [], ['namespace Required']],
    ['somebody else', { kind: 'Robot', name: 'r' }, ['kind NotSupported'], ['kind NotSupported']],
    ['nobody', {}, ['name Required', 'kind NotSupported'], ['name Required', 'kind NotSupported']],
  ])('for %s', (_what, subject, inNamespace, inCluster) => {
    const subjects = [user, subject]
    expect(check({ subjects }).map((one) => one.replace('subjects[1].', ''))).toEqual(inNamespace)
    const ofCluster = check({ subjects }, { kind: 'ClusterRoleBinding' })
    expect(ofCluster.map((one) => one.replace('subjects[1].', ''))).toEqual(inCluster)
  })

  it('keeps its role', () => {
    expect(check({}, { live: { roleRef } })).toEqual([])
    expect(check({}, { live: { roleRef: { ...roleRef, name: 'b' } } })).toEqual(['roleRef Invalid'])
  })

  it.each<[string, object, object]>([
    ['says its groups', { roleRef, subjects: [user, account] }, { roleRef, subjects: [user, account] }],
    [
      'says none',
      { roleRef: { kind: 'Role' }, subjects: [{ kind: 'User' }, account] },
      { roleRef: { kind: 'Role', apiGroup: group }, subjects: [{ kind: 'User', apiGroup: group }, account] },
    ],
    [
      'says that of its role',
      { roleRef, subjects: [{ kind: 'User' }] },
      { roleRef, subjects: [{ kind: 'User', apiGroup: group }] },
    ],
    [
      'says that of its subjects',
      { roleRef: { kind: 'Role' }, subjects: [user] },
      { roleRef: { kind: 'Role', apiGroup: group }, subjects: [user] },
    ],
    [
      'says empty ones, as programs in Go do',
      {
        roleRef: { kind: 'Role', apiGroup: '' },
        subjects: [
          { kind: 'User', apiGroup: '' },
          { ...account, apiGroup: '' },
        ],
      },
      {
        roleRef: { kind: 'Role', apiGroup: group },
        subjects: [
          { kind: 'User', apiGroup: group },
          { ...account, apiGroup: '' },
        ],
      },
    ],
    ['has no subjects', { roleRef: { kind: 'Role' } }, { roleRef: { kind: 'Role', apiGroup: group } }],
    ['has no role', { subjects: [{ kind: 'Group' }, 'x'] }, { subjects: [{ kind: 'Group', apiGroup: group }, 'x'] }],
  ])('that %s is completed', (_what, given, whole) => {
    const binding = object('RoleBinding', given)
    expect(withSubjectGroups(binding)).toStrictEqual(object('RoleBinding', whole))
  })

  it('that says all is left as it is', () => {
    const binding = object('RoleBinding', { roleRef, subjects: [account] })
    expect(withSubjectGroups(binding)).toBe(binding)
    const odd = object('RoleBinding', { roleRef: 'x' })
    expect(withSubjectGroups(odd)).toBe(odd)
  })
})
