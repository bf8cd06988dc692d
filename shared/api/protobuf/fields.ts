import type { Field, FieldType, Message } from './wire.ts'

/** The parts of which messages are made. */
export const string = (name: string): Field => ({ name, type: 'string' })
export const manyStrings = (name: string): Field => ({ name, type: 'string', repeated: true })
export const int = (name: string): Field => ({ name, type: 'int' })
export const bool = (name: string): Field => ({ name, type: 'bool' })
export const pointer = (name: string, type: FieldType): Field => ({ name, type, pointer: true })
export const one = (name: string, type: FieldType): Field => ({ name, type })
export const many = (name: string, type: FieldType): Field => ({ name, type, repeated: true })
export const message = (fields: Message['fields'], as?: Message['as']): Message => ({ fields, ...(as && { as }) })
export const stringMap = { map: 'string' } as const
export const bytesMap = { map: 'bytes' } as const
export const quantityMap = { map: 'quantity' } as const

export const objectMeta = one(
  'metadata',
  message({
    1: string('name'),
    2: string('generateName'),
    3: string('namespace'),
    5: string('uid'),
    6: string('resourceVersion'),
    7: int('generation'),
    8: one('creationTimestamp', 'time'),
    9: one('deletionTimestamp', 'time'),
    10: int('deletionGracePeriodSeconds'),
    11: one('labels', stringMap),
    12: one('annotations', stringMap),
    13: many(
      'ownerReferences',
      message({
        1: string('kind'),
        3: string('name'),
        4: string('uid'),
        5: string('apiVersion'),
        6: pointer('controller', 'bool'),
        7: pointer('blockOwnerDeletion', 'bool'),
      }),
    ),
    14: manyStrings('finalizers'),
    17: many(
      'managedFields',
      message({
        1: string('manager'),
        2: string('operation'),
        3: string('apiVersion'),
        4: one('time', 'time'),
        6: string('fieldsType'),
        7: one('fieldsV1', 'json'),
        8: string('subresource'),
      }),
    ),
  }),
)

export const selectorMessage = message({
  1: one('matchLabels', stringMap),
  2: many('matchExpressions', message({ 1: string('key'), 2: string('operator'), 3: manyStrings('values') })),
})
/** A condition of a status: the order of Go's types, which is not the one of definitions. */
export const conditions = many(
  'conditions',
  message({
    1: string('type'),
    2: string('status'),
    3: int('observedGeneration'),
    4: one('lastTransitionTime', 'time'),
    5: string('reason'),
    6: string('message'),
  }),
)

/** Where a webhook is, as both groups that have webhooks say it. */
export const webhookClientMessage = message({
  1: one(
    'service',
    message({ 1: string('namespace'), 2: string('name'), 3: pointer('path', 'string'), 4: pointer('port', 'int') }),
  ),
  2: one('caBundle', 'bytes'),
  3: pointer('url', 'string'),
})
