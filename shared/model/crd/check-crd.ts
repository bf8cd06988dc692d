import { checkReviewVersions } from '../review-versions.ts'
import { measureRules } from '../cel/check-rules.ts'
import { CompileBudget } from '../cel/compile-budget.ts'
import { checkRuleCosts } from '../cel/cost/check-costs.ts'
import { checkPatterns } from './check-patterns.ts'
import { checkNames, checkNamesUnchanged } from './check-names.ts'
import { checkVersion } from './check-version.ts'
import { customResourceDefinitionSchema } from './crd-schema.ts'
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  SentDefinition,
} from '../custom-resource-definition.ts'
import { equal, type Json } from '../json.ts'
import { child, entry, fieldRequired, type FieldError, forbidden, invalid, tooMany } from '../schema/field-error.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'
import { checkWebhookClient } from '../webhook-client.ts'
import { validate } from '../schema/validate.ts'

/**
 * Everything that keeps an object from being accepted as a definition; without errors it may be taken for a
 * CustomResourceDefinition. `live` is the stored definition that an update would replace.
 */
export function checkCrd(object: SentDefinition, live?: SentDefinition): readonly FieldError[] {
  const shapeErrors = checkShape(object)
  if (shapeErrors.length > 0) return shapeErrors
  const crd = object as CustomResourceDefinition
  return [
    ...checkNames(crd),
    ...checkVersions(crd.spec.versions, live as CustomResourceDefinition | undefined),
    ...checkStoredVersions(crd),
    ...checkPreserveUnknownFields(crd.spec),
    ...checkConversion(crd.spec),
    ...(live === undefined ? [] : checkNamesUnchanged(crd, live as CustomResourceDefinition)),
  ]
}

export function checkShape(object: SentDefinition): readonly FieldError[] {
  return validate(customResourceDefinitionSchema, object as Json)
}

/** The kind of each is made anew with each change of the definition, and knows all the others. */
const versionsMax = 100
/** All rules of a definition are compiled while one request waits. */
const ruleTextMax = 25_000

function checkVersions(
  versions: readonly CustomResourceDefinitionVersion[],
  live: CustomResourceDefinition | undefined,
): readonly FieldError[] {
  const field = 'spec.versions'
  if (versions.length > versionsMax) return [tooMany(field, versions.length, versionsMax)]
  const names = versions.map(({ name }) => name)
  const ruleText = versions.reduce((sum, { schema }) => sum + measureRules(schema), 0)
  if (ruleText > ruleTextMax) {
    const detail = `rules of x-kubernetes-validations have ${ruleText} characters in all, and may have ${ruleTextMax}`
    return [forbidden(field, detail)]
  }
  // What is stored already is let be.
  const budget = isUnchanged(versions, live) ? undefined : new CompileBudget()
  const excess = budget === undefined ? [] : checkPatterns(versions, budget)
  if (excess.length > 0) return excess
  const errors = versions.flatMap((version, i) => {
    const found = checkVersion(version, entry(field, i), budget?.types)
    const root = rootToCheck(version, live)
    if (found.length > 0 || root === undefined) return found
    return checkRuleCosts(root, child(entry(field, i), 'schema.openAPIV3Schema'), budget?.types)
  })
  if (new Set(names).size < names.length) errors.push(invalid(field, names, 'must contain unique version names'))
  if (versions.filter(({ storage }) => storage).length !== 1) {
    errors.push(invalid(field, names, 'must have exactly one version marked as storage version'))
  }
  return errors
}

/** Whether the schemas are those that are stored already. */
function isUnchanged(
  versions: readonly CustomResourceDefinitionVersion[],
  live: CustomResourceDefinition | undefined,
): boolean {
  const schemasOf = (all: typeof versions): Json => all.map(({ schema }) => (schema?.openAPIV3Schema ?? null) as Json)
  return live !== undefined && equal(schemasOf(versions), schemasOf(live.spec.versions))
}

/** The schema whose rules may cost too much. One that is stored already has had objects held against it. */
function rootToCheck(
  { name, schema }: CustomResourceDefinitionVersion,
  live: CustomResourceDefinition | undefined,
): StructuralSchema | undefined {
  const root = schema?.openAPIV3Schema
  const before = live?.spec.versions.find((version) => version.name === name)?.schema?.openAPIV3Schema
  return before !== undefined && equal(root, before) ? undefined : root
}

function checkStoredVersions({ spec, status }: CustomResourceDefinition): readonly FieldError[] {
  const names = new Set(spec.versions.map(({ name }) => name))
  return (status?.storedVersions ?? []).flatMap((name, i) => {
    if (names.has(name)) return []
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`
    return [invalid(entry('status.storedVersions', i), name, detail)]
  })
}

function checkConversion({ conversion }: CustomResourceDefinitionSpec): readonly FieldError[] {
  const field = 'spec.conversion.webhook'
  const { strategy, webhook } = conversion ?? { strategy: 'None' }
  if (strategy === 'None')
    return webhook === undefined ? [] : [forbidden(field, 'should not be set when strategy is not set to Webhook')]
  if (webhook === undefined) return [fieldRequired(field, 'required when strategy is set to Webhook')]
  const { clientConfig, conversionReviewVersions: versions } = webhook
  return [
    ...(clientConfig === undefined
      ? [fieldRequired(child(field, 'clientConfig'), 'required when strategy is set to Webhook')]
      : checkWebhookClient(clientConfig as Json, child(field, 'clientConfig'))),
    ...checkReviewVersions(versions as Json | undefined, field, 'conversionReviewVersions'),
  ]
}

function checkPreserveUnknownFields({ preserveUnknownFields }: CustomResourceDefinitionSpec): readonly FieldError[] {
  if (preserveUnknownFields !== true) return []
  const detail =
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead'
  return [invalid('spec.preserveUnknownFields', true, detail)]
}
