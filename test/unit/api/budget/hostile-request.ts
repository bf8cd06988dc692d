import fc from 'fast-check'
import type { Json, JsonObject } from '../../../../shared/model/json.ts'
import type { Hostile } from './held.ts'
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

const written: fc.Arbitrary<Hostile> = fc
  .record({ kind: fc.constantFrom(...hostileKinds), value: spec, verb: fc.constantFrom('POST', 'apply', 'merge') })
  .map(({ kind, value, verb }) => {
    if (verb === 'POST')
      return { line: `POST ${pathOf(kind)}?dryRun=All`, sent: { body: JSON.stringify(bodyOf(kind, value)) } }
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

const yaml: fc.Arbitrary<Hostile> = repeated(yamlUnit, 20_400).map((body) => ({
  line: `POST ${pathOf('free')}?dryRun=All`,
  sent: { body, type: 'application/yaml' },
}))

export const hostileRequest: fc.Arbitrary<Hostile> = fc.oneof(selected, written, written, patched, yaml)
