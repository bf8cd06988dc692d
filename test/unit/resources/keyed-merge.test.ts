import { expect, it } from 'vitest'
import { policyKind } from '../../../shared/resources/policy-kinds.ts'
import { mutatingWebhookKind } from '../../../shared/resources/webhook-kinds.ts'
import { mergeByKeys, mergeKeyOf, withMetadataLists } from '../../../shared/resources/keyed-merge.ts'
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
  [{ metadata: { managedFields: [{}] } }, 'metadata.managedFields'],
  [{ $retainKeys: ['a'] }, '$retainKeys'],
  [{ webhooks: [{ name: 'a', $patch: 'replace' }] }, 'webhooks.$patch'],
  [{ '$setElementOrder/rules': [] }, '$setElementOrder/rules'],
])('what merges in other ways is refused: %j', (patch, field) => {
  expect(() => strategicAsMerge(mutatingWebhookKind, patch)).toThrow(`and ${field} is not such a field`)
})

it('merges whatever is sent: other orders, other types, items without names', () => {
  const ofPatch = (patch: object, target: object | undefined = live): unknown =>
    mergeByKeys(target as never, patch as never, schema)
  // An order alone moves items; one that is no list says nothing.
  expect(ofPatch({ '$setElementOrder/webhooks': [{ name: 'server' }, { name: 'b' }] })).toEqual({
    webhooks: [{ name: 'server' }, { name: 'b' }, live.webhooks[0]],
  })
  const order = ['server', 'b', 'a'].map((name) => ({ name }))
  const [a, b, server] = live.webhooks
  expect(ofPatch({ '$setElementOrder/webhooks': order })).toEqual({ webhooks: [server, b, a] })
  expect(ofPatch({ '$setElementOrder/webhooks': 'x', webhooks: [] })).toEqual(live)
  // What is no list takes the place of one, and one takes the place of what is none.
  expect(ofPatch({ webhooks: 'none' })).toEqual({ webhooks: 'none' })
  expect(ofPatch({ webhooks: [{ name: 'a' }] }, { webhooks: 'none' })).toEqual({ webhooks: [{ name: 'a' }] })
  expect(ofPatch({ webhooks: null, other: { x: 1 } })).toEqual({ other: { x: 1 } })
  expect(ofPatch({ webhooks: [{ url: '1' }, 'text', { url: '2' }] }, {})).toEqual({
    webhooks: [{ url: '2' }, 'text'],
  })
  expect(ofPatch({ a: 1 })).toEqual({ a: 1, webhooks: live.webhooks })
  expect(mergeByKeys('text', { a: 1 }, schema)).toEqual({ a: 1 })
  expect(mergeByKeys({ a: 1 }, 'text', schema)).toBe('text')
})

it('names the field that tells the items of a list apart, if the list has one', () => {
  const list = { type: 'array', 'x-kubernetes-list-map-keys': ['name'] } as const
  expect(mergeKeyOf({ ...list, 'x-kubernetes-list-type': 'map' })).toBe('name')
  expect(mergeKeyOf({ ...list, 'x-kubernetes-list-type': 'atomic' })).toBeUndefined()
  expect(mergeKeyOf(list)).toBeUndefined()
})

it.each<[string, object, object, readonly string[] | undefined]>([
  ['join those that are there', ['a'], { finalizers: ['b', 'a'] }, ['a', 'b']],
  ['are the first', undefined as never, { finalizers: ['b'] }, ['b']],
  ['go', ['a', 'b', 'c'], { '$deleteFromPrimitiveList/finalizers': ['b', 'x'] }, ['a', 'c']],
  ['go while others come', ['a', 'b'], { finalizers: ['c'], '$deleteFromPrimitiveList/finalizers': ['a'] }, ['b', 'c']],
  [
    'stand in the order that is said',
    ['a', 'b', 'c'],
    { finalizers: ['d'], '$setElementOrder/finalizers': ['d', 'c'] },
    ['d', 'c', 'a', 'b'],
  ],
  ['stay', ['a'], { finalizers: [] }, ['a']],
  ['all go by null', ['a'], { finalizers: null }, undefined],
])('finalizers %s', (_what, was, patch, is) => {
  const target = { metadata: { finalizers: was, labels: { a: 'b' } } } as never
  const merged = mergeByKeys(target, { metadata: patch } as never, withMetadataLists(schema))
  expect(merged).toEqual({ metadata: { labels: { a: 'b' }, ...(is && { finalizers: is }) } })
  // Where the schema says nothing of metadata, all are replaced.
  if ('finalizers' in patch && !('$deleteFromPrimitiveList/finalizers' in patch))
    expect(mergeByKeys(target, { metadata: { finalizers: patch.finalizers } } as never, schema)).toEqual({
      metadata: { labels: { a: 'b' }, ...(patch.finalizers !== null && { finalizers: patch.finalizers }) },
    })
})

it('items behind those of an order stay as they stand', () => {
  const names = (...all: readonly string[]) => ({ webhooks: all.map((name) => ({ name })) })
  const patch = { '$setElementOrder/webhooks': [{ name: 'd' }, { name: 'c' }] }
  expect(mergeByKeys(names('a', 'b', 'c', 'd'), patch, schema)).toEqual(names('d', 'c', 'a', 'b'))
})

it('an item keeps the fields that a patch does not name', () => {
  expect(mergeByKeys(live, { webhooks: [{ name: 'a', timeoutSeconds: 5 }] }, schema)).toEqual({
    webhooks: [{ name: 'a', url: '1', rules: [{ x: 1 }], timeoutSeconds: 5 }, { name: 'b' }, { name: 'server' }],
  })
})
