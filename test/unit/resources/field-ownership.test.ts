import { describe, expect, it } from 'vitest'
import type { Conversion } from '../../../shared/model/conversion.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { Json, JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject, ManagedFieldsEntry } from '../../../shared/model/object.ts'
import { defineBuiltInKind, type ServedKind } from '../../../shared/model/served-kind.ts'
import {
  applyConfiguration,
  sentManagedFieldsOf,
  withFirstOwner,
  withManagedFields,
  withOwnership,
  type Writer,
} from '../../../shared/resources/field-ownership.ts'

const sized = (field: string) => ({
  type: 'object' as const,
  properties: {
    spec: {
      type: 'object' as const,
      properties: {
        [field]: { type: 'integer' as const },
        color: { type: 'string' as const, default: 'red' },
        list: { type: 'array' as const, 'x-kubernetes-list-type': 'set' as const, items: { type: 'integer' as const } },
      },
    },
    status: { type: 'object' as const, properties: { ready: { type: 'boolean' as const } } },
  },
})
const kind: ServedKind = {
  ...defineBuiltInKind({ group: 'g.dev', kind: 'K', plural: 'ks', namespaced: true, schema: sized('size') }),
  hasStatus: true,
}
const nowMs = Date.parse('2026-11-01T00:00:00Z')
const by = (manager: string, more: Partial<Writer> = {}): Writer => ({ kind, manager, nowMs, ...more })

function objectOf(spec: JsonObject, managedFields?: readonly object[], more: JsonObject = {}): ApiObject {
  const metadata = { name: 'a', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '' }
  const owners = managedFields && { managedFields: managedFields as ManagedFieldsEntry[] }
  return { apiVersion: 'g.dev/v1', kind: 'K', metadata: { ...metadata, ...owners }, spec, ...more }
}

/** Of the one who wrote all of it: an entry without fields. */
const sole = {
  manager: 'm',
  operation: 'Update',
  apiVersion: 'g.dev/v1',
  time: '2026-10-01T00:00:00Z',
  fieldsType: 'FieldsV1',
}
const owns = (manager: string, fields: JsonObject, more: object = {}) => ({
  ...sole,
  manager,
  fieldsV1: { 'f:spec': fields },
  ...more,
})
const soleOf = (spec: JsonObject, more?: JsonObject) => objectOf(spec, [sole], more)
const next = (live: ApiObject, spec: JsonObject, more: JsonObject = {}): ApiObject => {
  return { ...live, metadata: { ...live.metadata, generation: 2 }, spec, ...more }
}

/** Who owns what: `m Update: .spec.size`. */
function ownersOf(object: JsonObject): readonly string[] {
  const { managedFields = [] } = object['metadata'] as unknown as ApiObject['metadata']
  const all = managedFields.map(({ manager, operation, subresource, fieldsV1 }) => {
    const who = [manager, operation, ...(subresource === undefined ? [] : [subresource])].join(' ')
    return fieldsV1 === undefined ? who : `${who}: ${pathsIn(fieldsV1, '').join(' ')}`
  })
  return all.toSorted((a, b) => (a < b ? -1 : 1))
}

function pathsIn(fields: JsonObject, path: string): readonly string[] {
  return Object.entries(fields).flatMap(([name, inner]) => {
    if (name === '.') return []
    const below = pathsIn(inner as JsonObject, `${path}.${name.replace(/^f:/, '')}`)
    return below.length === 0 ? [`${path}.${name.replace(/^f:/, '')}`] : below
  })
}

describe('the owners of a written object', () => {
  it('are none where nobody is named, and the object stays the same', () => {
    const live = objectOf({ size: 1 })
    const made = next(live, { size: 2 })
    expect(withOwnership(live, made, undefined, by('m'))).toBe(made)
  })

  it('are those that the writer names first', () => {
    const live = objectOf({ size: 1 })
    const sent = [owns('other', { 'f:size': {} })] as unknown as Json
    expect(ownersOf(withOwnership(live, next(live, { size: 1, color: 'blue' }), sent, by('m')))).toEqual([
      'm Update: .spec.color',
      'other Update: .spec.size',
    ])
  })

  it.each<[string, JsonObject | undefined, Partial<Writer>, readonly string[]]>([
    ['stay one in one word', undefined, {}, ['m Update']],
    [
      'are in full behind another writer',
      undefined,
      { manager: 'other' },
      ['m Update: .spec.color', 'other Update: .spec.size'],
    ],
    [
      'are in full behind another path',
      undefined,
      { subresource: 'status' },
      ['m Update status: .status.ready', 'm Update: .spec.color .spec.size'],
    ],
  ])('%s', (...row) => {
    const [, sent, writer, owners] = row
    const live = soleOf({ size: 1, color: 'red' })
    const isStatus = writer.subresource === 'status'
    const made = isStatus ? { ...live, status: { ready: true } } : next(live, { size: 2, color: 'red' })
    expect(ownersOf(withOwnership(live, made, sent, by('m', writer)))).toEqual(owners)
  })

  it('of one word say when they wrote last', () => {
    const live = soleOf({ size: 1 })
    const [entry] = withOwnership(live, next(live, { size: 2 }), undefined, by('m')).metadata.managedFields ?? []
    expect(entry).toEqual({ ...sole, time: '2026-11-01T00:00:00Z' })
  })

  it('may be sent back as they were shown, in one word or in full', () => {
    const live = soleOf({ size: 1 })
    const shown = [owns('m', { '.': {}, 'f:size': {} })] as unknown as Json
    for (const sent of [[sole] as Json, shown])
      expect(ownersOf(withOwnership(live, next(live, { size: 2 }), sent, by('m')))).toEqual(['m Update'])
  })

  it('may be sent as others, or ended', () => {
    const live = soleOf({ size: 1 })
    const sent = [owns('other', { 'f:size': {} })] as unknown as Json
    expect(ownersOf(withOwnership(live, next(live, { size: 1 }), sent, by('m')))).toEqual(['other Update: .spec.size'])
    expect(ownersOf(withOwnership(live, next(live, { size: 2 }), [{}], by('m')))).toEqual([])
  })

  it.each([
    [true, []],
    [false, ['m Update: .spec.size']],
  ])('end with an empty list where the kind is built in: %s', (builtIn, owners) => {
    const live = objectOf({ size: 1 }, [owns('other', { 'f:size': {} })])
    const made = withOwnership(live, next(live, { size: 2 }), [], by('m', { kind: { ...kind, builtIn } }))
    expect(ownersOf(made)).toEqual(owners)
  })

  it('are left alone by a write that changes no field', () => {
    const live = objectOf({ size: 1 }, [owns('other', { 'f:size': {} })])
    const made = { ...live }
    expect(withOwnership(live, made, undefined, by('m'))).toBe(made)
    expect(ownersOf(withOwnership(live, next(live, { size: 2 }), undefined, by('m')))).toEqual(['m Update: .spec.size'])
  })

  it('are no longer kept of what holds too much', () => {
    const list = Array.from({ length: 6_000 }, (_, i) => i)
    const live = soleOf({ list })
    const made = withOwnership(live, next(live, { list: [] }), undefined, by('other'))
    expect([made.metadata.managedFields, made.spec]).toEqual([undefined, { list: [] }])
  })

  it('do not own the status but by its path, where it has one', () => {
    const live = objectOf({ size: 1 }, [owns('other', { 'f:size': {} })])
    const made = next(live, { size: 2 }, { status: { ready: true } })
    const owned = (writer: Partial<Writer>) => ownersOf(withOwnership(live, made, undefined, by('m', writer)))
    expect(owned({})).toEqual(['m Update: .spec.size'])
    expect(owned({ subresource: 'status' })).toEqual(['m Update status: .status.ready', 'other Update: .spec.size'])
    expect(owned({ subresource: 'scale' })).toEqual(['m Update scale: .spec.size'])
    expect(owned({ kind: { ...kind, hasStatus: false } })).toEqual(['m Update: .spec.size .status.ready'])
  })
})

describe('the first owner', () => {
  it('is one in one word', () => {
    const object = objectOf({ size: 1 })
    const { managedFields } = withFirstOwner(object, by('m')).metadata
    expect(managedFields).toEqual([{ ...sole, time: '2026-11-01T00:00:00Z' }])
  })

  it('is in full where finalizers hold the object, with its defaults', () => {
    const object = objectOf({ size: 1 })
    const held = { ...object, metadata: { ...object.metadata, finalizers: ['x.dev/y'] } }
    const owned = withFirstOwner(held, by('m'))
    expect(ownersOf(owned)).toEqual(['m Update: .metadata.finalizers.v:"x.dev/y" .spec.color .spec.size'])
    expect(owned.spec).toEqual({ size: 1, color: 'red' })
  })
})

describe('an applied configuration', () => {
  it('makes a new object, whose owner applies it', () => {
    const made = applyConfiguration(undefined, { metadata: { name: 'a' }, spec: { size: 1 } }, false, by('m'))
    expect([made['kind'], ownersOf(made)]).toEqual(['K', ['m Apply: .spec.size']])
  })

  it('joins the owners that are there', () => {
    const live = soleOf({ size: 1 })
    const made = applyConfiguration(live, { spec: { color: 'blue' } }, false, by('n'))
    expect(ownersOf(made)).toEqual(['m Update: .spec.size', 'n Apply: .spec.color'])
  })

  it('conflicts with another, unless it is forced', () => {
    const live = soleOf({ size: 1 })
    const apply = (force: boolean) => applyConfiguration(live, { spec: { size: 2 } }, force, by('n'))
    const message = 'Apply failed with 1 conflict: conflict with "m" using g.dev/v1: .spec.size'
    const cause = { reason: 'FieldManagerConflict', message: 'conflict with "m" using g.dev/v1', field: '.spec.size' }
    const details = { group: 'g.dev', kind: 'ks', causes: [cause] }
    expect(() => apply(false)).toThrow(expect.objectContaining({ code: 'APPLY_CONFLICT', message, details }))
    expect(ownersOf(apply(true))).toEqual(['m Update: .spec', 'n Apply: .spec.size'])
  })

  it('has owners presumed of what was never tracked', () => {
    const made = applyConfiguration(objectOf({ size: 1 }), { spec: { size: 1 } }, false, by('n'))
    expect(ownersOf(made)).toEqual(['before-first-apply Update: .spec.size', 'n Apply: .spec.size'])
  })

  it.each<[string, JsonObject, string]>([
    ['names owners', { metadata: { managedFields: [] } }, 'metadata.managedFields must be nil'],
    ['is of another shape', { spec: 'x' }, '.spec'],
  ])('is refused if it %s', (_what, config, why) => {
    const apply = () => applyConfiguration(undefined, config, false, by('m'))
    expect(apply).toThrow(expect.objectContaining({ code: 'BAD_REQUEST', message: expect.stringContaining(why) }))
  })

  it('may say null for its owners', () => {
    const config = { metadata: { name: 'a', managedFields: null }, spec: { size: 1 } }
    expect(ownersOf(applyConfiguration(undefined, config, false, by('m')))).toEqual(['m Apply: .spec.size'])
  })

  it('says nothing of metadata if it has none', () => {
    expect(ownersOf(applyConfiguration(undefined, { spec: { size: 1 } }, false, by('m')))).toEqual([
      'm Apply: .spec.size',
    ])
  })
})

describe('owners of another version', () => {
  /** v1 calls the size of v2 an amount. */
  function conversionOf(failure?: Error): Conversion {
    const convert = (object: ApiObject, version: string): ApiObject => {
      if (failure !== undefined) throw failure
      const { size, amount, ...spec } = (object.spec ?? {}) as { readonly size?: number; readonly amount?: number }
      const value = size ?? amount
      const renamed = value === undefined ? {} : { [version === 'v1' ? 'amount' : 'size']: value }
      return { ...object, apiVersion: `g.dev/${version}`, spec: { ...spec, ...renamed } }
    }
    const schemaOf = (version: string) =>
      version === 'v1' ? sized('amount') : version === 'v2' ? sized('size') : undefined
    return { convert, schemaOf } as unknown as Conversion
  }
  const in2 = (failure?: Error): Partial<Writer> => {
    return { kind: { ...kind, version: 'v2', conversion: conversionOf(failure) } }
  }
  const older = (apiVersion: string) => owns('old', { 'f:amount': {} }, { apiVersion })
  const live = (apiVersion = 'g.dev/v1') => ({ ...objectOf({ size: 1 }, [older(apiVersion)]), apiVersion: 'g.dev/v2' })
  const write = (one: ApiObject, failure?: Error) =>
    ownersOf(withOwnership(one, next(one, { size: 2 }), undefined, by('m', in2(failure))))

  it('lose the fields that are the same in theirs', () => {
    expect(write(live())).toEqual(['m Update: .spec.size'])
  })

  it('keep them if the object cannot be shown in theirs', () => {
    const failure = new OperatingError('CONVERSION_FAILED', 'no')
    expect(write(live(), failure)).toEqual(['m Update: .spec.size', 'old Update: .spec.amount'])
    expect(() => write(live(), new TypeError('a slip'))).toThrow('a slip')
  })

  it('own the same fields in all versions where nobody converts', () => {
    const one = objectOf({ size: 1, color: 'red' }, [
      owns('old', { 'f:size': {}, 'f:color': {} }, { apiVersion: 'g.dev/v0' }),
    ])
    const made = withOwnership(one, next(one, { size: 2, color: 'red' }), undefined, by('m'))
    expect(ownersOf(made)).toEqual(['m Update: .spec.size', 'old Update: .spec.color'])
  })

  it('are those of this version if nobody knows theirs', () => {
    expect(write(live('g.dev/v3'))).toEqual(['m Update: .spec.size', 'old Update: .spec.amount'])
    expect(
      write({
        ...objectOf({ size: 1 }, [owns('old', { 'f:size': {} }, { apiVersion: 'g.dev/v2' })]),
        apiVersion: 'g.dev/v2',
      }),
    ).toEqual(['m Update: .spec.size'])
  })
})

describe('managedFields', () => {
  it.each<[JsonObject, Json | undefined]>([
    [{}, undefined],
    [{ metadata: 'x' }, undefined],
    [{ metadata: {} }, undefined],
    [{ metadata: { managedFields: [] } }, []],
  ])('in %j are %j', (body, sent) => {
    expect(sentManagedFieldsOf(body)).toEqual(sent)
  })

  it('are taken over from a body that has some', () => {
    const object = objectOf({ size: 1 })
    expect(withManagedFields(object, { metadata: {} })).toBe(object)
    expect(withManagedFields(object, { metadata: { managedFields: [sole] } })).toEqual(soleOf({ size: 1 }))
  })
})
