import type { CustomResourceDefinition, CustomResourceDefinitionNames } from '../custom-resource-definition.ts'
import { quote } from '../schema/field-error.ts'

/** The outcome for one definition among those of its group. */
export interface AcceptedNames {
  readonly names: CustomResourceDefinitionNames
  /** Why a name could not be had; undefined if all could. */
  readonly conflict: { readonly reason: string; readonly message: string } | undefined
}

/**
 * The names under which a kind can be served: those it asks for, except what another definition of its group has. A
 * name it had before stays until the new one is free. Source: apiextensions-apiserver, `naming_controller.go`.
 */
export function acceptNames(crd: CustomResourceDefinition, others: Iterable<CustomResourceDefinition>): AcceptedNames {
  const wanted = crd.spec.names
  const had: CustomResourceDefinitionNames = crd.status?.acceptedNames ?? { plural: '', kind: '' }
  const inUse = namesInUse(crd, others)
  let conflict: AcceptedNames['conflict']
  const decided = singleNames.map(([field, reason, kind]) => {
    const clash = toList(wanted[field]).find((name) => inUse[kind].has(name) && !toList(had[field]).includes(name))
    if (clash === undefined) return [field, wanted[field]]
    conflict = { reason, message: `${quote(clash)} is already in use` }
    return [field, had[field]]
  })
  const names = Object.fromEntries(
    [...decided, ['categories', wanted.categories]].filter(([, name]) => name !== undefined),
  )
  return { names: names as CustomResourceDefinitionNames, conflict }
}

const singleNames = [
  ['plural', 'PluralConflict', 'resources'],
  ['singular', 'SingularConflict', 'resources'],
  ['shortNames', 'ShortNamesConflict', 'resources'],
  ['kind', 'KindConflict', 'kinds'],
  ['listKind', 'ListKindConflict', 'kinds'],
] as const

interface NamesInUse {
  readonly resources: ReadonlySet<string>
  readonly kinds: ReadonlySet<string>
}

function namesInUse(crd: CustomResourceDefinition, others: Iterable<CustomResourceDefinition>): NamesInUse {
  const resources = new Set<string>()
  const kinds = new Set<string>()
  for (const { metadata, spec, status } of others) {
    if (spec.group !== crd.spec.group || metadata.name === crd.metadata.name) continue
    const { plural, singular, shortNames, kind, listKind } = status?.acceptedNames ?? {}
    for (const name of [plural, singular, shortNames].flatMap(toList)) resources.add(name)
    for (const name of [kind, listKind].flatMap(toList)) kinds.add(name)
  }
  return { resources, kinds }
}

function toList(names: string | readonly string[] | undefined): readonly string[] {
  return typeof names === 'string' ? [names] : (names ?? [])
}
