import { objectsOf, textsOf } from '../model/access/rules.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import { isQualifiedName } from '../model/qualified-name.ts'
import { checkEach, child, entry, fieldRequired, invalid, type FieldError } from '../model/schema/field-error.ts'
import { checkLabelSelector } from './selector-checks.ts'

/**
 * What is wrong with the parts of a policy, a binding or a webhook that say which requests it is about. What cannot be
 * read would match nothing, so that writes would pass that somebody wanted to be looked at.
 */
export function checkMatching(match: Json | undefined, path: string): readonly FieldError[] {
  if (!isObject(match)) return []
  const rules = ['rules', 'resourceRules', 'excludeResourceRules'] as const
  const selectors = ['namespaceSelector', 'objectSelector', 'selector'] as const
  return [
    ...selectors.flatMap((name) => {
      const selector = match[name]
      return isObject(selector) ? checkLabelSelector(selector, child(path, name)) : []
    }),
    ...rules.flatMap((name) =>
      checkEach(objectsOf(match[name]), (rule, i) => checkRule(rule, entry(child(path, name), i))),
    ),
    ...checkEach(objectsOf(match['matchConditions']), ({ name }, i) =>
      isQualifiedName(String(name))
        ? []
        : [
            invalid(
              child(entry(child(path, 'matchConditions'), i), 'name'),
              name,
              'must be a qualified name such as example.com/name',
            ),
          ],
    ),
  ]
}

const lists = {
  operations: 'operations',
  apiGroups: 'API groups',
  apiVersions: 'API versions',
  resources: 'resources',
} as const

function checkRule(rule: JsonObject, path: string): readonly FieldError[] {
  return (Object.keys(lists) as (keyof typeof lists)[]).flatMap((name) => {
    const field = child(path, name)
    const values = textsOf(rule[name])
    if (values.length === 0) return [fieldRequired(field)]
    // The legacy group has no name.
    const unnamed = name === 'apiGroups' ? -1 : values.indexOf('')
    return [...(unnamed < 0 ? [] : [fieldRequired(entry(field, unnamed))]), ...checkWildcard(name, values, field)]
  })
}

/** What stands beside a word that means all would look as if it were less. */
function checkWildcard(name: keyof typeof lists, values: readonly string[], field: string): readonly FieldError[] {
  const all = name === 'resources' ? '*/*' : '*'
  if (values.length > 1 && values.includes(all))
    return [invalid(field, values, `if '${all}' is present, must not specify other ${lists[name]}`)]
  const isMixed = name === 'resources' && values.some((one) => one !== '*' && !one.includes('/'))
  return isMixed && values.includes('*')
    ? [invalid(field, values, "if '*' is present, must not specify other resources without subresources")]
    : []
}
