import { child, entry, forbidden, type FieldError } from '../../schema/field-error.ts'
import type { StructuralSchema } from '../../schema/structural-schema.ts'
import { hasRules } from '../rules.ts'
import { shapeOf } from '../schema-value.ts'
import { optionalOf, type TypeBudget } from '../type.ts'
import { declaredBy, requestBytesMax, type Declared } from './declared.ts'
import { estimateCost } from './estimate.ts'
import { product, sum } from './size.ts'

/** Of one rule, times the number of values that it may be held against. */
const ruleCostMax = 10_000_000
/** Of all rules of a schema together. */
const schemaCostMax = 100_000_000
/** So many of the most expensive rules are named. */
const namedMax = 4

/**
 * The rules of a valid schema that may cost too much at worst, so that no object turns out to be too expensive later.
 * Source: apiextensions-apiserver, `apis/apiextensions/validation`.
 */
export function checkRuleCosts(schema: StructuralSchema, path: string, types?: TypeBudget): readonly FieldError[] {
  if (!hasRules(schema)) return []
  const costs = costsOf(schema, { path, isResource: true, values: 1, types })
  const all = sum(...costs.map(({ cost }) => cost))
  const own = costs
    .filter(({ cost }) => cost > ruleCostMax)
    .map(({ field, what, cost }) => forbidden(field, tooExpensive(`estimated ${what} cost`, cost, ruleCostMax)))
  if (all <= schemaCostMax) return own
  const shares = costs
    .filter(({ cost }) => cost >= schemaCostMax / 100)
    .toSorted((a, b) => b.cost - a.cost)
    .slice(0, namedMax)
    .map(({ field }) =>
      forbidden(field, 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'),
    )
  const whole = tooExpensive(
    'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema',
    all,
    schemaCostMax,
  )
  return [...own, ...shares, forbidden(path, whole)]
}

interface Place {
  readonly path: string
  readonly isResource: boolean
  /** How many values there can be at this place; undefined without a bound. */
  readonly values: number | undefined
  readonly types: TypeBudget | undefined
}

interface RuleCost {
  readonly field: string
  readonly what: 'rule' | 'messageExpression'
  readonly cost: number
}

function costsOf(schema: StructuralSchema, place: Place): readonly RuleCost[] {
  if (!hasRules(schema)) return []
  const { path, values, types } = place
  const { properties = {}, items, additionalProperties: others } = schema
  const each = childrenMax(schema)
  const count = values === undefined || each === undefined ? undefined : product(values, each)
  const below = (part: StructuralSchema, at: string): readonly RuleCost[] =>
    costsOf(part, { path: at, isResource: false, values: count, types })
  return [
    ...ownCosts(schema, place),
    ...Object.entries(properties).flatMap(([name, part]) => below(part, entry(child(path, 'properties'), name))),
    ...(items === undefined ? [] : below(items, child(path, 'items'))),
    ...(typeof others === 'object' ? below(others, child(path, 'additionalProperties')) : []),
  ]
}

function childrenMax({ type, additionalProperties, maxProperties, maxItems }: StructuralSchema): number | undefined {
  if (type === 'array') return maxItems
  return type === 'object' && additionalProperties !== undefined ? maxProperties : 1
}

function ownCosts(schema: StructuralSchema, { path, isResource, values, types }: Place): readonly RuleCost[] {
  const rules = schema['x-kubernetes-validations'] ?? []
  const self = rules.length === 0 ? undefined : declaredBy(schema, isResource)
  if (self === undefined) return []
  const type = shapeOf(schema, isResource)?.type
  const count = values ?? valuesMax(self)
  return rules.flatMap(({ rule, messageExpression = '', optionalOldSelf }, i): readonly RuleCost[] => {
    if (type === undefined) return []
    const variables = { self: type, oldSelf: optionalOldSelf === true ? optionalOf(type) : type }
    const field = entry(child(path, 'x-kubernetes-validations'), i)
    const cost = product(estimateCost(rule, variables, self, types), count)
    const ofRule: RuleCost = { field: child(field, 'rule'), what: 'rule', cost }
    if (messageExpression === '') return [ofRule]
    const messageCost = estimateCost(messageExpression, variables, self, types)
    return [ofRule, { field: child(field, 'messageExpression'), what: 'messageExpression', cost: messageCost }]
  })
}

/** How many values fit into a request, with a comma behind each. */
function valuesMax({ bytesMin }: Declared): number {
  return Math.floor(requestBytesMax / (bytesMin + 1))
}

function tooExpensive(what: string, cost: number, limit: number): string {
  const factor = cost / limit
  const shown = factor > 100 ? 'more than 100' : factor < 1.5 ? factor.toFixed(6) : factor.toFixed(1)
  return `${what} exceeds budget by factor of ${shown}x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`
}
