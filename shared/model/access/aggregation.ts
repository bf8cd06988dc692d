import { isObject, type Json, type JsonObject } from '../json.ts'
import { objectsOf, textsOf } from './rules.ts'

/** The operators of a requirement of a label selector. */
export const selectorOperators = ['DoesNotExist', 'Exists', 'In', 'NotIn'] as const

/** The selectors by which a ClusterRole gathers others; `undefined` for one that says its rules itself. */
export function aggregationOf(role: JsonObject): readonly JsonObject[] | undefined {
  const { aggregationRule } = role
  return isObject(aggregationRule) ? objectsOf(aggregationRule['clusterRoleSelectors']) : undefined
}

/** Whether labels fit a `metav1.LabelSelector`. An empty one fits all. */
export function fitsSelector({ matchLabels, matchExpressions }: JsonObject, labels: JsonObject): boolean {
  const wanted = isObject(matchLabels) ? matchLabels : {}
  return (
    Object.keys(wanted).every((name) => Object.hasOwn(labels, name) && labels[name] === wanted[name]) &&
    objectsOf(matchExpressions).every((requirement) => fitsRequirement(requirement, labels))
  )
}

function fitsRequirement({ key, operator, values }: JsonObject, labels: JsonObject): boolean {
  const value: Json | undefined = typeof key === 'string' && Object.hasOwn(labels, key) ? labels[key] : undefined
  const isOneOf = typeof value === 'string' && textsOf(values).includes(value)
  switch (operator) {
    case 'In':
      return isOneOf
    case 'NotIn':
      return !isOneOf
    case 'Exists':
      return value !== undefined
    default:
      return operator === 'DoesNotExist' && value === undefined
  }
}
