import { describe, expect, it } from 'vitest'
import { findUncovered, ruleAllows, rulesText, weightOf } from '../../../../shared/model/access/rule-allows.ts'
import type { Attributes, PolicyRule, ResourceAttributes } from '../../../../shared/model/access/rules.ts'
import { processorMs } from '../../../support/processor-time.ts'

const none: PolicyRule = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] }
const pods: PolicyRule = { ...none, verbs: ['get'], apiGroups: [''], resources: ['pods'] }
const url: PolicyRule = { ...none, verbs: ['get'], nonResourceURLs: ['/a'] }
const getPod: ResourceAttributes = {
  verb: 'get',
  group: '',
  resource: 'pods',
  subresource: '',
  name: 'x',
  namespace: 'n',
}

describe('a rule allows', () => {
  it.each<[string, Partial<PolicyRule>, Partial<ResourceAttributes>, boolean]>([
    ['what it says', {}, {}, true],
    ['no other verb', {}, { verb: 'list' }, false],
    ['every verb', { verbs: ['*'] }, { verb: 'list' }, true],
    ['no other group', {}, { group: 'apps' }, false],
    ['every group', { apiGroups: ['*'] }, { group: 'apps' }, true],
    ['no other resource', {}, { resource: 'secrets' }, false],
    ['every resource', { resources: ['*'] }, { resource: 'secrets' }, true],
    ['every resource with its subresources', { resources: ['*'] }, { subresource: 'status' }, true],
    ['no subresource of a resource', {}, { subresource: 'status' }, false],
    ['a subresource', { resources: ['pods/status'] }, { subresource: 'status' }, true],
    ['no resource of a subresource', { resources: ['pods/status'] }, {}, false],
    ['a subresource of all', { resources: ['*/status'] }, { subresource: 'status' }, true],
    ['no other subresource of all', { resources: ['*/scale'] }, { subresource: 'status' }, false],
    ['one name', { resourceNames: ['y', 'x'] }, {}, true],
    ['no other name', { resourceNames: ['y'] }, {}, false],
    ['no collection by a name', { resourceNames: ['x'] }, { name: '' }, false],
    ['whatever name it is', {}, { isOfAnyName: true }, true],
    ['nothing of any name by a name', { resourceNames: ['x'] }, { isOfAnyName: true }, false],
  ])('%s', (...row) => {
    const [, rule, asked, allows] = row
    expect(ruleAllows({ ...pods, ...rule }, { ...getPod, ...asked })).toBe(allows)
    expect(ruleAllows({ ...pods, ...rule }, { verb: 'get', path: '/pods' })).toBe(false)
  })

  it.each([
    ['/a', '/a', true],
    ['/a', '/a/b', false],
    ['/a/*', '/a/b', true],
    ['/a/*', '/a', false],
    ['/a*', '/a', true],
    ['/a/**', '/a/b', true],
    ['*', '/a', true],
    ['/*/b', '/a/b', false],
  ])('by the path %s the path %s: %s', (allowed, path, allows) => {
    const rule = { ...url, nonResourceURLs: ['/other', allowed] }
    expect(ruleAllows(rule, { verb: 'get', path })).toBe(allows)
    expect(ruleAllows(rule, { verb: 'post', path })).toBe(false)
    expect(ruleAllows(rule, getPod)).toBe(false)
  })
})

it('a path of very many stars is held against another in time by its length', () => {
  const stars = '*'.repeat(100_000)
  const rule = { ...url, nonResourceURLs: [`${stars}a*`] }
  const tookMs = processorMs(() => {
    expect(ruleAllows(rule, { verb: 'get', path: `${stars}ab` })).toBe(true)
  })
  expect(tookMs).toBeLessThan(300)
})

describe('what of wanted rules is not covered', () => {
  it.each<[string, readonly PolicyRule[], PolicyRule, number]>([
    ['is nothing of the same', [pods], pods, 0],
    ['is all where there is nothing', [], pods, 1],
    ['is each verb of each resource', [], { ...pods, verbs: ['get', 'list'], resources: ['pods', 'secrets'] }, 4],
    ['is each verb of each path', [], { ...url, verbs: ['get', 'head'], nonResourceURLs: ['/a', '/b'] }, 4],
    ['is each name', [], { ...pods, resourceNames: ['a', 'b', 'c'] }, 3],
    [
      'is what no one rule covers alone',
      [
        { ...pods, verbs: ['list'] },
        { ...pods, apiGroups: ['apps'] },
      ],
      pods,
      1,
    ],
    ['is nothing that one of several covers', [{ ...pods, verbs: ['list'] }, pods], pods, 0],
    ['is nothing under every verb', [{ ...pods, verbs: ['*'] }], { ...pods, verbs: ['get', 'list'] }, 0],
    ['is nothing in every group', [{ ...pods, apiGroups: ['*'] }], { ...pods, apiGroups: ['', 'apps'] }, 0],
    ['is nothing of every resource', [{ ...pods, resources: ['*'] }], { ...pods, resources: ['a', 'a/b'] }, 0],
    ['is every verb under some', [{ ...pods, verbs: ['get', 'list'] }], { ...pods, verbs: ['*'] }, 1],
    ['is every resource under some', [pods], { ...pods, resources: ['*'] }, 1],
    ['is nothing of a subresource of all', [{ ...pods, resources: ['*/b'] }], { ...pods, resources: ['a/b'] }, 0],
    ['is another subresource of all', [{ ...pods, resources: ['*/c'] }], { ...pods, resources: ['a/b'] }, 1],
    [
      'is nothing of a subresource of what has no name',
      [{ ...pods, resources: ['*/b'] }],
      { ...pods, resources: ['/b'] },
      0,
    ],
    ['is a resource under subresources', [{ ...pods, resources: ['*/pods'] }], pods, 1],
    ['is a subresource under its resource', [pods], { ...pods, resources: ['pods/status'] }, 1],
    ['is nothing of a name', [pods], { ...pods, resourceNames: ['a'] }, 0],
    ['is all names under some', [{ ...pods, resourceNames: ['a'] }], pods, 1],
    ['is nothing of one name of two', [{ ...pods, resourceNames: ['a', 'b'] }], { ...pods, resourceNames: ['b'] }, 0],
    ['is one name of two', [{ ...pods, resourceNames: ['a'] }], { ...pods, resourceNames: ['a', 'b'] }, 1],
    ['is nothing below a path', [{ ...url, nonResourceURLs: ['/a/*'] }], { ...url, nonResourceURLs: ['/a/b/*'] }, 0],
    ['is a path above', [{ ...url, nonResourceURLs: ['/a/*'] }], { ...url, nonResourceURLs: ['/*'] }, 1],
    ['is nothing of a path and a resource', [url, pods], { ...url, ...pods, nonResourceURLs: ['/a'] }, 0],
  ])('%s', (...row) => {
    const [, held, wanted, count] = row
    expect(findUncovered(held, [wanted])).toHaveLength(count)
    expect(findUncovered(held, [wanted, wanted])).toHaveLength(2 * count)
  })

  it('is told in its smallest parts, a hundred at most', () => {
    expect(findUncovered([], [{ ...pods, resourceNames: ['a', 'b'] }])).toEqual([
      { ...pods, resourceNames: ['a'] },
      { ...pods, resourceNames: ['b'] },
    ])
    const many = { ...pods, resources: Array.from({ length: 101 }, (_, i) => `r${i}`) }
    expect(findUncovered([], [many])).toHaveLength(100)
    expect(findUncovered([], [{ ...many, resources: many.resources.slice(0, 99) }, url])).toHaveLength(100)
  })

  it('is what would be too much work', () => {
    const ofWeight = (weight: number, rule: PolicyRule): PolicyRule => {
      const more = Array(weight - weightOf(rule)).fill('x') as string[]
      return { ...rule, resources: [...rule.resources, ...more] }
    }
    const long = ofWeight(30_000, { ...none, verbs: ['list'] })
    const isCovered = (last: number): boolean => {
      const held = [...Array.from({ length: 99 }, () => long), ofWeight(last, pods)]
      return findUncovered(held, [pods]).length === 0
    }
    // To look at the part counts, too, and there may be 3,000,000 in all.
    expect([isCovered(29_999), isCovered(30_000)]).toEqual([true, false])
  })
})

it('the weight of a rule grows with all that it says', () => {
  const rule = { verbs: ['a'], apiGroups: ['a', 'b'], resources: ['a'], resourceNames: ['a', 'b', 'c'] }
  expect(weightOf({ ...rule, nonResourceURLs: ['a', 'b'] })).toBe(10)
  expect(weightOf(none)).toBe(1)
})

it.each<[readonly PolicyRule[], string]>([
  [[], ''],
  [[pods], '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
  [[pods, { ...pods, verbs: ['list'] }], '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}'],
  [
    [pods, { ...pods, apiGroups: ['a'] }],
    '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}\n{APIGroups:["a"], Resources:["pods"], Verbs:["get"]}',
  ],
  [
    [{ ...pods, resourceNames: ['a'] }, { ...pods, resourceNames: ['a'] }, pods],
    '{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["get"]}\n{APIGroups:[""], Resources:["pods"], Verbs:["get"]}',
  ],
  [
    [url, { ...url, verbs: ['head'] }, url],
    '{NonResourceURLs:["/a"], Verbs:["get"]}\n{NonResourceURLs:["/a"], Verbs:["head"]}',
  ],
])('rules in words, %#', (rules, text) => {
  expect(rulesText(rules)).toBe(text)
})

it('a question about a path is none about a resource, whatever the rule', () => {
  const everything = { ...none, verbs: ['*'], apiGroups: ['*'], resources: ['*'] }
  const path: Attributes = { verb: 'get', path: '/' }
  expect([ruleAllows(everything, path), ruleAllows({ ...none, verbs: ['*'], nonResourceURLs: ['*'] }, path)]).toEqual([
    false,
    true,
  ])
})
