import fc from 'fast-check'
import type { Json, JsonObject } from '../../../../shared/model/json.ts'
import type { Hostile } from './held.ts'
import { enveloped, field } from '../protobuf-bytes.ts'
import { hostileDefinition } from './hostile-definitions.ts'
import { bodyOf, hostileKinds, pathOf } from './hostile-kinds.ts'

/**
 * Requests as somebody would write them who wants the control plane to stand still, close to what its limits let
 * through.
 */

const asTable = 'application/json;as=Table;v=v1;g=meta.k8s.io'

/** A unit of text as often as fits, with something at the end that spoils it. */
const repeated = (unit: fc.Arbitrary<string>, lengthMax: number): fc.Arbitrary<string> =>
  fc
    .record({
      unit,
      end: fc.constantFrom('', '!', ')', '\n', 'x'),
      length: fc.integer({ min: lengthMax / 4, max: lengthMax }),
    })
    .map(({ unit: one, end, length }) => one.repeat(Math.floor(length / one.length)) + end)

const selectorUnit = fc
  .array(fc.constantFrom('a', ' ', '=', '!', ',', '(', ')', ' in ', ' notin (', '==', 'metadata.name=', '\t'), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.join(''))

const selected: fc.Arbitrary<Hostile> = fc
  .record({
    name: fc.constantFrom('labelSelector', 'fieldSelector'),
    text: repeated(selectorUnit, 4_000),
    table: fc.boolean(),
  })
  .map(({ name, text, table }) => ({
    line: `GET ${pathOf('free')}?${name}=${encodeURIComponent(text)}`,
    sent: table ? { accept: asTable } : {},
  }))

const item: fc.Arbitrary<(i: number) => Json> = fc.constantFrom<(i: number) => Json>(
  () => 1,
  (i) => i,
  (i) => `v${i}`,
  () => 'x2999',
  () => 'a'.repeat(2_000),
  () => ({}),
  () => [],
  () => null,
  (i) => ({ a: i, b: i % 7 }),
  (i) => ({ a: i >> 1, b: 'x' }),
  (i) => ({ a: { a: { a: i } }, b: [i, [i]] }),
  (i) => nested(i % 100),
)

function nested(levels: number): Json {
  let value: Json = 'x'
  for (let i = 0; i < levels; i++) value = { a: value }
  return value
}

const spec: fc.Arbitrary<JsonObject> = fc
  .record({ make: item, isList: fc.boolean(), bytes: fc.integer({ min: 50_000, max: 345_000 }) })
  .map(({ make, isList, bytes }) => {
    const items: Json[] = []
    for (let size = 0, i = 0; size < bytes; i++) {
      const one = make(i)
      size += JSON.stringify(one).length + (isList ? 1 : 10)
      items.push(one)
    }
    return isList ? { s: items } : Object.fromEntries(items.map((one, i) => [`p${i}`, one]))
  })

/** Stands for the version that an object has when it is replaced. */
const liveVersion = 'LIVE-VERSION'

/** The request for an object that has this version. */
export function atVersion({ line, sent }: Hostile, version: string): Hostile {
  const { body } = sent
  return { line, sent: { ...sent, ...(typeof body === 'string' && { body: body.replace(liveVersion, version) }) } }
}

const written: fc.Arbitrary<Hostile> = fc
  .record({
    kind: fc.constantFrom(...hostileKinds),
    value: spec,
    verb: fc.constantFrom('POST', 'PUT', 'apply', 'merge'),
  })
  .map(({ kind, value, verb }) => {
    if (verb === 'POST')
      return { line: `POST ${pathOf(kind)}?dryRun=All`, sent: { body: JSON.stringify(bodyOf(kind, value)) } }
    if (verb === 'PUT') {
      const body = { ...bodyOf('free', value), metadata: { name: 'bushy', resourceVersion: liveVersion } }
      return { line: `PUT ${pathOf('free')}/bushy?dryRun=All`, sent: { body: JSON.stringify(body) } }
    }
    if (verb === 'apply') {
      const line = `PATCH ${pathOf(kind)}/a?fieldManager=x&dryRun=All`
      return { line, sent: { body: JSON.stringify(bodyOf(kind, value)), type: 'application/apply-patch+yaml' } }
    }
    const body = JSON.stringify({ spec: value })
    return { line: `PATCH ${pathOf('free')}/bushy?dryRun=All`, sent: { body, type: 'application/merge-patch+json' } }
  })

const patched: fc.Arbitrary<Hostile> = fc
  .record({
    op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test'),
    path: fc.constantFrom('/spec/s/0', '/spec/s/-', '/spec/s', '/spec', '/metadata/labels', `/spec${'/a'.repeat(150)}`),
    from: fc.constantFrom('/spec/s/0', '/spec/s/164999', '/spec/s', '/spec'),
    value: item.map((make) => make(7)),
    count: fc.integer({ min: 1_000, max: 10_000 }),
  })
  .map(({ count, ...operation }) => ({
    line: `PATCH ${pathOf('free')}/long?dryRun=All`,
    sent: { body: JSON.stringify(Array.from({ length: count }, () => operation)), type: 'application/json-patch+json' },
  }))

const yamlUnit = fc
  .array(
    fc.constantFrom('a', ': ', '- ', '\n', '[', ']', '{', '}', ',', '&a ', '*a', '"', '#', '? ', '| ', '  ', '1'),
    {
      minLength: 1,
      maxLength: 5,
    },
  )
  .map((parts) => parts.join(''))

/** As much of it as is read: it may have 6,000 of these marks. */
const mostOfYaml = /^(?:[^\n,:?[\]{}]*[\n,:?[\]{}]){0,6000}/

const yaml: fc.Arbitrary<Hostile> = repeated(yamlUnit, 20_400).map((text) => ({
  line: `POST ${pathOf('free')}?dryRun=All`,
  sent: { body: mostOfYaml.exec(text)?.[0] || text, type: 'application/yaml' },
}))

/** A message of fields of few bytes, or of few that are long; some of the numbers and types are those of the kind. */
const message: fc.Arbitrary<readonly number[]> = fc
  .record({
    unit: fc.array(
      fc.constantFrom<readonly number[]>(
        [0x0a, 0],
        [0x0a, 6, 0x0a, 1, 0x61, 0x5a, 1, 0x62],
        [0x12, 6, 0x0a, 1, 0x6b, 0x12, 1, 0x76],
        [0x12, 2, 0x0a, 0],
        [0x1a, 2, 0x0a, 0],
        [0x20, 1],
        [0x6a, 0],
        [0x72, 0],
        [0x0a, 0x80, 0x80, 0x80, 0x80, 0],
        [0x0b],
        [0xff, 0xff, 0x7f, 1],
      ),
      { minLength: 1, maxLength: 4 },
    ),
    bytes: fc.integer({ min: 50_000, max: 1_000_000 }),
    isMetadata: fc.boolean(),
  })
  .map(({ unit, bytes, isMetadata }) => {
    const one = unit.flat()
    const all = Array.from({ length: bytes }, (_, i) => one[i % one.length] ?? 0)
    return isMetadata ? field(1, all) : all
  })

const inProtobuf: fc.Arbitrary<Hostile> = fc
  .record({ kind: fc.constantFrom('ConfigMap', 'Secret', 'Namespace', 'ServiceAccount'), sent: message })
  .map(({ kind, sent }) => {
    const path = kind === 'Namespace' ? '/api/v1/namespaces' : `/api/v1/namespaces/default/${kind.toLowerCase()}s`
    const type = 'application/vnd.kubernetes.protobuf'
    return { line: `POST ${path}?dryRun=All`, sent: { body: enveloped(kind, sent), type } }
  })

const strategic: fc.Arbitrary<Hostile> = fc
  .record({
    unit: fc.constantFrom<(i: number) => JsonObject>(
      (i) => ({ uid: `u${i}`, name: `n${i}`, kind: 'K', apiVersion: 'v1' }),
      (i) => ({ uid: `u${i}`, $patch: 'delete' }),
      () => ({ uid: 'u' }),
      (i) => ({ name: `n${i}` }),
    ),
    list: fc.constantFrom('ownerReferences', 'finalizers', 'managedFields'),
    directive: fc.constantFrom('', '$setElementOrder/ownerReferences', '$deleteFromPrimitiveList/finalizers', '$patch'),
    count: fc.integer({ min: 1_000, max: 8_000 }),
  })
  .map(({ unit, list, directive, count }) => {
    const items = Array.from({ length: count }, (_, i) => (list === 'finalizers' ? `f${i}/x` : unit(i)))
    const order = directive === '' ? {} : { [directive]: items }
    const body = JSON.stringify({ metadata: { [list]: items, ...order } })
    const type = 'application/strategic-merge-patch+json'
    return { line: 'PATCH /api/v1/namespaces/default?dryRun=All', sent: { body, type } }
  })

const described: fc.Arbitrary<Hostile> = fc
  .record({
    path: fc.constantFrom('v2', 'v3', 'v3/apis/hostile.dev/v1', 'v3/api/v1'),
    hash: fc.constantFrom('', '?hash=0'),
    accept: fc.constantFrom('*/*', 'application/json', `${'a/b,'.repeat(4_000)}application/json`),
  })
  .map(({ path, hash, accept }) => ({ line: `GET /openapi/${path}${hash}`, sent: { accept } }))

export const hostileRequest: fc.Arbitrary<Hostile> = fc.oneof(
  { arbitrary: selected, weight: 1 },
  { arbitrary: written, weight: 3 },
  { arbitrary: patched, weight: 1 },
  { arbitrary: yaml, weight: 1 },
  { arbitrary: inProtobuf, weight: 1 },
  { arbitrary: strategic, weight: 1 },
  { arbitrary: described, weight: 1 },
  { arbitrary: hostileDefinition, weight: 3 },
)
