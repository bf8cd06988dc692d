import { expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import { checkMatching } from '../../../shared/resources/matching-checks.ts'

const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['a', 'b/status'] }

it.each<[JsonObject, readonly string[]]>([
  [{}, []],
  [{ rules: [rule], resourceRules: [rule], excludeResourceRules: [rule] }, []],
  [
    { rules: [{}] },
    ['operations', 'apiGroups', 'apiVersions', 'resources'].map((name) => `rules[0].${name}: Required`),
  ],
  [{ resourceRules: [rule, { ...rule, apiVersions: [] }] }, ['resourceRules[1].apiVersions: Required']],
  [{ rules: [{ ...rule, apiVersions: ['v1', ''] }] }, ['rules[0].apiVersions[1]: Required']],
  [{ rules: [{ ...rule, resources: ['', 'a'] }] }, ['rules[0].resources[0]: Required']],
  [{ rules: [{ ...rule, operations: ['*'], apiGroups: ['*'], resources: ['*', 'a/status'] }] }, []],
  [
    { rules: [{ ...rule, operations: ['*', 'CREATE'] }] },
    ['rules[0].operations: Invalid value: ["*","CREATE"]: if \'*\''],
  ],
  [{ rules: [{ ...rule, resources: ['*', 'a'] }] }, ['rules[0].resources: Invalid']],
  [
    { rules: [{ ...rule, resources: ['*/*', 'a/b'] }] },
    ['rules[0].resources: Invalid value: ["*/*","a/b"]: if \'*/*\''],
  ],
  [{ objectSelector: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'a', operator: 'Exists' }] } }, []],
  [{ objectSelector: { matchLabels: { 'a b': 'b' } } }, ['objectSelector.matchLabels: Invalid']],
  [
    { selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    ['selector.matchExpressions[0].values: Required'],
  ],
  [
    { namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'exists' }] } },
    ['namespaceSelector.matchExpressions[0].operator: Invalid'],
  ],
  [
    { selector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] } },
    ['selector.matchExpressions[0].values: Invalid'],
  ],
  [{ matchConditions: [{ name: 'example.com/a' }] }, []],
  [{ matchConditions: [{ name: 'a' }, { name: 'a b' }] }, ['matchConditions[1].name: Invalid']],
])('%j: %j', (match, errors) => {
  const found = checkMatching(match, 'at').map(({ field, message }) => `${field}: ${message}`)
  expect(found).toEqual(errors.map((error) => expect.stringContaining(`at.${error}`)))
})
