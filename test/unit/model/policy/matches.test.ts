import { describe, expect, it } from 'vitest'
import { matchesResources, matchesRules, ruledForm, type Matched } from '../../../../shared/model/policy/matches.ts'
import type { MatchResources, ResourceRule } from '../../../../shared/model/policy/policy.ts'
import { storedWidget } from '../../../support/stored-object.ts'

const rule: ResourceRule = {
  apiGroups: ['example.com'],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: ['widgets'],
}
const plain = storedWidget('w').object
const request: Matched = {
  groups: ['example.com'],
  versions: ['v1', 'v2'],
  plural: 'widgets',
  subresource: '',
  operation: 'CREATE',
  name: 'w',
  isNamespaced: true,
  objects: [plain],
  namespaceLabels: { team: 'a' },
}
const anyRule: ResourceRule = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }

describe('a rule', () => {
  it.each<[string, Partial<ResourceRule>, Partial<Matched>, boolean]>([
    ['of the same', {}, {}, true],
    ['of another group', { apiGroups: ['other.dev'] }, {}, false],
    ['of several groups', { apiGroups: ['other.dev', 'example.com'] }, {}, true],
    ['of every group', { apiGroups: ['*'] }, {}, true],
    ['of no group', { apiGroups: undefined as never }, {}, false],
    ['of another operation', { operations: ['UPDATE'] }, {}, false],
    ['of every operation', { operations: ['*'] }, {}, true],
    ['of no operation', { operations: undefined as never }, {}, false],
    ['of another resource', { resources: ['gadgets'] }, {}, false],
    ['of every resource', { resources: ['*'] }, {}, true],
    ['of every resource and subresource', { resources: ['*/*'] }, {}, true],
    ['of no resource', { resources: undefined as never }, {}, false],
    ['of the subresources of all', { resources: ['*/status'] }, {}, false],
    ['of the same and its subresources', { resources: ['widgets/*'] }, {}, true],
    ['of another and its subresources', { resources: ['gadgets/*'] }, {}, false],
    ['of the subresource', { resources: ['widgets/status'] }, { subresource: 'status' }, true],
    ['of another subresource', { resources: ['widgets/scale'] }, { subresource: 'status' }, false],
    ['of the whole, not of its subresource', {}, { subresource: 'status' }, false],
    ['of every resource, not of its subresource', { resources: ['*'] }, { subresource: 'status' }, false],
    ['of every subresource of the same', { resources: ['widgets/*'] }, { subresource: 'status' }, true],
    ['of every subresource of another', { resources: ['gadgets/*'] }, { subresource: 'status' }, false],
    ['of this subresource of all', { resources: ['*/status'] }, { subresource: 'status' }, true],
    ['of another subresource of all', { resources: ['*/scale'] }, { subresource: 'status' }, false],
    ['of all and their subresources', { resources: ['*/*'] }, { subresource: 'status' }, true],
    ['of this name', { resourceNames: ['v', 'w'] }, {}, true],
    ['of another name', { resourceNames: ['v'] }, {}, false],
    ['of every name', { resourceNames: [] }, {}, true],
    ['of every scope', { scope: '*' }, {}, true],
    ['of namespaces', { scope: 'Namespaced' }, {}, true],
    ['of namespaces, for the cluster', { scope: 'Namespaced' }, { isNamespaced: false }, false],
    ['of the cluster', { scope: 'Cluster' }, { isNamespaced: false }, true],
    ['of the cluster, for a namespace', { scope: 'Cluster' }, {}, false],
    ['of no version', { apiVersions: undefined as never }, {}, false],
  ])('%s', (...row) => {
    const [, more, asked, isLet] = row
    const whole = { ...request, ...asked }
    expect(matchesRules({ resourceRules: [{ ...rule, ...more }] }, whole)).toBe(isLet)
    expect(matchesRules({ excludeResourceRules: [{ ...rule, ...more }] }, whole)).toBe(!isLet)
    expect(matchesRules({ resourceRules: [anyRule], excludeResourceRules: [{ ...rule, ...more }] }, whole)).toBe(!isLet)
  })
})

describe('the form in which rules speak of a request', () => {
  const of = (...apiVersions: readonly string[]): ResourceRule => ({ ...rule, apiVersions })
  it.each<[string, MatchResources | undefined, string | undefined]>([
    ['is its own without rules', undefined, 'v1'],
    ['is its own where none are given', {}, 'v1'],
    ['is its own if they do of that', { resourceRules: [of('v2', 'v1')] }, 'v1'],
    ['is its own if another rule does', { resourceRules: [of('v2'), of('v1')] }, 'v1'],
    ['is another in which there is the same', { resourceRules: [of('v2')] }, 'v2'],
    ['is no other if they are exact', { resourceRules: [of('v2')], matchPolicy: 'Exact' }, undefined],
    ['is its own if they are exact', { resourceRules: [of('v1')], matchPolicy: 'Exact' }, 'v1'],
    ['is any', { resourceRules: [of('*')] }, 'v1'],
    ['is none that is not served', { resourceRules: [of('v3')] }, undefined],
    ['is none if it is excluded', { excludeResourceRules: [of('v1')] }, undefined],
    ['is none if the same is excluded in another', { excludeResourceRules: [of('v2')] }, undefined],
    [
      'is its own if only another is excluded, exactly',
      { excludeResourceRules: [of('v2')], matchPolicy: 'Exact' },
      'v1',
    ],
  ])('%s', (_what, match, version) => {
    expect(ruledForm(match, request)).toEqual(version && { group: 'example.com', version })
    expect(matchesRules(match, request)).toBe(version !== undefined)
  })

  const both = { ...request, groups: ['new.dev', 'example.com'] }
  const inNew = { ...rule, apiGroups: ['new.dev'], apiVersions: ['*'] }
  it.each<[string, MatchResources | undefined, readonly string[] | undefined]>([
    ['is of its own group without rules', undefined, ['new.dev', 'v1']],
    ['is of its own group if they name that', { resourceRules: [of('v1'), inNew] }, ['new.dev', 'v1']],
    ['is of the other group if they name that', { resourceRules: [of('v2')] }, ['example.com', 'v2']],
    ['is of no other group if they are exact', { resourceRules: [of('v1')], matchPolicy: 'Exact' }, undefined],
    ['is none if the other group is excluded', { excludeResourceRules: [of('v1')] }, undefined],
    [
      'is of its own group if only the other is excluded, exactly',
      { excludeResourceRules: [of('v1')], matchPolicy: 'Exact' },
      ['new.dev', 'v1'],
    ],
  ])('%s', (_what, match, form) => {
    const found = ruledForm(match, both)
    expect(found && [found.group, found.version]).toEqual(form)
  })
})

describe('selectors', () => {
  const isA = { matchLabels: { team: 'a' } }
  const labelled = storedWidget('w', { labels: { team: 'a' } }).object
  it.each<[string, MatchResources | undefined, Partial<Matched>, boolean]>([
    ['let all through where there are none', undefined, {}, true],
    ['let all through that rules do', { resourceRules: [rule] }, {}, true],
    ['count beside rules', { resourceRules: [], excludeResourceRules: [rule], namespaceSelector: isA }, {}, false],
    ['of a namespace that fits', { namespaceSelector: isA }, {}, true],
    ['of a namespace that does not', { namespaceSelector: isA }, { namespaceLabels: {} }, false],
    ['of what is in no namespace', { namespaceSelector: isA }, { namespaceLabels: undefined }, true],
    ['of an object without labels', { objectSelector: isA }, {}, false],
    ['of an object that fits', { objectSelector: isA }, { objects: [labelled] }, true],
    ['of an object that did fit', { objectSelector: isA }, { objects: [plain, labelled] }, true],
    ['of no object', { objectSelector: isA }, { objects: [] }, false],
    [
      'of both, where one fits',
      { objectSelector: isA, namespaceSelector: isA },
      { namespaceLabels: {}, objects: [labelled] },
      false,
    ],
  ])('%s', (...row) => {
    const [, match, asked, isLet] = row
    expect(matchesResources(match, { ...request, ...asked })).toBe(isLet)
  })
})
