import { expect, it } from 'vitest'
import type { Json } from '../../../../shared/model/json.ts'
import { compile } from '../../../../shared/model/schema/compiled-schema.ts'
import { createUnchangedTest } from '../../../../shared/model/schema/ratchet.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'

const keyed = (key: string, items: StructuralSchema): StructuralSchema => ({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': [key],
  items,
})
const inner: StructuralSchema = { type: 'object', properties: { k: { type: 'string' } } }
const list: StructuralSchema = keyed('n', {
  type: 'object',
  properties: { n: { type: 'string' }, l: keyed('k', inner), plain: { type: 'array', items: inner } },
})
const schema: StructuralSchema = { type: 'object', properties: { list }, additionalProperties: list }

const old: Json = {
  a: { x: 1 },
  b: { x: 2 },
  c: [1, 2],
  d: 'abc',
  e: {},
  list: [
    { n: 'first', l: [{ k: 'x', v: 1 }], plain: [{ k: 'x', v: 1 }] },
    { n: 'twice', v: 1 },
    { n: 'twice', v: 2 },
  ],
  more: [{ n: 'a', v: 1 }],
}
const shared = { x: 1 }
const value: Json = {
  a: shared,
  b: shared,
  c: { length: 2 },
  d: { length: 3 },
  e: JSON.parse('{"__proto__":{}}') as Json,
  list: [
    { n: 'twice', v: 1 },
    {
      n: 'first',
      l: [
        { k: 'y', v: 1 },
        { k: 'x', v: 1 },
      ],
      plain: [{ k: 'y' }, { k: 'x', v: 1 }],
    },
    null,
  ],
  more: [
    { n: 'b', v: 1 },
    { n: 'a', v: 1, w: 2 },
  ],
  new: 1,
}

it.each<[string, readonly (string | number)[], boolean]>([
  ['an object that is the same', ['a'], true],
  ['a part of one', ['a', 'x'], true],
  ['the same object in the place of another', ['b'], false],
  ['and its part', ['b', 'x'], false],
  ['what is new', ['new'], false],
  ['a list of which an item has changed', ['list'], false],
  ['an item by its key', ['list', 0], true],
  ['the first of two with one key', ['list', 0, 'v'], true],
  ['an item of which a part has changed', ['list', 1], false],
  ['the key of that', ['list', 1, 'n'], true],
  ['an item of a list in it, by its key', ['list', 1, 'l', 1], true],
  ['a new one of these', ['list', 1, 'l', 0], false],
  ['an item of a list without keys', ['list', 1, 'plain', 1], false],
  ['an item that is null', ['list', 2], false],
  ['what is left of an item by the schema of other fields', ['more', 1, 'v'], true],
  ['what is new in it', ['more', 1, 'w'], false],
  ['a field in the place of a list', ['c', 'length'], false],
  ['a field in the place of a text', ['d', 'length'], false],
  ['a field that every object inherits', ['e', '__proto__'], false],
])('%s is as it was: %s, %s', (_what, steps, isUnchanged) => {
  const test = createUnchangedTest(old, value, compile(schema))
  expect([test(['a']), test(steps), test(steps)]).toEqual([true, isUnchanged, isUnchanged])
})
