import type { Json, JsonObject } from '../../model/json.ts'
import {
  bool,
  int,
  many,
  message,
  objectMeta,
  one,
  pointer,
  string,
  manyStrings,
  webhookClientMessage,
} from './fields.ts'
import type { Message } from './wire.ts'

/** apiextensions.k8s.io/v1, which its own client of Go sends as protobuf. */

/** A schema holds schemas. */
const schema: Message = {
  get fields() {
    return schemaFields
  },
}

const schemas = { map: schema } as const

/** What JSON writes as one of several types has a field for each in protobuf. */
const either = (fields: Message['fields'], ...names: readonly string[]): Message =>
  message(
    fields,
    (decoded: JsonObject): Json => names.map((name) => decoded[name]).find((value) => value !== undefined) ?? {},
  )

const schemaOrBool = either({ 1: pointer('allows', 'bool'), 2: one('schema', schema) }, 'schema', 'allows')
const schemaOrMany = either({ 1: one('schema', schema), 2: many('schemas', schema) }, 'schemas', 'schema')
const schemaOrNames = either({ 1: one('schema', schema), 2: manyStrings('property') }, 'property', 'schema')
const validation = message({
  1: string('rule'),
  2: string('message'),
  3: string('messageExpression'),
  4: pointer('reason', 'string'),
  5: string('fieldPath'),
  6: pointer('optionalOldSelf', 'bool'),
})

const schemaFields: Message['fields'] = {
  1: string('id'),
  2: string('$schema'),
  3: pointer('$ref', 'string'),
  4: string('description'),
  5: string('type'),
  6: string('format'),
  7: string('title'),
  8: pointer('default', 'json'),
  9: pointer('maximum', 'double'),
  10: bool('exclusiveMaximum'),
  11: pointer('minimum', 'double'),
  12: bool('exclusiveMinimum'),
  13: pointer('maxLength', 'int'),
  14: pointer('minLength', 'int'),
  15: string('pattern'),
  16: pointer('maxItems', 'int'),
  17: pointer('minItems', 'int'),
  18: bool('uniqueItems'),
  19: pointer('multipleOf', 'double'),
  20: many('enum', 'json'),
  21: pointer('maxProperties', 'int'),
  22: pointer('minProperties', 'int'),
  23: manyStrings('required'),
  24: pointer('items', schemaOrMany),
  25: many('allOf', schema),
  26: many('oneOf', schema),
  27: many('anyOf', schema),
  28: one('not', schema),
  29: one('properties', schemas),
  30: pointer('additionalProperties', schemaOrBool),
  31: one('patternProperties', schemas),
  32: one('dependencies', { map: schemaOrNames }),
  33: pointer('additionalItems', schemaOrBool),
  34: one('definitions', schemas),
  35: one('externalDocs', message({ 1: string('description'), 2: string('url') })),
  36: pointer('example', 'json'),
  37: bool('nullable'),
  38: pointer('x-kubernetes-preserve-unknown-fields', 'bool'),
  39: bool('x-kubernetes-embedded-resource'),
  40: bool('x-kubernetes-int-or-string'),
  41: manyStrings('x-kubernetes-list-map-keys'),
  42: pointer('x-kubernetes-list-type', 'string'),
  43: pointer('x-kubernetes-map-type', 'string'),
  44: many('x-kubernetes-validations', validation),
}

const column = message({
  1: string('name'),
  2: string('type'),
  3: string('format'),
  4: string('description'),
  5: int('priority'),
  6: string('jsonPath'),
})
const version = message({
  1: string('name'),
  2: pointer('served', 'bool'),
  3: pointer('storage', 'bool'),
  4: one('schema', message({ 1: one('openAPIV3Schema', schema) })),
  5: one(
    'subresources',
    message({
      1: one('status', message({})),
      2: one(
        'scale',
        message({
          1: string('specReplicasPath'),
          2: string('statusReplicasPath'),
          3: pointer('labelSelectorPath', 'string'),
        }),
      ),
    }),
  ),
  6: many('additionalPrinterColumns', column),
  7: bool('deprecated'),
  8: pointer('deprecationWarning', 'string'),
  9: many('selectableFields', message({ 1: string('jsonPath') })),
})
const names = message({
  1: string('plural'),
  2: string('singular'),
  3: manyStrings('shortNames'),
  4: string('kind'),
  5: string('listKind'),
  6: manyStrings('categories'),
})
const conversion = message({
  1: string('strategy'),
  2: one(
    'webhook',
    message({ 2: one('clientConfig', webhookClientMessage), 3: manyStrings('conversionReviewVersions') }),
  ),
})
const definitionCondition = message({
  1: string('type'),
  2: string('status'),
  3: one('lastTransitionTime', 'time'),
  4: string('reason'),
  5: string('message'),
  6: int('observedGeneration'),
})
const definitionSpec = message({
  1: string('group'),
  3: one('names', names),
  4: string('scope'),
  7: many('versions', version),
  9: one('conversion', conversion),
  10: bool('preserveUnknownFields'),
})
const definitionStatus = message({
  1: many('conditions', definitionCondition),
  2: one('acceptedNames', names),
  3: manyStrings('storedVersions'),
  4: int('observedGeneration'),
})

export const definitionMessages: { readonly [type: string]: Message } = {
  'apiextensions.k8s.io/v1/CustomResourceDefinition': message({
    1: objectMeta,
    2: one('spec', definitionSpec),
    3: one('status', definitionStatus),
  }),
}
