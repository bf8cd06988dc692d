import { describe, expect, it } from 'vitest'
import { accountTokenSecondsMax } from '../../../../shared/model/access/account-token.ts'
import { aggregationOf, fitsSelector } from '../../../../shared/model/access/aggregation.ts'
import { roleRefOf, rulesOf, subjectsOf } from '../../../../shared/model/access/rules.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'

const none = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] }

it.each<[JsonObject, readonly object[]]>([
  [{}, []],
  [{ rules: 'x' }, []],
  [{ rules: [5, null, {}] }, [none]],
  [{ rules: [{ verbs: ['get', 5], apiGroups: 'x', resources: null }] }, [{ ...none, verbs: ['get'] }]],
])('the rules of %j', (role, rules) => {
  expect(rulesOf(role)).toEqual(rules)
})

it.each<[JsonObject, readonly object[], object]>([
  [{}, [], { kind: '', name: '' }],
  [{ subjects: 'x', roleRef: 'x' }, [], { kind: '', name: '' }],
  [
    { subjects: [5, { kind: 'User', name: 5 }], roleRef: { kind: 'Role', name: 'r' } },
    [{ kind: 'User', name: '', namespace: '' }],
    { kind: 'Role', name: 'r' },
  ],
])('the subjects and the role of %j', (binding, subjects, role) => {
  expect([subjectsOf(binding), roleRefOf(binding)]).toEqual([subjects, role])
})

it.each<[JsonObject, readonly JsonObject[] | undefined]>([
  [{}, undefined],
  [{ aggregationRule: 'x' }, undefined],
  [{ aggregationRule: {} }, []],
  [{ aggregationRule: { clusterRoleSelectors: [{ a: 1 }, 5] } }, [{ a: 1 }]],
])('the selectors by which %j gathers', (role, selectors) => {
  expect(aggregationOf(role)).toEqual(selectors)
})

describe('a selector', () => {
  const labels = { a: 'x', b: '' }
  const key = (operator: string, name: string, values?: string[]): JsonObject => ({
    matchExpressions: [{ key: name, operator, ...(values && { values }) }],
  })
  it.each<[JsonObject, boolean]>([
    [{}, true],
    [{ matchLabels: 'x', matchExpressions: 'x' }, true],
    [{ matchLabels: { a: 'x' } }, true],
    [{ matchLabels: { a: 'y' } }, false],
    [{ matchLabels: { c: 'x' } }, false],
    [{ matchLabels: { constructor: 'x' } }, false],
    [{ matchLabels: { a: 'x', b: '' } }, true],
    [{ matchLabels: { a: 'x', b: 'y' } }, false],
    [key('In', 'a', ['y', 'x']), true],
    [key('In', 'a', ['y']), false],
    [key('In', 'c', ['x']), false],
    [key('In', 'b', ['']), true],
    [key('NotIn', 'a', ['x']), false],
    [key('NotIn', 'a', ['y']), true],
    [key('NotIn', 'c', ['x']), true],
    [key('Exists', 'b'), true],
    [key('Exists', 'c'), false],
    [key('Exists', 'constructor'), false],
    [key('DoesNotExist', 'c'), true],
    [key('DoesNotExist', 'b'), false],
    [key('Other', 'a', ['x']), false],
    [key('Other', 'c'), false],
    [{ matchExpressions: [{ key: 5, operator: 'Exists' }] }, false],
    [
      {
        matchExpressions: [
          { key: 'a', operator: 'Exists' },
          { key: 'b', operator: 'DoesNotExist' },
        ],
      },
      false,
    ],
    [{ matchLabels: { a: 'x' }, ...key('Exists', 'c') }, false],
    [{ matchLabels: { a: 'y' }, ...key('Exists', 'a') }, false],
  ])('%j fits: %s', (selector, fits) => {
    expect(fitsSelector(selector, labels)).toBe(fits)
  })
})

it('a token of a ServiceAccount holds a year at most', () => {
  expect(accountTokenSecondsMax).toBe(31_536_000)
})
