import { describe, expect, it } from 'vitest'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { Json, JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { FieldError } from '../../../shared/model/schema/field-error.ts'
import type { StructuralSchema } from '../../../shared/model/schema/structural-schema.ts'
import { defineBuiltInKind, type ServedKind } from '../../../shared/model/served-kind.ts'
import {
  admitBody,
  checkSchema,
  faultsBeside,
  refuse,
  siftBody,
  warnOfFaults,
  withDefaults,
} from '../../../shared/resources/admission.ts'

const schema: StructuralSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', maximum: 10 },
        color: { type: 'string', default: 'red' },
        list: { type: 'array', items: { type: 'integer', maximum: 10 } },
      },
    },
    other: { type: 'integer', maximum: 10 },
  },
}
const kind: ServedKind = {
  ...defineBuiltInKind({ group: 'g.dev', kind: 'K', plural: 'ks', namespaced: true, schema }),
  builtIn: false,
}
const withSchema = (more: Partial<StructuralSchema>): ServedKind => ({ ...kind, schema: { ...schema, ...more } })

function objectOf(spec: JsonObject, more: JsonObject = {}): ApiObject {
  const metadata = { name: 'a', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '' }
  return { apiVersion: 'g.dev/v1', kind: 'K', metadata, spec, ...more }
}

function endOf(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error instanceof OperatingError ? `${error.code}: ${error.message}` : error
  }
}

describe('a body', () => {
  const owner = { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u' }
  const twice =
    '.metadata.ownerReferences contains duplicate entries, of which one is kept; duplicate UID(s) observed: u, u'
  it.each<[string, JsonObject, JsonObject, readonly string[]]>([
    ['with an unknown field', { spec: { odd: 1 } }, { spec: {} }, ['unknown field "spec.odd"']],
    [
      'with unknown fields in both parts',
      { metadata: { odd: 1 }, spec: { odd: 1 } },
      { metadata: { odd: 1 }, spec: {} },
      ['unknown field "spec.odd"', 'unknown field "metadata.odd"'],
    ],
    [
      'with owners that stand there twice',
      { metadata: { ownerReferences: [owner, owner, { ...owner, odd: 1 }] } },
      { metadata: { ownerReferences: [owner] } },
      ['unknown field "metadata.ownerReferences[2].odd"', twice],
    ],
  ])('%s is told of it', (_what, body, admitted, warnings) => {
    expect(admitBody(kind, body, {})).toStrictEqual({ body: admitted, warnings })
  })

  it.each<JsonObject>([
    { spec: { size: 1 } },
    { metadata: { name: 'a', ownerReferences: [owner] } },
    { metadata: 'x' },
    { apiVersion: 'g.dev/v1', kind: 'K' },
    { apiVersion: '', kind: '' },
    { apiVersion: null, kind: null },
  ])('%j passes as it is', (body) => {
    const admitted = admitBody(kind, body, { fieldValidation: 'Strict' })
    expect(admitted).toStrictEqual({ body, warnings: [] })
    expect(admitted.body).toBe(body)
  })

  const other = 'BAD_REQUEST: the object provided is'
  it.each<[JsonObject, string]>([
    [{ apiVersion: 5 }, 'BAD_REQUEST: apiVersion: must be a string'],
    [{ kind: {} }, 'BAD_REQUEST: kind: must be a string'],
    [{ kind: 'X' }, `${other} g.dev/v1 X, but this path is for g.dev/v1 K`],
    [{ apiVersion: 'g.dev/v2', kind: 'X' }, `${other} g.dev/v2 X, but this path is for g.dev/v1 K`],
    [{ apiVersion: 'h.dev/v1' }, `${other} h.dev/v1 K, but this path is for g.dev/v1 K`],
    [
      { apiVersion: 'g.dev/v2', kind: 'K' },
      'BAD_REQUEST: the API version in the data (g.dev/v2) does not match the expected API version (g.dev/v1)',
    ],
  ])('%j is refused', (body, end) => {
    expect(endOf(() => admitBody(kind, body, {}))).toBe(end)
  })

  it('that a patch makes is told of what is new in it', () => {
    const live = objectOf({ size: 1 })
    const strange = { ...live.metadata, odd: 1 } as ApiObject['metadata']
    const before = { ...live, metadata: strange }
    expect(admitBody(kind, { ...before }, {}, before).warnings).toEqual([])
    const made = { ...before, metadata: { ...strange }, spec: { odd: 1 } }
    const warnings = ['unknown field "spec.odd"', 'unknown field "metadata.odd"']
    expect(admitBody(kind, made as JsonObject, {}, before).warnings).toEqual(warnings)
  })
})

describe('fields that an earlier schema knew', () => {
  const of = withSchema({
    properties: {
      ...schema.properties,
      items: { type: 'array', items: { type: 'object', properties: { n: { type: 'integer' } } } },
    },
  })
  const old = { color: 'red', gone: 1 }
  const item = { n: 1, gone: 1 }
  const live = objectOf(old, { items: [item, item] })

  it.each<[string, JsonObject, readonly string[]]>([
    ['all as they were', { spec: old, items: [item, item] }, []],
    ['another field', { spec: { ...old, color: 'blue' }, items: [item, item] }, []],
    ['one of them', { spec: { ...old, gone: 2 }, items: [item, item] }, ['spec.gone']],
    ['one that is new', { spec: { ...old, odd: 1 }, items: [item, item] }, ['spec.odd']],
    ['an item with one', { spec: old, items: [item, { n: 1, gone: 2 }] }, ['items[1].gone']],
    ['the other field of such an item', { spec: old, items: [item, { n: 2, gone: 1 }] }, []],
    ['one item more', { spec: old, items: [item, item, item] }, ['items[2].gone']],
    ['no list any more', { spec: old, items: { n: 1 } }, ['items.n']],
  ])('are told of to who sends %s', (_, sent, fields) => {
    const body = { apiVersion: 'g.dev/v1', kind: 'K', metadata: { ...live.metadata }, ...sent }
    expect(faultsBeside(of, siftBody(of, body, live), live)).toEqual(fields.map((field) => `unknown field "${field}"`))
  })
})

describe('a fault that harms nothing', () => {
  const faults = ['unknown field "a"', 'unknown field "b"']
  const why = 'strict decoding error: unknown field "a", unknown field "b"'
  it.each([
    [faults, undefined, false, faults],
    [faults, 'Warn', true, faults],
    [faults.slice(1), 'Warn', false, faults.slice(1)],
    [faults, 'Ignore', false, []],
    [[], 'Strict', false, []],
    [faults, 'Strict', undefined, `UNDECODABLE: K in version "v1" cannot be handled as a K: ${why}`],
    [faults, 'Strict', true, `INVALID:  "" is invalid: patch: Invalid value: ${why}`],
  ] as const)('%j under %s, in a patch: %s', (all, fieldValidation, isPatch, end) => {
    const options = fieldValidation === undefined ? {} : { fieldValidation }
    expect(endOf(() => warnOfFaults(kind, all, options, isPatch))).toEqual(end)
  })

  it('is told by its beginning where it is very long', () => {
    const all = Array.from({ length: 100 }, (_, i) => `unknown field "${i}${'p'.repeat(100_000)}"`)
    expect(warnOfFaults(kind, all, {}).join('').length).toBeLessThan(110_000)
    const refused = String(endOf(() => warnOfFaults(kind, all, { fieldValidation: 'Strict' })))
    expect([refused.length < 110_000, refused.includes('unknown field "99ppp')]).toEqual([true, true])
  })

  it('is told of a body and of a patch in their own words', () => {
    const odd = { spec: { odd: 1 } }
    const options = { fieldValidation: 'Strict' } as const
    expect(endOf(() => admitBody(kind, odd, options))).toContain('UNDECODABLE')
    expect(endOf(() => admitBody(kind, odd, options, objectOf({})))).toContain('INVALID')
  })
})

it('an object gets the defaults of its schema, and stays the same if it has them', () => {
  const whole = withDefaults(kind, objectOf({ size: 1 }))
  expect(whole.spec).toEqual({ size: 1, color: 'red' })
  expect(withDefaults(kind, whole)).toBe(whole)
})

describe('the schema', () => {
  const rules = { 'x-kubernetes-validations': [{ rule: "self.metadata.name == 'b'", message: 'is not b' }] }
  const shortNames = { metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 0 } } } } as const
  const long = 'metadata.name: Too long: may not be more than 0 bytes'
  const one = { oneOf: [{ required: ['spec'] }, { required: ['other'] }] }
  const large = (field: string, value: number) =>
    `${field}: Invalid value: ${value}: ${field} in body should be less than or equal to 10`
  const faultsOf = (of: ServedKind, object: ApiObject, live?: ApiObject) =>
    checkSchema(of, object, live).map(({ field, message }) => `${field}: ${message}`)

  it.each<[string, ServedKind, ApiObject, readonly string[]]>([
    ['what fits', kind, objectOf({ size: 1 }), []],
    ['what does not', kind, objectOf({ size: 11 }), [large('spec.size', 11)]],
    ['rules', withSchema(rules), objectOf({}), ['<nil>: Invalid value: "object": is not b']],
    ['rules only of what fits', withSchema(rules), objectOf({ size: 11 }), [large('spec.size', 11)]],
    ['no rules of built-in kinds', { ...withSchema(rules), builtIn: true }, objectOf({}), []],
  ])('tells of %s', (_what, of, object, faults) => {
    expect(faultsOf(of, object)).toEqual(faults)
  })

  it.each<[string, ServedKind, ApiObject, ApiObject, readonly string[]]>([
    ['what was so before', kind, objectOf({ size: 11 }), objectOf({ size: 11, color: 'blue' }), []],
    ['what is so now', kind, objectOf({ size: 11 }), objectOf({ size: 12 }), [large('spec.size', 12)]],
    ['an item that is so now', kind, objectOf({ list: [1] }), objectOf({ list: [11] }), [large('spec.list[0]', 11)]],
    [
      'a field with a dot in its name',
      withSchema({ properties: { 'a.b': { type: 'integer', maximum: 10 } } }),
      objectOf({}, { 'a.b': 1 }),
      objectOf({}, { 'a.b': 11 }),
      [large('a.b', 11)],
    ],
    [
      'one field beside another',
      kind,
      objectOf({}, { other: 11 }),
      objectOf({ size: 11 }, { other: 11 }),
      [large('spec.size', 11)],
    ],
    [
      'what a write leaves',
      withSchema({ required: ['spec'] }),
      objectOf({}, { spec: undefined as never }),
      objectOf({}, { spec: undefined as never, other: 1 }),
      [],
    ],
    [
      'what a write takes',
      withSchema({ required: ['spec'] }),
      objectOf({}),
      objectOf({}, { spec: undefined as never }),
      ['spec: Required value'],
    ],
    [
      'a name that is new',
      withSchema({ properties: { ...schema.properties, ...shortNames } }),
      { ...objectOf({}), metadata: { ...objectOf({}).metadata, name: '' } },
      objectOf({}),
      [long],
    ],
  ])('tells of a write: %s', (...row) => {
    const [, of, live, next, faults] = row
    expect(faultsOf(of, next, live)).toEqual(faults)
  })

  describe('of an object that breaks a rule that was made after it', () => {
    const small = { rule: '!has(self.spec) || !has(self.spec.size) || self.spec.size < 5', message: 'is too large' }
    const calm = { rule: "!has(self.status) || self.status.mood != 'angry'", message: 'is angry' }
    const of = withSchema({
      properties: { ...schema.properties, status: { type: 'object', properties: { mood: { type: 'string' } } } },
      'x-kubernetes-validations': [small, calm],
    })
    const live = objectOf({ size: 7 }, { status: { mood: 'well' } })
    const [isLarge, isAngry] = ['is too large', 'is angry'].map((text) => `<nil>: Invalid value: "object": ${text}`)

    it.each<[string, JsonObject, readonly (string | undefined)[]]>([
      ['metadata', { metadata: { ...live.metadata, labels: { a: 'b' } } }, []],
      ['status', { status: { mood: 'fine' } }, []],
      ['status, by which it breaks another', { status: { mood: 'angry' } }, [isAngry]],
      ['spec', { spec: { size: 8 } }, [isLarge]],
      ['spec and status', { spec: { size: 8 }, status: { mood: 'angry' } }, [isLarge, isAngry]],
    ])('tells of a write of its %s', (_, change, faults) => {
      expect(faultsOf(of, { ...live, ...change }, live)).toEqual(faults)
    })

    it('tells of all of them at its creation', () => {
      expect(faultsOf(of, { ...live, status: { mood: 'angry' } })).toEqual([isLarge, isAngry])
    })
  })

  it('tells of the whole object if any of it has moved, and not if only its metadata has', () => {
    const of = withSchema(one)
    const live = objectOf({}, { other: 1 })
    expect(faultsOf(of, { ...live, metadata: { ...live.metadata, labels: { a: 'b' } } }, live)).toEqual([])
    expect(faultsOf(of, { ...live, other: 2 }, live)).toHaveLength(1)
    expect(faultsOf(of, { ...live, other: 2, spec: { size: 2 } }, live)).toHaveLength(1)
  })
})

describe('a refusal', () => {
  const fault = (field: string, reason: FieldError['reason'] = 'FieldValueInvalid'): FieldError => {
    return { field, reason, message: 'Invalid value: "x"' }
  }
  const told = ({ group = 'g.dev', ...more }: Partial<ServedKind>, ...found: readonly FieldError[]) =>
    endOf(() => refuse({ group, kind: 'K', ...more }, 'a', found))

  it.each<[Partial<ServedKind>, readonly string[], Json]>([
    [{}, [], null],
    [{}, ['spec'], 'INVALID: K.g.dev "a" is invalid: spec: Invalid value: "x"'],
    [{ group: '' }, ['spec'], 'INVALID: K "a" is invalid: spec: Invalid value: "x"'],
    [{}, ['x', 'y'], 'INVALID: K.g.dev "a" is invalid: [x: Invalid value: "x", y: Invalid value: "x"]'],
    [{ isConfidential: true }, ['data'], 'INVALID: K.g.dev "a" is invalid: data: Invalid value'],
    [
      { isConfidential: true },
      ['metadata.labels', 'metadata.annotations.a'],
      'INVALID: K.g.dev "a" is invalid: [metadata.labels: Invalid value: "x", metadata.annotations.a: Invalid value]',
    ],
  ])('of a kind with %j for %j', (of, fields, end) => {
    expect(told(of, ...fields.map((field) => fault(field))) ?? null).toBe(end)
  })

  it('of what may not be there at all shows no value', () => {
    const forbidden = { field: 'data', reason: 'FieldValueForbidden', message: 'Forbidden: it is fixed' } as const
    expect(told({ isConfidential: true }, forbidden)).toBe(
      'INVALID: K.g.dev "a" is invalid: data: Forbidden: it is fixed',
    )
  })

  it('has a cause for each fault', () => {
    const causes = [fault('x'), fault('y')]
    const details = { name: 'a', group: 'g.dev', kind: 'K', causes }
    expect(() => refuse(kind, 'a', causes)).toThrow(expect.objectContaining({ code: 'INVALID', details }))
  })
})
