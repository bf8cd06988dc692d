import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  saysOwnersOf,
  showOwners,
  soleEntryOf,
  soleWriterOf,
  withExplicitOwners,
  withSoleWriter,
} from '../../../../shared/model/apply/sole-writer.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import type { ApiObject, ManagedFieldsEntry } from '../../../../shared/model/object.ts'
import { share } from '../../../support/strength.ts'
import { entriesOf, later, start, update, widget, widgetSchema } from './widget.ts'

const kind = { schema: widgetSchema, hasStatus: true }
const entry = soleEntryOf('bob', 'example.com/v1', Date.parse(start)) as ManagedFieldsEntry

/** As it is stored while bob alone has written it. */
function byBob(object: JsonObject): ApiObject {
  return { ...object, metadata: { ...(object['metadata'] as JsonObject), managedFields: [entry] } } as ApiObject
}

const name = fc.oneof(fc.constantFrom('a', 'b', 'size', '"', 'é/ü', '.'), fc.string({ maxLength: 3 }))
const port = fc.record({ name: fc.constantFrom('x', 'y"'), port: fc.nat(3) })
const spec = fc.record(
  {
    size: fc.nat(3),
    options: fc.dictionary(name, fc.constantFrom('x', '')),
    retention: fc.record({ days: fc.nat(2) }),
    arguments: fc.array(fc.constant('x'), { maxLength: 2 }),
    tags: fc.array(fc.constantFrom('x', 'y', 'ä'), { maxLength: 3 }),
    ports: fc.array(port, { maxLength: 3 }),
    anything: fc.object({ maxDepth: 1 }) as fc.Arbitrary<JsonObject>,
    free: fc.jsonValue({ maxDepth: 2 }),
  },
  { requiredKeys: [] },
)
const labels = fc.dictionary(name, fc.constantFrom('x', ''), { maxKeys: 2 })

describe('the sole writer of an object', () => {
  it('owns what a first write of the whole object owns', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(spec, labels), { minLength: 1, maxLength: 6 }), (objects) => {
        for (const [given, marks] of objects) {
          const object = JSON.parse(JSON.stringify(widget(given, { labels: marks }))) as JsonObject
          const shown = withExplicitOwners(kind, byBob({ ...object, status: { ready: true } }))
          expect(entriesOf(shown)).toEqual(entriesOf(update(undefined, object).object))
        }
      }),
      { numRuns: share(1_000) },
    )
  })

  it('is shown with its fields in every text that holds the object behind plain values', () => {
    fc.assert(
      fc.property(spec, fc.string(), (given, cell) => {
        const object = byBob(JSON.parse(JSON.stringify(widget(given, { labels: { cell } }))) as JsonObject)
        const whole = withExplicitOwners(kind, object)
        expect(JSON.parse(showOwners(JSON.stringify(object), kind, object))).toEqual(whole)
        const row = JSON.stringify({ cells: [cell, `"fieldsType":"FieldsV1"}]`], object })
        expect(JSON.parse(showOwners(row, kind, object)).object).toEqual(whole)
      }),
      { numRuns: share(500) },
    )
  })

  const live = byBob(widget({ size: 1 }, { generation: 1, finalizers: ['a'] }))
  const next = { ...live, spec: { size: 2 }, metadata: { ...live.metadata, generation: 2 } }
  const bob = { manager: 'bob', apiVersion: 'example.com/v1', nowMs: Date.parse(later) }

  it('is noted again with the time of the write', () => {
    expect(withSoleWriter(live, next, bob)?.metadata.managedFields).toEqual([{ ...entry, time: later }])
  })

  it.each([
    { of: 'another writer', writer: { ...bob, manager: 'alice' }, made: next },
    { of: 'another version', writer: { ...bob, apiVersion: 'example.com/v2' }, made: next },
    { of: 'the finalizers', writer: bob, made: { ...next, metadata: { ...next.metadata, finalizers: ['a', 'b'] } } },
  ])('is noted in full after a write of $of', ({ writer, made }) => {
    expect(withSoleWriter(live, made, writer)).toBeUndefined()
  })

  it('keeps its time when nothing changes', () => {
    expect(withSoleWriter(live, live, bob)).toBe(live)
  })

  it.each([
    { what: 'the generation', more: { generation: 2 }, isNoted: true },
    { what: 'labels', more: { labels: { a: 'x' } }, isNoted: true },
    { what: 'annotations', more: { annotations: { a: 'x' } }, isNoted: true },
    { what: 'owners', more: { ownerReferences: [] }, isNoted: true },
    { what: 'what only the server decides', more: { resourceVersion: '9' }, isNoted: false },
  ])('is noted again after a write of $what: $isNoted', ({ more, isNoted }) => {
    const made = { ...live, metadata: { ...live.metadata, ...more } }
    const noted = { ...made, metadata: { ...made.metadata, managedFields: [{ ...entry, time: later }] } }
    expect(withSoleWriter(live, made, bob)).toEqual(isNoted ? noted : made)
    expect(withSoleWriter(live, made, { ...bob, nowMs: Date.parse(start) })).toBe(made)
  })

  const full = { ...entry, fieldsV1: { 'f:spec': {} } }
  it.each([
    { what: 'an object that is not tracked', managedFields: undefined, is: false },
    { what: 'an object without owners', managedFields: [], is: false },
    { what: 'an object with one entry in full', managedFields: [full], is: false },
    {
      what: 'an object with an entry whose fields come first',
      managedFields: [{ fieldsV1: {}, ...soleEntryOf('bob', 'example.com/v1', Date.parse(start)) }],
      is: false,
    },
    { what: 'an object with several entries in full', managedFields: [full, full], is: false },
    { what: 'an object with an entry without fields', managedFields: [entry], is: true },
  ])('is known of $what: $is', ({ managedFields, is }) => {
    const { managedFields: _, ...metadata } = live.metadata
    const object = { ...live, metadata: { ...metadata, ...(managedFields && { managedFields }) } }
    expect(soleWriterOf(object)).toEqual(is ? entry : undefined)
    expect(withSoleWriter(object, object, bob) === undefined).toBe(!is)
    const text = JSON.stringify(object)
    expect([withExplicitOwners(kind, object) === object, showOwners(text, kind, object) === text]).toEqual([!is, !is])
  })

  it('is said again by who sends back what they were shown', () => {
    const shown = withExplicitOwners(kind, live).metadata.managedFields
    expect([[entry], shown, [full], undefined].map((sent) => saysOwnersOf(kind, live, sent as never))).toEqual([
      true,
      true,
      false,
      false,
    ])
  })

  const looksAlike = { apiVersion: 'v1', kind: 'K', name: 'o', uid: 'u', fieldsType: 'FieldsV1' }
  it.each([
    { where: 'ahead of it', metadata: { ownerReferences: [looksAlike], managedFields: [entry] } },
    { where: 'behind it', metadata: { managedFields: [entry], ownerReferences: [looksAlike] } },
    { where: 'nowhere', metadata: { managedFields: [entry] } },
  ])('is shown with its fields where an owner that looks alike stands $where', ({ metadata }) => {
    const object = { ...widget({ size: 1 }), metadata: { name: 'demo', ...metadata } } as unknown as ApiObject
    const whole = withExplicitOwners(kind, object)
    expect(JSON.parse(showOwners(JSON.stringify(object), kind, object))).toEqual(whole)
    expect(showOwners('{"cells":[1]}', kind, object)).toBe('{"cells":[1]}')
  })

  it('is forgotten where the object is so large that its fields would be more', () => {
    const tags = Array.from({ length: 6_000 }, (_, i) => `t${i}`)
    const object = byBob(widget({ tags }))
    expect(withExplicitOwners(kind, object).metadata).not.toHaveProperty('managedFields')
    expect(showOwners('x"fieldsType":"FieldsV1"}]', kind, object)).toBe('x"fieldsType":"FieldsV1"}]')
  })
})
