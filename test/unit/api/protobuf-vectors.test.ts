import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { decodeObject } from '../../../shared/api/protobuf/messages.ts'
import { isObject, type Json, type JsonObject } from '../../../shared/model/json.ts'

/** Random objects as Kubernetes' own encoders write them, in protobuf and in JSON: `test/vectors/README.md`. */
interface Vector {
  readonly bytes: string
  readonly object: JsonObject & { readonly apiVersion: string; readonly kind: string }
}

const file = new URL('../../vectors/protobuf-vectors.jsonl.gz', import.meta.url)
const vectors = gunzipSync(readFileSync(file))
  .toString()
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Vector)

/** What is not read: nobody sends it, or it changes no answer. */
const unread: Readonly<Record<string, (object: JsonObject) => JsonObject>> = {
  TokenReview: without('status'),
  TokenRequest: (object) => inSpec(without('status')(object), without('attestations')),
  SubjectAccessReview: (object) => inSpec(without('status')(object), withoutSelectors),
}

function without(...names: readonly string[]): (object: JsonObject) => JsonObject {
  return (object) => Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))
}

function inSpec(object: JsonObject, change: (spec: JsonObject) => JsonObject): JsonObject {
  return isObject(object['spec']) ? { ...object, spec: change(object['spec']) } : object
}

function withoutSelectors(spec: JsonObject): JsonObject {
  const { resourceAttributes } = spec
  if (!isObject(resourceAttributes)) return spec
  return { ...spec, resourceAttributes: without('fieldSelector', 'labelSelector')(resourceAttributes) }
}

/** Without what Go writes for a value that nobody gave, which is one thing in protobuf and another in JSON. */
function given(value: Json | undefined): Json | undefined {
  if (value === '' || value === 0 || value === false || value === null) return undefined
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((one) => given(one) ?? null)
  if (!isObject(value)) return value
  const kept: JsonObject = {}
  for (const [name, part] of Object.entries(value)) {
    const known = name === 'selfLink' ? undefined : given(part)
    if (known !== undefined) kept[name] = known
  }
  return Object.keys(kept).length === 0 ? undefined : kept
}

const kinds = [...new Set(vectors.map(({ object: { apiVersion, kind } }) => `${apiVersion} ${kind}`))]

describe('a protobuf body says what the JSON of the same object says', () => {
  it.each(kinds)('%s', (name) => {
    const [apiVersion, kind = ''] = name.split(' ')
    for (const { bytes, object } of vectors) {
      if (object.apiVersion !== apiVersion || object.kind !== kind) continue
      const read = unread[kind] ?? ((whole: JsonObject) => whole)
      expect(given(decodeObject(Buffer.from(bytes, 'base64')))).toEqual(given(read(object)))
    }
  })
})
