import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkStructural } from '../../../../shared/model/schema/structural.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'
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
/** Whose default takes more than a third of the steps that all defaults have. */
const manyAlternatives: StructuralSchema = {
  type: 'array',
  items: { type: 'string', anyOf: [...Array.from({ length: 99 }, () => ({ maxLength: 0 })), { maxLength: 1 }] },
  default: Array.from({ length: 35 }, () => 'x'),
}

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
    because: 'uniqueItems would take as long in a branch',
    field: { type: 'array', items: text, anyOf: [{ uniqueItems: true }], not: { items: { uniqueItems: true } } },
    errors: [`${f}.anyOf[0].uniqueItems: Forbidden`, `${f}.not.items.uniqueItems: Forbidden`],
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
    because: 'defaults take so many steps in all',
    field: { type: 'object', properties: { one: manyAlternatives, two: manyAlternatives, three: manyAlternatives } },
    errors: [`${f}.properties[three].default: Invalid value: "": takes too many steps to be checked`],
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
    because: 'no branch says the type, or the keys of a list',
    field: { type: 'array', items: text, not: { type: 'array' }, allOf: [{ 'x-kubernetes-list-map-keys': ['a'] }] },
    errors: [`${f}.allOf[0].x-kubernetes-list-map-keys: Forbidden`, `${f}.not.type: Forbidden`],
  },
  {
    because: 'only the field itself says that it is an integer or a string',
    field: {
      type: 'object',
      properties: { x: { 'x-kubernetes-int-or-string': true } },
      allOf: [{ properties: { x: { anyOf: [{ type: 'integer' }, { type: 'string' }] } } }],
    },
    errors: [
      `${f}.allOf[0].properties[x].anyOf[0].type: Forbidden`,
      `${f}.allOf[0].properties[x].anyOf[1].type: Forbidden`,
    ],
  },
  {
    because: 'fields are no list, whatever its items are',
    schema: { type: 'object', properties: [{ nope: 1 }] },
    errors: [
      'properties[0].nope: Forbidden: properties[0].nope is not supported',
      'properties: Invalid value: "array"',
    ],
  },
  {
    because: 'an example, a default and one of some values may be null',
    field: { ...text, nullable: true, example: null, default: null, enum: ['a', null] },
  },
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
  {
    because: 'counts are whole and not below nothing',
    field: { ...text, minLength: 0, maxLength: -1, minItems: 1.5, maxProperties: -1 },
    errors: [
      `${f}.maxLength: Invalid value: -1: ${f}.maxLength in body should be greater than or equal to 0`,
      `${f}.minItems: Invalid value: "number": ${f}.minItems in body must be of type integer`,
      `${f}.maxProperties: Invalid value: -1: ${f}.maxProperties in body should be greater than or equal to 0`,
    ],
  },
  {
    because: 'nothing is a multiple of nothing',
    field: { type: 'number', multipleOf: 0 },
    errors: [`${f}.multipleOf: Invalid value: 0: ${f}.multipleOf in body should be greater than 0`],
  },
  { because: 'a number may be a multiple of a fraction', field: { type: 'number', multipleOf: 0.5 } },
  { because: 'an example and a default may be null', field: { ...text, example: null, default: null } },
  { because: 'an enum may have nulls', field: { ...text, enum: ['a', null] } },
  { because: 'a field may be null', field: { ...text, nullable: true } },
  {
    because: 'branches are lists of schemas',
    field: { ...text, allOf: [{ minLength: -1 }, 'x'], not: { maxLength: 'y' } },
    errors: [
      `${f}.allOf[1]: Invalid value: "string"`,
      `${f}.not.maxLength: Invalid value: "string"`,
      `${f}.allOf[0].minLength: Invalid value: -1`,
    ],
  },
  {
    because: 'what is wrong is found in each schema below',
    field: {
      type: 'array',
      items: { type: 'object', additionalProperties: { type: 'x' }, properties: { a: { type: 'y' } } },
    },
    errors: [
      `${f}.items.properties[a].type: Unsupported value: "y"`,
      `${f}.items.additionalProperties.type: Unsupported value: "x"`,
    ],
  },
  {
    because: 'entries say their type',
    field: { type: 'object', additionalProperties: {} },
    errors: [`${f}.additionalProperties.type: Required value: must not be empty for specified object fields`],
  },
  { because: 'entries may be anything', field: { type: 'object', additionalProperties: true } },
  {
    because: 'entries may be anything beside fields',
    field: { type: 'object', properties: { a: text }, additionalProperties: true },
  },
  {
    because: 'fields may be all there are',
    field: { type: 'object', properties: { a: text }, additionalProperties: false },
    errors: [`${f}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`],
  },
  { because: 'the root may preserve', schema: { ...preserving } },
  { because: 'the root may be an object that preserves', schema: { type: 'object', ...preserving } },
  {
    because: 'the root is no list',
    schema: { type: 'array', items: text },
    errors: ['type: Invalid value: "array": must be object at the root'],
  },
  {
    because: 'the root is no int-or-string and no resource of its own',
    schema: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { a: text } },
  },
  {
    because: 'an embedded resource is an object',
    field: { type: 'string', 'x-kubernetes-embedded-resource': true, ...preserving },
    errors: [`${f}.type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true`],
  },
  {
    because: 'an embedded resource has no entries',
    field: { type: 'object', 'x-kubernetes-embedded-resource': true, ...preserving, additionalProperties: true },
    errors: [`${f}.additionalProperties: Forbidden: must not be used if x-kubernetes-embedded-resource is set`],
  },
  {
    because: 'an int-or-string is no resource',
    field: {
      type: 'object',
      'x-kubernetes-int-or-string': true,
      'x-kubernetes-embedded-resource': true,
      properties: { a: text },
    },
    errors: [
      `${f}.x-kubernetes-embedded-resource: Invalid value: true: must be false if x-kubernetes-int-or-string is true`,
    ],
  },
  {
    because: 'metadata holds no resource',
    schema: {
      type: 'object',
      properties: {
        metadata: {
          type: 'object',
          properties: { name: { type: 'object', 'x-kubernetes-embedded-resource': true, ...preserving } },
        },
      },
    },
    errors: [
      'properties[metadata].properties[name].x-kubernetes-embedded-resource: Forbidden: must not be used inside of resource meta',
    ],
  },
  {
    because: 'what a resource in a field has by convention is of its type',
    field: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: {
        kind: { type: 'integer' },
        apiVersion: { 'x-kubernetes-int-or-string': true },
        metadata: { type: 'string' },
      },
    },
    errors: [
      `${f}.properties[kind].type: Invalid value: "integer": must be string`,
      `${f}.properties[apiVersion].type: Invalid value: "": must be string`,
      `${f}.properties[metadata].type: Invalid value: "string": must be object`,
    ],
  },
  {
    because: 'kind is a name like any other in what is no resource',
    field: { type: 'object', properties: { kind: { type: 'integer' }, metadata: { type: 'string', default: 'x' } } },
  },
  {
    because: 'metadata of a resource in a field may be described, and has no effect of its defaults',
    field: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { metadata: { type: 'object', properties: { labels: { type: 'object', default: 5 } } } },
    },
  },
  {
    because: 'names of metadata have no defaults',
    schema: {
      type: 'object',
      properties: { metadata: { type: 'object', properties: { name: { ...text, default: 'x' } } } },
    },
    errors: ['properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata'],
  },
  {
    because: 'metadata says nothing but names',
    schema: { type: 'object', properties: { metadata: { type: 'object', nullable: false, description: 'x' } } },
    errors: ['properties[metadata]: Forbidden: must not specify anything other than name and generateName'],
  },
  {
    because: 'metadata may say what it is not',
    schema: { type: 'object', properties: { metadata: { type: 'object', nullable: false } } },
  },
  {
    because: 'metadata has no entries',
    schema: { type: 'object', properties: { metadata: { type: 'object', additionalProperties: false } } },
    errors: ['properties[metadata]: Forbidden: must not specify anything other than name and generateName'],
  },
  {
    because: 'items of sets and maps are not null',
    schema: {
      type: 'object',
      properties: {
        set: { type: 'array', items: { ...text, nullable: true }, 'x-kubernetes-list-type': 'set' },
        atomic: { type: 'array', items: { ...text, nullable: true }, 'x-kubernetes-list-type': 'atomic' },
        map: {
          type: 'array',
          items: { type: 'object', nullable: true, required: ['a'], properties: { a: text } },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['a'],
        },
      },
    },
    errors: [
      'properties[set].items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set',
      'properties[map].items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map',
    ],
  },
  {
    because: 'items of sets are of one piece',
    schema: {
      type: 'object',
      properties: {
        lists: { type: 'array', items: { type: 'array', items: text }, 'x-kubernetes-list-type': 'set' },
        sets: {
          type: 'array',
          items: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
          'x-kubernetes-list-type': 'set',
        },
        maps: {
          type: 'array',
          items: { type: 'object', 'x-kubernetes-map-type': 'atomic' },
          'x-kubernetes-list-type': 'set',
        },
        granular: {
          type: 'array',
          items: { type: 'object', 'x-kubernetes-map-type': 'granular' },
          'x-kubernetes-list-type': 'set',
        },
      },
    },
    errors: [
      'properties[sets].items.x-kubernetes-list-type: Invalid value: "set": must be atomic as item of a list',
      'properties[granular].items.x-kubernetes-map-type: Invalid value: "granular": must be atomic as item of a list',
    ],
  },
  {
    because: 'a list map holds objects with each key once',
    schema: {
      type: 'object',
      properties: {
        texts: { type: 'array', items: text, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] },
        twice: {
          type: 'array',
          items: { type: 'object', required: ['a'], properties: { a: text } },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['a', 'a'],
        },
        optional: {
          type: 'array',
          items: { type: 'object', properties: { a: { ...text, default: null } } },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['a'],
        },
        deep: {
          type: 'array',
          items: { type: 'object', required: ['a'], properties: { a: { type: 'object' } } },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['a'],
        },
      },
    },
    errors: [
      'properties[texts].items.type: Invalid value: "string": must be object if parent array',
      'properties[twice].x-kubernetes-list-map-keys: Invalid value: ["a","a"]: must not contain duplicate entries',
      'properties[optional].items.properties[a].default: Required value',
      'properties[deep].items.properties[a].type: Invalid value: "object": must be a scalar type',
    ],
  },
  {
    because: 'keys are for lists of type map',
    field: { type: 'array', items: text, 'x-kubernetes-list-type': 'set', 'x-kubernetes-list-map-keys': ['a'] },
    errors: [
      `${f}.x-kubernetes-list-type: Invalid value: "set": must be map if x-kubernetes-list-map-keys is non-empty`,
    ],
  },
  { because: 'no keys are none', field: { type: 'array', items: text, 'x-kubernetes-list-map-keys': [] } },
  {
    because: 'a list type without a type is none',
    field: { ...preserving, 'x-kubernetes-list-type': 'atomic', 'x-kubernetes-map-type': 'atomic' },
    errors: [
      `${f}.type: Required value: must be object if x-kubernetes-map-type is specified`,
      `${f}.type: Required value: must be array if x-kubernetes-list-type is specified`,
    ],
  },
  {
    because: 'a list type of no items is told once',
    field: { type: 'array', 'x-kubernetes-list-type': 'set' },
    errors: [`${f}.items: Required value: must be specified`],
  },
  { because: 'items need not be unique', field: { type: 'array', items: text, uniqueItems: false } },
  {
    because: 'messages are one line',
    field: {
      ...text,
      'x-kubernetes-validations': [
        { rule: 'true', message: 'a\nb' },
        { rule: ' true\n', message: '\n a ' },
      ],
    },
    errors: [`${f}.x-kubernetes-validations[0].message: Invalid value: "a\\nb": must not contain line breaks`],
  },
  {
    because: 'a rule over several lines may have a message',
    field: { ...text, 'x-kubernetes-validations': [{ rule: 'true\n&& true', message: 'a' }] },
  },
  {
    because: 'a default of entries fits',
    field: { type: 'object', additionalProperties: { type: 'integer', default: 'x' } },
    errors: [`${f}.additionalProperties.default: Invalid value: "string"`],
  },
  {
    because: 'rules and defaults are told together',
    field: { type: 'integer', default: 'x', 'x-kubernetes-validations': [{ rule: '+' }] },
    errors: [`${f}.default: Invalid value: "string"`, `${f}.x-kubernetes-validations[0].rule: Invalid value`],
  },
  {
    because: 'branches speak of items that are described',
    schema: {
      type: 'object',
      properties: { l: { type: 'array', items: text }, o: text },
      allOf: [{ properties: { l: { items: { minLength: 1 } }, o: { items: { minLength: 1 } } } }],
    },
    errors: ['properties[o].items: Required value: because it is defined in allOf[0].properties[o].items'],
  },
  {
    because: 'branches below the root may speak of anything',
    field: { type: 'object', anyOf: [{ properties: { b: { items: { minLength: 1 } } } }] },
  },
  {
    because: 'what every object inherits is not described',
    schema: { type: 'object', properties: { a: text }, not: { properties: { constructor: { minLength: 1 } } } },
    errors: ['properties[constructor]: Required value: because it is defined in not.properties[constructor]'],
  },
  {
    because: 'an empty structure in a branch is none',
    field: { ...text, anyOf: [{ type: '', title: '', nullable: false, 'x-kubernetes-list-map-keys': [] }] },
    errors: [`${f}.anyOf[0].type: Unsupported value: ""`],
  },
  {
    because: 'a branch may be without structure',
    field: { ...text, anyOf: [{ title: '', nullable: false, 'x-kubernetes-list-map-keys': [], minLength: 1 }] },
  },
  {
    because: 'types are spelled out in one place of one branch only',
    field: {
      'x-kubernetes-int-or-string': true,
      allOf: [{ pattern: 'a' }, { anyOf: [{ type: 'integer' }, { type: 'string' }] }],
      oneOf: [{ type: 'integer' }, { type: 'string' }],
    },
    errors: [
      `${f}.allOf[1].anyOf[0].type: Forbidden`,
      `${f}.allOf[1].anyOf[1].type: Forbidden`,
      `${f}.oneOf[0].type: Forbidden`,
      `${f}.oneOf[1].type: Forbidden`,
    ],
  },
]

describe('checkStructural', () => {
  it.each(rows)('$because', ({ field, schema = { type: 'object', properties: { f: field } }, errors = [] }) => {
    const found = checkStructural(schema).map((error) => `${error.field}: ${error.message}`)
    expect(found.map((line, i) => line.slice(0, errors[i]?.length))).toEqual(errors)
  })

  it.each([null, 5, 'x', true, []])('refuses %j', (schema) => {
    expect(checkStructural(schema).length).toBeGreaterThan(0)
  })

  it('has no hint for what nobody writes', () => {
    const [error] = checkStructural({ type: 'object', if: {} })
    expect(error?.message).toBe('Forbidden: if is not supported')
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
