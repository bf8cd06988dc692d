import type { CompileBudget } from '../cel/compile-budget.ts'
import type { CustomResourceDefinitionVersion } from '../custom-resource-definition.ts'
import { isObject } from '../json.ts'
import { child, entry, type FieldError } from '../schema/field-error.ts'

/** Whether all patterns of a definition together are too much to compile; those in its rules count, too. */
export function checkPatterns(
  versions: readonly CustomResourceDefinitionVersion[],
  budget: CompileBudget,
): readonly FieldError[] {
  return versions.flatMap(({ schema }, i) =>
    checkNode(schema?.openAPIV3Schema, child(entry('spec.versions', i), 'schema.openAPIV3Schema'), budget),
  )
}

/** What stands there may be anything: nothing has been checked before. */
function checkNode(node: unknown, path: string, budget: CompileBudget): readonly FieldError[] {
  if (!isObject(node) || budget.isSpent) return []
  const { pattern, 'x-kubernetes-validations': rules, properties, ...others } = node
  const errors = typeof pattern === 'string' ? [...budget.spend(pattern, child(path, 'pattern'))] : []
  if (Array.isArray(rules)) errors.push(...checkRuleTexts(rules, child(path, 'x-kubernetes-validations'), budget))
  for (const [name, property] of Object.entries(isObject(properties) ? properties : {}))
    errors.push(...checkNode(property, entry(child(path, 'properties'), name), budget))
  for (const keyword of ['items', 'additionalProperties', 'not'])
    errors.push(...checkNode(others[keyword], child(path, keyword), budget))
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const branches = others[keyword]
    if (!Array.isArray(branches)) continue
    errors.push(...branches.flatMap((branch, i) => checkNode(branch, entry(child(path, keyword), i), budget)))
  }
  return errors
}

function checkRuleTexts(rules: readonly unknown[], path: string, budget: CompileBudget): readonly FieldError[] {
  return rules.flatMap((rule, i) =>
    (['rule', 'messageExpression'] as const).flatMap((field) => {
      const text = isObject(rule) ? rule[field] : undefined
      return typeof text === 'string' ? budget.spendOnExpression(text, child(entry(path, i), field)) : []
    }),
  )
}
