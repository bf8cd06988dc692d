import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkStructural } from '../../../../shared/model/schema/structural.ts'
import { schemaAndValue } from './schema-arbitrary.ts'
import { share } from '../../../support/strength.ts'

const text = { type: 'string' }
const preserving = { 'x-kubernetes-preserve-unknown-fields': true }

interface Row {
  readonly because: string
  /** Of the field `f` of the root. */
  readonly field?: unknown
  /** Instead of `field`: the whole schema. */
  readonly schema?: unknown
  /** Beginnings of `path: message`; none if the schema is structural. */
  readonly errors?: readonly string[]
}

const f = 'properties[f]'

/** Compared with what apiextensions-apiserver 0.32 says of the same schemas. */
const rows: readonly Row[] = [
  { because: 'a text is a text', field: text },
  {
    because: 'every field says its type',
    field: {},
    errors: [
      `${f}.type: Required value: must not be empty for specified object fields; for a value of any type say x-kubernetes-`,
    ],
  },
  {
    because: 'items say their type',
    field: { type: 'array', items: {} },
    errors: [`${f}.items.type: Required value: must not be empty for specified array items`],
  },
  { because: 'what preserves needs no type', field: preserving },
  { because: 'an int-or-string needs no type', field: { 'x-kubernetes-int-or-string': true } },
  {
    because: 'the root is an object',
    schema: text,
    errors: ['type: Invalid value: "string": must be object at the root'],
  },
  {
    because: 'the root says so',
    schema: { properties: {} },
    errors: ['type: Required value: must not be empty at the root'],
  },
  {
    because: 'the root is never null',
    schema: { type: 'object', nullable: true },
    errors: ['nullable: Forbidden: nullable cannot be true at the root'],
  },
  {
    because: 'the root has fields, not entries',
    schema: { type: 'object', additionalProperties: text },
    errors: ['additionalProperties: Forbidden: must not be used at the root'],
  },
  {
    because: 'a list describes its items',
    field: { type: 'array' },
    errors: [`${f}.items: Required value: must be specified`],
  },
  {
    because: 'an object has named fields or a map has entries',
    field: { type: 'object', properties: { a: text }, additionalProperties: text },
    errors: [`${f}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`],
  },
  {
    because: 'uniqueItems would take time',
    field: { type: 'array', items: text, uniqueItems: true },
    errors: [
      `${f}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic; use x-kubernetes-list-type: set`,
    ],
  },
  {
    because: 'preserving is switched on or left out',
    field: { type: 'object', 'x-kubernetes-preserve-unknown-fields': false },
    errors: [`${f}.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined`],
  },
  {
    because: 'an int-or-string has nothing to preserve',
    field: { 'x-kubernetes-int-or-string': true, ...preserving },
    errors: [
      `${f}.x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true`,
    ],
  },
  {
    because: 'branches do not repeat the type',
    field: { ...text, anyOf: [{ type: 'string', minLength: 1 }] },
    errors: [
      `${f}.anyOf[0].type: Forbidden: must be empty to be structural; say it outside of allOf, anyOf, oneOf and not`,
    ],
  },
  {
    because: 'an integer or a string may be spelled out',
    field: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
  },
  {
    because: 'an integer or a string may be spelled out with more to say',
    field: {
      'x-kubernetes-int-or-string': true,
      allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: '^1' }],
    },
  },
  {
    because: 'the spelling is to the letter',
    field: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'string' }, { type: 'integer' }] },
    errors: [`${f}.anyOf[0].type: Forbidden`, `${f}.anyOf[1].type: Forbidden`],
  },
  {
    because: 'branches only restrict values',
    field: {
      ...text,
      not: {
        title: 'a',
        description: 'b',
        default: 1,
        nullable: true,
        additionalProperties: text,
        'x-kubernetes-list-type': 'set',
      },
    },
    errors: ['title', 'description', 'default', 'nullable', 'additionalProperties', 'x-kubernetes-list-type'].map(
      (keyword) => `${f}.not.${keyword}: Forbidden: must be`,
    ),
  },
  {
    because: 'branches of branches only restrict values',
    field: { type: 'object', properties: { a: text }, allOf: [{ oneOf: [{ properties: { a: { type: 'string' } } }] }] },
    errors: [`${f}.allOf[0].oneOf[0].properties[a].type: Forbidden: must be empty to be structural`],
  },
  {
    because: 'branches of the root speak of fields that are described',
    schema: { type: 'object', properties: { a: text }, anyOf: [{ properties: { b: { minLength: 1 } } }] },
    errors: ['properties[b]: Required value: because it is defined in anyOf[0].properties[b]'],
  },
  {
    because: 'branches say nothing of metadata',
    schema: { type: 'object', properties: { metadata: { type: 'object' } }, anyOf: [{ properties: { metadata: {} } }] },
    errors: ['anyOf[0].properties[metadata]: Forbidden: must not be specified in a nested context'],
  },
  {
    because: 'metadata may restrict names',
    schema: {
      type: 'object',
      properties: { metadata: { type: 'object', properties: { name: { ...text, maxLength: 5 } } } },
    },
  },
  {
    because: 'metadata is otherwise given',
    schema: {
      type: 'object',
      properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
    },
    errors: ['properties[metadata]: Forbidden: must not specify anything other than name and generateName'],
  },
  {
    because: 'apiVersion and kind are texts',
    schema: { type: 'object', properties: { apiVersion: { type: 'integer' }, kind: text } },
    errors: ['properties[apiVersion].type: Invalid value: "integer": must be string'],
  },
  {
    because: 'what is given has no defaults',
    schema: { type: 'object', properties: { kind: { ...text, default: 'X' } } },
    errors: ['properties[kind].default: Forbidden: must not be set in top-level kind'],
  },
  {
    because: 'an embedded resource preserves or describes',
    field: { type: 'object', 'x-kubernetes-embedded-resource': true, ...preserving },
  },
  {
    because: 'an embedded resource is an object with fields',
    field: { 'x-kubernetes-embedded-resource': true },
    errors: [
      `${f}.type: Required value: must be object if x-kubernetes-embedded-resource`,
      `${f}.properties: Required value: must not be empty if`,
    ],
  },
  { because: 'a set of texts is one', field: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' } },
  {
    because: 'items of a set are compared whole',
    field: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' },
    errors: [
      `${f}.items.x-kubernetes-map-type: Invalid value: "granular": must be atomic as item of a list with x-kubernetes-list-type=set`,
    ],
  },
  {
    because: 'only lists have a list type',
    field: { ...text, 'x-kubernetes-list-type': 'set' },
    errors: [`${f}.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified`],
  },
  {
    because: 'only objects have a map type',
    field: { ...text, 'x-kubernetes-map-type': 'atomic' },
    errors: [`${f}.type: Invalid value: "string": must be object if x-kubernetes-map-type is specified`],
  },
  {
    because: 'a list map has keys',
    field: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' },
    errors: [`${f}.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`],
  },
  {
    because: 'keys are for list maps',
    field: { type: 'array', items: text, 'x-kubernetes-list-map-keys': ['a'] },
    errors: [`${f}.x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty`],
  },
  {
    because: 'keys are fields of the items, single values, and always there',
    field: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['gone', 'list', 'optional', 'given', 'needed', 'constructor'],
      items: {
        type: 'object',
        required: ['list', 'needed'],
        properties: {
          list: { type: 'array', items: text },
          optional: text,
          given: { ...text, default: 'x' },
          needed: { ...text, nullable: true },
        },
      },
    },
    errors: [
      `${f}.x-kubernetes-list-map-keys: Invalid value: "gone": entries must all be names of item properties`,
      `${f}.items.properties[list].type: Invalid value: "array": must be a scalar type if parent array's x-kubernetes-list-type is map`,
      `${f}.items.properties[optional].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
      `${f}.items.properties[needed].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable`,
      `${f}.x-kubernetes-list-map-keys: Invalid value: "constructor": entries must all be names of item properties`,
    ],
  },
  { because: 'a default fits', field: { type: 'object', default: { a: 'x' }, properties: { a: text } } },
  {
    because: 'a default is held against its own schema',
    field: { type: 'integer', default: 'x' },
    errors: [`${f}.default: Invalid value: "string": ${f}.default in body must be of type integer: "string"`],
  },
  {
    because: 'a default has no fields that would be pruned',
    field: { type: 'object', default: { b: 1 }, properties: { a: text } },
    errors: [`${f}.default: Invalid value: {"b":1}: must not have unknown fields; b is not in the schema`],
  },
  {
    because: 'a pattern compiles, wherever it stands',
    field: { ...text, pattern: '(', allOf: [{ pattern: '[' }] },
    errors: [
      `${f}.pattern: Invalid value: "(": must be a valid regular expression, but isn't: error parsing`,
      `${f}.allOf[0].pattern: Invalid value: "["`,
    ],
  },
  {
    because: 'a rule over several lines needs a message',
    field: {
      ...text,
      'x-kubernetes-validations': [
        { rule: 'self\n!= ""' },
        { rule: ' ' },
        { rule: 'true', message: ' ' },
        { rule: 'true', messageExpression: ' ' },
      ],
    },
    errors: [
      `${f}.x-kubernetes-validations[0].message: Required value: message must be specified if rule contains line breaks`,
      `${f}.x-kubernetes-validations[1].rule: Required value: rule is not specified`,
      `${f}.x-kubernetes-validations[2].message: Invalid value: " ": must be non-empty if specified`,
      `${f}.x-kubernetes-validations[3].messageExpression: Required value: must be non-empty if specified`,
    ],
  },
  {
    because: 'a schema is an object',
    schema: ['no'],
    errors: ['<nil>: Invalid value: "array":  in body must be of type object'],
  },
  { because: 'even of a field', field: 'string', errors: ['properties.f: Invalid value: "string"'] },
  {
    because: 'keywords of JSON Schema that Kubernetes does not have are named, with what to write instead',
    field: { ...text, const: 'a', $ref: '#/x', if: {} },
    errors: [
      `${f}.$ref: Forbidden: $ref is not supported; write the schema out`,
      `${f}.const: Forbidden: const is not supported; use enum with one value`,
      `${f}.if: Forbidden: if is not supported`,
    ],
  },
  {
    because: 'types are those of JSON',
    field: { type: 'date' },
    errors: [`${f}.type: Unsupported value: "date": supported values: "array", "boolean"`],
  },
  {
    because: 'one type is enough',
    field: { type: ['string', 'null'] },
    errors: [`${f}.type: Invalid value: "array"`, `${f}.type: Unsupported value: ["string","null"]`],
  },
  {
    because: 'bounds are numbers',
    field: { type: 'integer', minimum: '1' },
    errors: [`${f}.minimum: Invalid value: "string": ${f}.minimum in body must be of type number`],
  },
  {
    because: 'exclusive bounds are flags',
    field: { type: 'integer', exclusiveMinimum: 1 },
    errors: [`${f}.exclusiveMinimum: Invalid value: "integer"`],
  },
  {
    because: 'additionalProperties is a flag or a schema',
    field: { type: 'object', additionalProperties: 'x' },
    errors: [`${f}.additionalProperties: Invalid value: "x": must be a boolean or a schema`],
  },
  {
    because: 'list types are few',
    field: { type: 'array', items: text, 'x-kubernetes-list-type': 'bag' },
    errors: [`${f}.x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"`],
  },
  {
    because: 'rules are objects',
    field: { ...text, 'x-kubernetes-validations': [{ message: 'x', odd: 1 }] },
    errors: [
      `${f}.x-kubernetes-validations[0].odd: Forbidden`,
      `${f}.x-kubernetes-validations[0].rule: Required value`,
    ],
  },
]

describe('checkStructural', () => {
  it.each(rows)('$because', ({ field, schema = { type: 'object', properties: { f: field } }, errors = [] }) => {
    const found = checkStructural(schema).map((error) => `${error.field}: ${error.message}`)
    expect(found.map((line, i) => line.slice(0, errors[i]?.length))).toEqual(errors)
  })

  it('begins paths where it is told the schema stands', () => {
    const [error] = checkStructural({}, 'spec.versions[0].schema.openAPIV3Schema')
    expect(error?.field).toBe('spec.versions[0].schema.openAPIV3Schema.type')
  })

  it('finds nothing wrong with generated schemas', () => {
    fc.assert(
      fc.property(schemaAndValue({ branches: true, nullable: true, formats: ['date'] }), ({ schema }) => {
        const { additionalProperties: _, ...root } = { ...schema, nullable: false }
        const errors = checkStructural(root).filter(({ field }) => !field.endsWith('uniqueItems'))
        expect(errors).toEqual([])
      }),
    )
  })

  it('never throws, whatever it is given', () => {
    const keyword = fc.constantFrom(
      'type',
      'properties',
      'items',
      'required',
      'allOf',
      'not',
      'default',
      'pattern',
      'additionalProperties',
      'x-kubernetes-list-map-keys',
      'x-kubernetes-list-type',
    )
    const anything = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.jsonValue(),
        fc.constantFrom('object', 'array', 'map', '('),
        tie('list'),
        tie('schema'),
      ),
      list: fc.array(tie('value'), { maxLength: 3 }),
      schema: fc.dictionary(keyword, tie('value'), { maxKeys: 4 }),
    })).schema
    fc.assert(
      fc.property(anything, (schema) => Array.isArray(checkStructural(schema))),
      { numRuns: share(1_000) },
    )
  })

  it('reports a hundred errors at most', () => {
    const properties = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`f${i}`, {}]))
    expect(checkStructural({ type: 'object', properties })).toHaveLength(100)
  })
})
