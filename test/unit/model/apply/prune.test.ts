import { expect, it } from 'vitest'
import { noFields, setOfPaths } from '../../../../shared/model/apply/fields/field-set.ts'
import { mergeTypeOf } from '../../../../shared/model/apply/typed/merge-type.ts'
import { pruneUnowned } from '../../../../shared/model/apply/typed/prune.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'

const text: StructuralSchema = { type: 'string' }
const schema: StructuralSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        a: text,
        b: text,
        whole: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: text },
        free: { 'x-kubernetes-preserve-unknown-fields': true },
        items: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: { type: 'object', properties: { k: text, v: text, w: text } },
        },
      },
    },
  },
}
const [x, y] = ['k:{"k":"x"}', 'k:{"k":"y"}']

/** What is left of an object once a manager claims nothing more of what it applied. */
const left = (spec: JsonObject, last: readonly string[][], owned: readonly string[][] = []): unknown =>
  pruneUnowned({ spec }, mergeTypeOf(schema), {
    last: setOfPaths(last.map((path) => ['f:spec', ...path])),
    owned: owned.length === 0 ? noFields : setOfPaths(owned.map((path) => ['f:spec', ...path])),
  })['spec']

it.each<[string, JsonObject, readonly string[][], readonly string[][], unknown]>([
  ['a field', { a: '1', b: '2' }, [['f:a']], [['f:b']], { b: '2' }],
  ['the last field, and what holds it,', { a: '1' }, [['f:a']], [], undefined],
  ['what nobody owns beside it', { a: '1', b: '2' }, [['f:a']], [], undefined],
  ['an atomic map', { a: '1', whole: { c: '1' } }, [['f:whole']], [['f:a']], { a: '1' }],
  [
    'a field of an item',
    { items: [{ k: 'x', v: '1', w: '2' }] },
    [['f:items', x, 'f:v']],
    [
      ['f:items', x, 'f:k'],
      ['f:items', x, 'f:w'],
    ],
    { items: [{ k: 'x', w: '2' }] },
  ],
  [
    'an item',
    { items: [{ k: 'x' }, { k: 'y', v: '1' }] },
    [['f:items', x]],
    [
      ['f:items', y],
      ['f:items', y, 'f:k'],
      ['f:items', y, 'f:v'],
    ],
    { items: [{ k: 'y', v: '1' }] },
  ],
  ['a field of data', { free: { c: 1, d: {} } }, [['f:free', 'f:c']], [['f:free', 'f:d']], { free: { d: {} } }],
])('%s goes', (...row) => {
  const [, spec, last, owned, is] = row
  expect(left(spec, last, owned)).toEqual(is)
})

it.each<[string, JsonObject, readonly string[][], readonly string[][]]>([
  ['what another manager owns', { a: '1' }, [['f:a']], [['f:a']]],
  ['an atomic map of which a part was applied', { whole: { c: '1', d: '2' } }, [['f:whole', 'f:c']], [['f:whole']]],
  ['a text that was a list of objects before', { a: '1' }, [['f:a', y, 'f:v', 'f:w']], [['f:a']]],
  ['a text that was an object before', { a: '1' }, [['f:a', 'f:v', 'f:w']], [['f:a']]],
])('%s stays', (_what, spec, last, owned) => {
  expect(left(spec, last, owned)).toEqual(spec)
})
