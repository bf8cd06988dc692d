import { checkNames } from '../model/crd/check-names.ts'
import type { CustomResourceDefinition } from '../model/custom-resource-definition.ts'
import { dnsLabelFault } from '../model/dns-name.ts'
import { DefinitionError } from '../model/errors.ts'
import { invalid } from '../model/schema/field-error.ts'

/** Refuses a kind without a name that everything else is made of, which the compiler says where it is asked. */
export function requireNames(names: Readonly<Record<'group' | 'version' | 'kind', unknown>>): void {
  for (const option of ['kind', 'group', 'version'] as const) {
    const { [option]: given, kind } = names
    if (typeof given !== 'string' || given === '')
      throw new DefinitionError(`${kind ? String(kind) : 'a kind'}: ${option}: Required value`)
  }
}

/** Refuses the names that a control plane would refuse with the definition, in the same words. */
export function refuseWrongNames(definition: CustomResourceDefinition): void {
  const { names, versions } = definition.spec
  const errors = versions.flatMap(({ name }, i) => {
    const fault = dnsLabelFault(name)
    return fault === undefined ? [] : [invalid(i === 0 ? 'version' : 'olderVersions', name, fault)]
  })
  const all = [...errors, ...checkNames(definition)]
  // What is made of the kind is wrong with it.
  const [error] = [...all.filter(({ field }) => field === 'spec.names.kind'), ...all]
  if (error === undefined) return
  throw new DefinitionError(`${names.kind}: ${error.field.replace(/^spec\.(names\.)?/, '')}: ${error.message}`)
}
