import { describe, expect, it } from 'vitest'
import { validateRules } from '../../../../shared/model/cel/validate-rules.ts'
import type { Json } from '../../../../shared/model/json.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'
import { validate } from '../../../../shared/model/schema/validate.ts'
import { processorMs } from '../../../support/processor-time.ts'
import { goTimePattern } from '../../../../shared/model/time.ts'

const text: StructuralSchema = { type: 'string' }

interface Row {
  readonly because: string
  readonly schema: StructuralSchema
  readonly value: Json
  /** `field: message`, as kubectl prints it; none if the value is valid. */
  readonly errors?: readonly string[]
}

/** The messages here were compared with what apiextensions-apiserver 0.32 says to the same schemas and values. */
const embedded = {
  type: 'object',
  'x-kubernetes-embedded-resource': true,
  'x-kubernetes-preserve-unknown-fields': true,
} as const
const resource = { apiVersion: 'apps/v1', kind: 'Deployment' }

const rows: readonly Row[] = [
  {
    because: 'a value of another type says which was found',
    schema: { type: 'integer' },
    value: 'three',
    errors: ['spec: Invalid value: "string": spec in body must be of type integer: "string"'],
  },
  {
    because: 'a fraction is no integer',
    schema: { type: 'integer' },
    value: 1.5,
    errors: ['spec: Invalid value: "number": spec in body must be of type integer: "number"'],
  },
  { because: 'an integer is a number', schema: { type: 'number' }, value: 1 },
  {
    because: 'beyond 64 bits there are no integers',
    schema: { type: 'integer' },
    value: 1e19,
    errors: ['spec: Invalid value: "number": spec in body must be of type integer: "number"'],
  },
  {
    because: 'null is no text',
    schema: text,
    value: null,
    errors: ['spec: Invalid value: "null": spec in body must be of type string: "null"'],
  },
  { because: 'null is allowed where it is said to be', schema: { ...text, nullable: true, minLength: 3 }, value: null },
  {
    because: 'a nullable value still has to be one of those listed',
    schema: { ...text, nullable: true, enum: ['a'] },
    value: null,
    errors: ['spec: Unsupported value: null: supported values: "a"'],
  },
  { because: 'null may be one of those listed', schema: { ...text, nullable: true, enum: ['a', null] }, value: null },
  {
    because: 'without a type anything goes',
    schema: { 'x-kubernetes-preserve-unknown-fields': true },
    value: [null, 1, {}],
  },
  { because: 'an int-or-string is an integer', schema: { 'x-kubernetes-int-or-string': true }, value: 80 },
  { because: 'an int-or-string is a string', schema: { 'x-kubernetes-int-or-string': true }, value: '80%' },
  {
    because: 'an int-or-string is nothing else',
    schema: { 'x-kubernetes-int-or-string': true },
    value: 1.5,
    errors: ['spec: Invalid value: "number": spec in body must be of type integer,string: "number"'],
  },
  {
    because: 'an int-or-string may be written the long way',
    schema: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    value: 80,
  },
  {
    because: 'bounds are named',
    schema: { type: 'integer', minimum: 1 },
    value: 0,
    errors: ['spec: Invalid value: 0: spec in body should be greater than or equal to 1'],
  },
  {
    because: 'exclusive bounds do not include themselves',
    schema: { type: 'integer', minimum: 1, exclusiveMinimum: true },
    value: 1,
    errors: ['spec: Invalid value: 1: spec in body should be greater than 1'],
  },
  {
    because: 'upper bounds are named',
    schema: { type: 'number', maximum: 1.5 },
    value: 2,
    errors: ['spec: Invalid value: 2: spec in body should be less than or equal to 1.5'],
  },
  {
    because: 'exclusive upper bounds do not include themselves',
    schema: { type: 'number', maximum: 2, exclusiveMaximum: true },
    value: 2,
    errors: ['spec: Invalid value: 2: spec in body should be less than 2'],
  },
  {
    because: 'multiples are exact between integers',
    schema: { type: 'integer', multipleOf: 3 },
    value: 10_000_000_000,
    errors: ['spec: Invalid value: 10000000000: spec in body should be a multiple of 3'],
  },
  {
    because: 'multiples forgive what binary fractions cannot say',
    schema: { type: 'number', multipleOf: 0.1 },
    value: 0.3,
  },
  {
    because: 'every broken bound is reported',
    schema: { type: 'integer', multipleOf: 2, maximum: 4 },
    value: 5,
    errors: [
      'spec: Invalid value: 5: spec in body should be a multiple of 2',
      'spec: Invalid value: 5: spec in body should be less than or equal to 4',
    ],
  },
  {
    because: 'int32 is a range',
    schema: { type: 'integer', format: 'int32' },
    value: 2 ** 31,
    errors: ['spec: Invalid value: "": Checked value must be of type integer with format int32 in spec'],
  },
  { because: 'int64 holds more', schema: { type: 'integer', format: 'int64' }, value: 2 ** 31 },
  {
    because: 'a fraction where an int32 is asked for is a matter of the format',
    schema: { type: 'integer', format: 'int32' },
    value: 0.5,
    errors: ['spec: Invalid value: "float64": spec in body must be of type int32: "float64"'],
  },
  {
    because: 'a float is a range',
    schema: { type: 'number', format: 'float' },
    value: 1e39,
    errors: ['spec: Invalid value: "": Checked value must be of type number with format float in spec'],
  },
  {
    because: 'lengths count characters, not the halves of a surrogate pair',
    schema: { ...text, maxLength: 2 },
    value: '𝒳𝒳𝒳',
    errors: ['spec: Too long: may not be more than 2 bytes'],
  },
  { because: 'a pair is one character', schema: { ...text, maxLength: 2 }, value: '𝒳𝒳' },
  {
    because: 'short texts are shown',
    schema: { ...text, minLength: 2 },
    value: '𝒳',
    errors: ['spec: Invalid value: "𝒳": spec in body should be at least 2 chars long'],
  },
  {
    because: 'patterns are shown',
    schema: { ...text, pattern: '^[a-z]+$' },
    value: 'A',
    errors: ['spec: Invalid value: "A": spec in body should match \'^[a-z]+$\''],
  },
  {
    because: 'a time that Go cannot read is answered with one that it can',
    schema: { ...text, format: 'date-time', pattern: goTimePattern },
    value: '2026-11-28t00:00:00z',
    errors: ['spec: Invalid value: "2026-11-28t00:00:00z": spec in body must be a time such as 2026-01-01T00:00:00Z'],
  },
  { because: 'a pattern without anchors may match anywhere', schema: { ...text, pattern: 'b' }, value: 'abc' },
  { because: 'patterns have the syntax of RE2', schema: { ...text, pattern: '^(?i)[[:alpha:]]\\pL\\z' }, value: 'Aä' },
  {
    because: 'one of a list is asked for',
    schema: { ...text, enum: ['a', 'b'] },
    value: 'x',
    errors: ['spec: Unsupported value: "x": supported values: "a", "b"'],
  },
  {
    because: 'what is listed need not be text',
    schema: { type: 'integer', enum: [1, 2] },
    value: 3,
    errors: ['spec: Unsupported value: 3: supported values: "1", "2"'],
  },
  {
    because: 'listed objects are compared as values',
    schema: { type: 'object', enum: [{ a: [1] }] },
    value: { a: [1] },
  },
  {
    because: 'a format of texts names itself',
    schema: { ...text, format: 'date-time' },
    value: 'soon',
    errors: ['spec: Invalid value: "soon": spec in body must be of type date-time: "soon"'],
  },
  {
    because: 'a format asks for a text',
    schema: { ...text, format: 'date' },
    value: 5,
    errors: ['spec: Invalid value: "int64": spec in body must be of type date: "int64"'],
  },
  {
    because: 'a list is no text, whatever the format',
    schema: { ...text, format: 'date' },
    value: [],
    errors: ['spec: Invalid value: "array": spec in body must be of type string: "array"'],
  },
  { because: 'a format nobody checks is none', schema: { ...text, format: 'semver' }, value: 'x' },
  {
    because: 'required fields have the path they should have',
    schema: { type: 'object', required: ['a', 'b'], properties: { a: text, b: text } },
    value: { a: 'x' },
    errors: ['spec.b: Required value'],
  },
  {
    because: 'what every object inherits is not there',
    schema: { type: 'object', required: ['constructor', 'toString'] },
    value: {},
    errors: ['spec.constructor: Required value', 'spec.toString: Required value'],
  },
  {
    because: 'paths go through fields, lists and maps',
    schema: {
      type: 'object',
      properties: { list: { type: 'array', items: { type: 'object', additionalProperties: { type: 'integer' } } } },
    },
    value: { list: [{}, { key: 'x' }] },
    errors: ['spec.list[1].key: Invalid value: "string": spec.list[1].key in body must be of type integer: "string"'],
  },
  {
    because: 'fields can be few',
    schema: { type: 'object', minProperties: 2 },
    value: { a: 1 },
    errors: ['spec: Invalid value: 1: spec in body should have at least 2 properties'],
  },
  {
    because: 'fields can be many',
    schema: { type: 'object', maxProperties: 1 },
    value: { a: 1, b: 2 },
    errors: ['spec: Too many: 2: must have at most 1 items'],
  },
  {
    because: 'additionalProperties: false refuses by name',
    schema: { type: 'object', additionalProperties: false },
    value: { odd: 1 },
    errors: ['spec: Invalid value: "odd": spec.odd in body is a forbidden property'],
  },
  {
    because: 'items can be few',
    schema: { type: 'array', items: text, minItems: 1 },
    value: [],
    errors: ['spec: Invalid value: 0: spec in body should have at least 1 items'],
  },
  {
    because: 'items can be many',
    schema: { type: 'array', items: text, maxItems: 1 },
    value: ['a', 'b'],
    errors: ['spec: Too many: 2: must have at most 1 items'],
  },
  {
    because: 'unique items are compared as values',
    schema: { type: 'array', items: { type: 'object' }, uniqueItems: true },
    value: [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    errors: ['spec: Invalid value: "": spec in body shouldn\'t contain duplicates'],
  },
  {
    because: 'a set names each repeated value once, at its second place',
    schema: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    value: ['a', 'b', 'a', 'a', 'b'],
    errors: ['spec[2]: Duplicate value: "a"', 'spec[4]: Duplicate value: "b"'],
  },
  {
    because: 'a text and the number it looks like differ in a set',
    schema: { type: 'array', items: { 'x-kubernetes-int-or-string': true }, 'x-kubernetes-list-type': 'set' },
    value: ['1', 1],
  },
  {
    because: 'items of a list map differ in their keys',
    schema: {
      type: 'array',
      items: { type: 'object' },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    },
    value: [{ name: 'a', n: 1 }, { name: 'b' }, { name: 'a', n: 2 }],
    errors: ['spec[2]: Duplicate value: {"name":"a"}'],
  },
  {
    because: 'several keys count together',
    schema: {
      type: 'array',
      items: { type: 'object' },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port', 'protocol'],
    },
    value: [
      { port: 53, protocol: 'TCP' },
      { port: 53, protocol: 'UDP' },
      { port: 53, protocol: 'TCP' },
    ],
    errors: ['spec[2]: Duplicate value: {"port":53,"protocol":"TCP"}'],
  },
  {
    because: 'a list map holds objects',
    schema: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
    value: [{ name: 'a' }, 'b'],
    errors: ['spec[1]: Invalid value: "b": must be an object for an array of list-type map'],
  },
  {
    because: 'of alternatives, the one that was missed by least explains itself',
    schema: { type: 'object', anyOf: [{ required: ['a', 'b'] }, { required: ['c'] }] },
    value: {},
    errors: ['spec: Invalid value: "": "spec" must validate at least one schema (anyOf)', 'spec.c: Required value'],
  },
  { because: 'one alternative is enough', schema: { type: 'object', anyOf: [{ required: ['a'] }, {}] }, value: {} },
  {
    because: 'exactly one of several is asked for',
    schema: { type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    value: { a: 1, b: 1 },
    errors: [
      'spec: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ],
  },
  {
    because: 'none of several is too few',
    schema: { type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    value: {},
    errors: [
      'spec: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found none valid',
      'spec.a: Required value',
    ],
  },
  {
    because: 'all of several explain themselves',
    schema: { type: 'object', allOf: [{ required: ['a'] }, {}] },
    value: {},
    errors: ['spec.a: Required value', 'spec: Invalid value: "": "spec" must validate all the schemas (allOf)'],
  },
  {
    because: 'what must not be may not be',
    schema: { type: 'object', not: { required: ['a'] } },
    value: { a: 1 },
    errors: ['spec: Invalid value: "": "spec" must not validate the schema (not)'],
  },
  {
    because: 'an embedded resource names its kind',
    schema: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    value: { apiVersion: 'a/b/c', metadata: 1 },
    errors: [
      'spec.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      'spec.kind: Required value',
      'spec.metadata: Invalid value: 1: must be an object',
    ],
  },
  {
    because: 'an embedded resource names it by a text that is one',
    schema: embedded,
    value: { apiVersion: '', kind: '' },
    errors: [
      'spec.apiVersion: Invalid value: "": must not be empty',
      'spec.kind: Invalid value: "": must not be empty',
    ],
  },
  {
    because: 'an embedded resource names it by a text',
    schema: embedded,
    value: { apiVersion: 1, kind: ['K'] },
    errors: [
      'spec.apiVersion: Invalid value: 1: must be a string',
      'spec.kind: Invalid value: ["K"]: must be a string',
    ],
  },
  {
    because: 'metadata of an embedded resource has its types',
    schema: embedded,
    value: { ...resource, metadata: { name: 'a', labels: { a: 1 } } },
    errors: ['spec.metadata.labels.a: Invalid value: 1: must be a string; quote it in YAML'],
  },
  {
    because: 'metadata of an embedded resource holds what metadata may hold',
    schema: embedded,
    value: {
      ...resource,
      metadata: { name: 'a/b', namespace: 'A', labels: { 'a b': '' }, ownerReferences: [null], finalizers: ['a b'] },
    },
    errors: [
      'spec.metadata.name: Invalid value: "a/b": may not contain \'/\'',
      expect.stringContaining('spec.metadata.labels: Invalid value: "a b": name part must consist of') as never,
      ...['apiVersion', 'kind', 'name', 'uid'].map(
        (name) => `spec.metadata.ownerReferences[0].${name}: Required value`,
      ),
      'spec.metadata.finalizers: Invalid value: "a b": must be a qualified name such as example.com/cleanup',
      expect.stringContaining('spec.metadata.namespace: Invalid value: "A": a lowercase RFC 1123 label') as never,
    ],
  },
  {
    because: 'metadata of an embedded resource needs no name',
    schema: embedded,
    value: { ...resource, metadata: { labels: null, annotations: { a: null }, creationTimestamp: null } },
  },
  {
    because: 'an embedded resource is one',
    schema: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    value: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: {}, spec: 1 },
  },
]

describe('validate', () => {
  it.each(rows)('$because', ({ schema, value, errors = [] }) => {
    const found = validate({ type: 'object', properties: { spec: schema } }, { spec: value })
    expect(found.map(({ field, message }) => `${field}: ${message}`)).toEqual(errors)
  })

  it('gives each error the reason Kubernetes gives it', () => {
    const schema: StructuralSchema = {
      type: 'object',
      required: ['gone'],
      properties: {
        type: { type: 'integer' },
        bound: { type: 'integer', maximum: 1 },
        choice: { type: 'string', enum: ['a'] },
        long: { type: 'string', maxLength: 1 },
        many: { type: 'array', items: text, maxItems: 1 },
        set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
      },
    }
    const value = { type: 'x', bound: 2, choice: 'b', long: 'xx', many: ['a', 'b'], set: ['a', 'a'] }
    expect(validate(schema, value).map(({ field, reason }) => `${field} ${reason}`)).toEqual([
      'type FieldValueTypeInvalid',
      'bound FieldValueInvalid',
      'choice FieldValueNotSupported',
      'long FieldValueTooLong',
      'many FieldValueTooMany',
      'set[1] FieldValueDuplicate',
      'gone FieldValueRequired',
    ])
  })

  it('begins paths where it is told the value stands', () => {
    const [error] = validate(text, 5, { path: 'status.phase' })
    expect(error?.message).toBe('Invalid value: "integer": status.phase in body must be of type string: "integer"')
  })

  it('reports a hundred errors at most, also from inside alternatives', () => {
    const numbers: StructuralSchema = { type: 'array', items: { type: 'integer' } }
    const texts = Array.from({ length: 10_000 }, () => 'x')
    expect(validate(numbers, texts)).toHaveLength(100)
    expect(validate({ type: 'array', anyOf: [numbers, numbers] }, texts)).toHaveLength(100)
  })
})

describe('validate on an update', () => {
  const schema: StructuralSchema = {
    type: 'object',
    properties: {
      size: { type: 'integer', maximum: 10 },
      mode: text,
      inner: { type: 'object', required: ['a'], properties: { b: text } },
      list: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        items: { type: 'object', properties: { name: text, n: { type: 'integer', maximum: 10 } } },
      },
      plain: { type: 'array', items: { type: 'integer', maximum: 10 } },
    },
  }

  const updates = [
    { because: 'what was wrong before may stay', old: { size: 11 }, value: { size: 11, mode: 'x' }, fields: [] },
    { because: 'what is newly wrong may not', old: { size: 10 }, value: { size: 11 }, fields: ['size'] },
    { because: 'what is wrong in another way may not', old: { size: 11 }, value: { size: 12 }, fields: ['size'] },
    {
      because: 'a field may stay away from an object that did not change',
      old: { inner: {} },
      value: { inner: {}, mode: 'x' },
      fields: [],
    },
    {
      because: 'an object that changes is held to all of its rules',
      old: { inner: {} },
      value: { inner: { b: 'x' } },
      fields: ['inner.a'],
    },
    {
      because: 'an item is known by its keys, wherever it moves',
      old: { list: [{ name: 'a', n: 11 }, { name: 'b' }] },
      value: { list: [{ name: 'b' }, { name: 'a', n: 11 }] },
      fields: [],
    },
    {
      because: 'an item under new keys is new',
      old: { list: [{ name: 'a', n: 11 }] },
      value: { list: [{ name: 'b', n: 11 }] },
      fields: ['list[0].n'],
    },
    {
      because: 'items of a plain list have no past of their own',
      old: { plain: [11] },
      value: { plain: [11, 1] },
      fields: ['plain[0]'],
    },
    {
      because: 'a plain list that did not change may stay',
      old: { plain: [11] },
      value: { plain: [11], mode: 'x' },
      fields: [],
    },
  ]

  it.each(updates)('$because', ({ old, value, fields }) => {
    expect(validate(schema, value, { old }).map(({ field }) => field)).toEqual(fields)
  })

  it('stays fast with many old errors', () => {
    const entries = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key${i}`, { n: 'x' }]))
    const map: StructuralSchema = {
      type: 'object',
      additionalProperties: { type: 'object', additionalProperties: { type: 'integer' } },
    }
    const changed = { ...structuredClone(entries), extra: {} }
    expect(processorMs(() => expect(validate(map, changed, { old: entries })).toEqual([]))).toBeLessThan(2_000)
  })
})

it('names the place of an error below a very long name by its beginning', () => {
  const schema: StructuralSchema = {
    type: 'object',
    additionalProperties: {
      type: 'object',
      additionalProperties: { type: 'integer', maximum: 1 },
      'x-kubernetes-validations': [{ rule: 'self.size() < 2', message: 'too many' }],
    },
  }
  const long = {
    ['p'.repeat(100_000)]: Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`a${i}`, i % 2 ? 'x' : 2])),
  }
  for (const errors of [validate(schema, long), validateRules(schema, { ['p'.repeat(100_000)]: { a: 1, b: 1 } })]) {
    expect(errors.length).toBeGreaterThan(0)
    expect(errors[0]?.field).toMatch(/^\[?p{999,1000}…$/)
    expect(JSON.stringify(errors).length).toBeLessThan(errors.length * 3_000)
  }
})

it('finds the past of each item of a long list map in no more than its time', () => {
  const items: StructuralSchema = { type: 'object', properties: { name: text, value: { ...text, minLength: 3 } } }
  const schema: StructuralSchema = {
    type: 'array',
    items,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
  }
  const old = Array.from({ length: 12_000 }, (_, i) => ({ name: `n${i}`, value: 'x' }))
  const next = [...old.map((item) => ({ ...item })).toReversed(), { name: 'new', value: 'y' }]
  const tookMs = processorMs(() => expect(validate(schema, next, { old, path: 'spec' })).toHaveLength(1))
  expect(tookMs).toBeLessThan(1_000)
})
