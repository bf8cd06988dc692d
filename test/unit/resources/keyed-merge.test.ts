import { expect, it } from 'vitest'
import { policyKind } from '../../../shared/resources/policy-kinds.ts'
import { mutatingWebhookKind } from '../../../shared/resources/webhook-kinds.ts'
import { mergeByKeys } from '../../../shared/resources/keyed-merge.ts'
import { mergePatch } from '../../../shared/resources/merge-patch.ts'
import { strategicAsMerge } from '../../../shared/api/strategic-patch.ts'

/** Strategic merge patches as kubectl's apply sends them for kinds that it is compiled with. */
const { schema } = mutatingWebhookKind
const live = { webhooks: [{ name: 'a', url: '1', rules: [{ x: 1 }] }, { name: 'b' }, { name: 'server' }] }

it('items of lists with keys merge, go by $patch, and stand in the order that is said', () => {
  const patch = {
    '$setElementOrder/webhooks': [{ name: 'c' }, { name: 'a' }],
    webhooks: [
      { name: 'a', url: '2', rules: [{ y: 2 }] },
      { name: 'b', $patch: 'delete' },
      { name: 'c', url: '3' },
    ],
  }
  expect(strategicAsMerge(mutatingWebhookKind, patch)).toBe(patch)
  expect(mergeByKeys(live, patch, schema)).toEqual({
    webhooks: [{ name: 'c', url: '3' }, { name: 'a', url: '2', rules: [{ y: 2 }] }, { name: 'server' }],
  })
  expect(live.webhooks).toHaveLength(3)
})

it('lists within items merge by their own keys, and null takes a field away', () => {
  const before = { spec: { variables: [{ name: 'x', expression: '1' }], validations: [{ expression: 'a' }] } }
  const patch = {
    spec: { variables: [{ name: 'y', expression: '2' }], validations: [{ expression: 'b' }], failurePolicy: null },
  }
  expect(mergeByKeys(before, patch, policyKind.schema)).toEqual({
    spec: {
      variables: [
        { name: 'x', expression: '1' },
        { name: 'y', expression: '2' },
      ],
      validations: [{ expression: 'b' }],
    },
  })
})

it.each([{ a: { b: [1] }, c: null }, { a: { b: null } }, {}])('without such lists it is a merge patch: %j', (patch) => {
  const target = { a: { b: [0], d: 1 }, c: 2 }
  expect(mergeByKeys(target, patch, schema)).toEqual(mergePatch(target, patch))
})

it.each([
  [{ metadata: { finalizers: ['a'] } }, 'metadata.finalizers'],
  [{ $retainKeys: ['a'] }, '$retainKeys'],
  [{ webhooks: [{ name: 'a', $patch: 'replace' }] }, 'webhooks.$patch'],
  [{ '$setElementOrder/rules': [] }, '$setElementOrder/rules'],
])('what merges in other ways is refused: %j', (patch, field) => {
  expect(() => strategicAsMerge(mutatingWebhookKind, patch)).toThrow(`and ${field} is not such a field`)
})
