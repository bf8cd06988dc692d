import type { CustomResourceDefinition, CustomResourceDefinitionNames } from '../custom-resource-definition.ts'
import { dnsLabelFault, dnsSubdomainFault } from '../dns-name.ts'
import { approvalAnnotation, isKubernetesGroup } from '../kubernetes-groups.ts'
import { checkEach, child, entry, fieldRequired, invalid, type FieldError } from '../schema/field-error.ts'

/** The name of a definition, its group, and the names of its kind. */
export function checkNames({ metadata, spec }: CustomResourceDefinition): readonly FieldError[] {
  const { group, names } = spec
  const errors = [...checkGroup(group, metadata.annotations ?? {}), ...checkKindNames(names)]
  if (metadata.name !== `${names.plural}.${group}`) {
    errors.push(invalid('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group'))
  }
  return errors
}

/**
 * What stored objects and their paths hang on stays as it is: group and plural always, scope and kind once established.
 */
export function checkNamesUnchanged(
  crd: CustomResourceDefinition,
  live: CustomResourceDefinition,
): readonly FieldError[] {
  const errors: FieldError[] = []
  const mustStay = (field: string, now: string, before: string): void => {
    if (now !== before) errors.push(invalid(`spec.${field}`, now, 'field is immutable'))
  }
  const isEstablished = live.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')
  if (isEstablished === true) {
    mustStay('scope', crd.spec.scope, live.spec.scope)
    mustStay('names.kind', crd.spec.names.kind, live.spec.names.kind)
  }
  mustStay('group', crd.spec.group, live.spec.group)
  mustStay('names.plural', crd.spec.names.plural, live.spec.names.plural)
  return errors
}

function checkGroup(group: string, annotations: Readonly<Record<string, string>>): FieldError[] {
  if (group === '') return [fieldRequired('spec.group')]
  const fault = dnsSubdomainFault(group)
  if (fault !== undefined) return [invalid('spec.group', group, fault)]
  if (!group.includes('.') && !(isKubernetesGroup(group) && approvalAnnotation in annotations))
    return [invalid('spec.group', group, 'should be a domain with at least one dot')]
  return isKubernetesGroup(group) ? checkApproval(annotations) : []
}

/**
 * Groups of the Kubernetes project are for kinds it has approved: nobody should take a built-in kind's place by chance.
 */
function checkApproval({ [approvalAnnotation]: approved }: Readonly<Record<string, string>>): FieldError[] {
  const field = entry('metadata.annotations', approvalAnnotation)
  const source = 'see https://github.com/kubernetes/enhancements/pull/1111'
  if (approved === undefined || approved === '') {
    return [fieldRequired(field, `protected groups must have approval annotation "${approvalAnnotation}", ${source}`)]
  }
  if (/^https?:\/\/[^/]/.test(approved) || approved.startsWith('unapproved')) return []
  const detail = `protected groups must have approval annotation "${approvalAnnotation}" with either a URL or a reason starting with "unapproved", ${source}`
  return [invalid(field, approved, detail)]
}

function checkKindNames(names: CustomResourceDefinitionNames): FieldError[] {
  const { plural, singular, kind, listKind, shortNames = [], categories = [] } = names
  const path = 'spec.names'
  const errors = [
    ...checkLabel(child(path, 'plural'), plural),
    ...checkMixedCase(child(path, 'kind'), kind),
    ...(singular === undefined ? [] : checkLabel(child(path, 'singular'), singular)),
    ...(listKind === undefined ? [] : checkMixedCase(child(path, 'listKind'), listKind)),
    ...checkEach(shortNames, (name, i) => checkLabel(entry(child(path, 'shortNames'), i), name)),
    ...checkEach(categories, (name, i) => checkLabel(entry(child(path, 'categories'), i), name)),
  ]
  if (kind === listKind && kind !== '') {
    errors.push(invalid(child(path, 'listKind'), listKind, 'kind and listKind may not be the same'))
  }
  return errors
}

function checkLabel(field: string, name: string): FieldError[] {
  if (name === '') return [fieldRequired(field)]
  const fault = dnsLabelFault(name)
  return fault === undefined ? [] : [invalid(field, name, fault)]
}

function checkMixedCase(field: string, name: string): FieldError[] {
  if (name === '') return [fieldRequired(field)]
  const fault = dnsLabelFault(name.toLowerCase())
  return fault === undefined ? [] : [invalid(field, name, `may have mixed case, but should otherwise match: ${fault}`)]
}
