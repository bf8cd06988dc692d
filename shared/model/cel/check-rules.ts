import { isObject } from '../json.ts'
import { child, entry, invalid, type FieldError } from '../schema/field-error.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'
import { hasRules, celRulesOf } from './rules.ts'
import type { TypeBudget } from './type.ts'

/**
 * What is wrong with the rules of a schema that is right otherwise: they do not compile, they do not come to a bool, or
 * they speak of the value before where nobody can tell which it was. `types` is left out where each may have all looks.
 */
export function checkRules(schema: StructuralSchema, path = '', types?: TypeBudget): readonly FieldError[] {
  return checkNode(schema, { path, isResource: true, hasOld: true, types })
}

interface Place {
  readonly path: string
  readonly isResource: boolean
  /** The value before an update can be told. */
  readonly hasOld: boolean
  readonly types: TypeBudget | undefined
}

function checkNode(schema: StructuralSchema, place: Place): readonly FieldError[] {
  if (!hasRules(schema)) return []
  const { path, hasOld, types } = place
  const { properties = {}, items, additionalProperties: others } = schema
  const below = (part: StructuralSchema, at: string, canTell: boolean): readonly FieldError[] =>
    checkNode(part, { path: at, isResource: false, hasOld: canTell, types })
  const isMap = schema['x-kubernetes-list-type'] === 'map'
  const isAtomic = schema['x-kubernetes-map-type'] === 'atomic'
  return [
    ...checkOwn(schema, place),
    ...Object.entries(properties).flatMap(([name, part]) =>
      below(part, entry(child(path, 'properties'), name), hasOld && !isAtomic),
    ),
    ...(items === undefined ? [] : below(items, child(path, 'items'), hasOld && isMap)),
    ...(typeof others === 'object' ? below(others, child(path, 'additionalProperties'), hasOld && !isAtomic) : []),
  ]
}

function checkOwn(schema: StructuralSchema, { path, isResource, hasOld, types }: Place): readonly FieldError[] {
  const field = child(path, 'x-kubernetes-validations')
  const { rules, faults } = celRulesOf(schema, isResource, types)
  const sent = schema['x-kubernetes-validations'] ?? []
  return [
    ...faults.map(({ i, field: name, fault }) => {
      const what = name === 'rule' ? 'compilation failed' : 'messageExpression compilation failed'
      return invalid(child(entry(field, i), name), sent[i]?.[name] ?? '', `${what}: ${fault}`)
    }),
    ...rules.flatMap(({ rule, usesOld }) => {
      const { optionalOldSelf } = rule
      const place = entry(field, sent.indexOf(rule))
      if (!usesOld && optionalOldSelf !== undefined) {
        const unused = 'may not be set if oldSelf is not used in rule'
        return [invalid(child(place, 'optionalOldSelf'), optionalOldSelf, unused)]
      }
      if (!usesOld || hasOld) return []
      const at = child(place, 'rule')
      const detail = 'oldSelf cannot be used on the uncorrelatable portion of the schema'
      return [invalid(at, rule.rule, detail)]
    }),
    ...sent.flatMap((rule, i) => {
      const { fieldPath = '' } = rule
      if (fieldPath === '' || pointsBelow(schema, fieldPath)) return []
      return [invalid(child(entry(field, i), 'fieldPath'), fieldPath, 'does not refer to a valid field')]
    }),
  ]
}

/** Whether a path such as `.a['b']` leads to a field that the schema has. */
function pointsBelow(schema: StructuralSchema, path: string): boolean {
  if (!/^(?:\.[^.[\]']+|\['[^']+'\])+$/.test(path)) return false
  let node: StructuralSchema | undefined = schema
  for (const [, plain, quoted] of path.matchAll(/\.([^.[\]']+)|\['([^']+)'\]/g)) {
    const name = plain ?? quoted ?? ''
    const { properties = {}, additionalProperties: others }: StructuralSchema = node
    node = Object.hasOwn(properties, name) ? properties[name] : typeof others === 'object' ? others : undefined
    if (node === undefined) return false
  }
  return true
}

/** How many characters the rules of a schema have, whatever it is: what it takes to compile them. */
export function measureRules(schema: unknown): number {
  if (Array.isArray(schema)) return schema.reduce((sum: number, item) => sum + measureRules(item), 0)
  if (!isObject(schema)) return 0
  let sum = 0
  for (const name in schema) {
    const value = schema[name]
    const isText = typeof value === 'string' && (name === 'rule' || name === 'messageExpression')
    sum += isText ? value.length : measureRules(value)
  }
  return sum
}
