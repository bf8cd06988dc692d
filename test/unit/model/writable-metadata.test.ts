import { expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../shared/model/json.ts'
import { namesVersion, writableParts } from '../../../shared/model/writable-metadata.ts'

it.each<[Json | undefined, boolean]>([
  [undefined, false],
  [null, false],
  ['', false],
  ['0', false],
  ['000', false],
  [0, false],
  ['1', true],
  ['10', true],
  ['x', true],
])('the resourceVersion %j names a version: %s', (resourceVersion, names) => {
  expect(namesVersion({ resourceVersion })).toBe(names)
  expect('resourceVersion' in writableParts({ resourceVersion })).toBe(names)
})

it.each<[JsonObject, JsonObject]>([
  [{ name: 'a', generation: 5, creationTimestamp: 'x' }, { name: 'a' }],
  [
    { name: '', generateName: null, namespace: 'n', uid: 'u' },
    { namespace: 'n', uid: 'u' },
  ],
  [{ labels: {}, annotations: null }, {}],
  [
    { labels: { a: null, b: 'x' }, annotations: { c: '' } },
    { labels: { a: '', b: 'x' }, annotations: { c: '' } },
  ],
  [{ finalizers: [], ownerReferences: null }, {}],
  [
    { finalizers: ['a', null, 'a', 'b'], ownerReferences: [null, { name: 'o' }] },
    { finalizers: ['a', '', 'b'], ownerReferences: [{}, { name: 'o' }] },
  ],
])('of %j a writer decides %j', (metadata, parts) => {
  expect(writableParts(metadata)).toStrictEqual(parts)
})
