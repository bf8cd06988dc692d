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
 * name it had before stays until the new one is free. Two that were written in the same moment may both have a name:
 * the earlier one keeps it. Source: apiextensions-apiserver, `naming_controller.go`, which takes one at a time.
 */
export function acceptNames(crd: CustomResourceDefinition, others: Iterable<CustomResourceDefinition>): AcceptedNames {
  const wanted = crd.spec.names
  const had: CustomResourceDefinitionNames = crd.status?.acceptedNames ?? { plural: '', kind: '' }
  const rivals = rivalsOf(crd.metadata.name, crd.spec.group, others)
  const inUse = namesInUse(rivals)
  const earlier = namesInUse(rivals.filter((other) => isEarlier(other, crd)))
  let conflict: AcceptedNames['conflict']
  const decided = singleNames.map(([field, reason, kind]) => {
    const mayKeep = (name: string): boolean => toList(had[field]).includes(name) && !earlier[kind].has(name)
    const clash = toList(wanted[field]).find((name) => inUse[kind].has(name) && !mayKeep(name))
    if (clash === undefined) return [field, wanted[field]]
    conflict = { reason, message: `${quote(clash)} is already in use` }
    return [field, without(had[field], earlier[kind])]
  })
  const names = Object.fromEntries(
    [...decided, ['categories', wanted.categories]].filter(([, name]) => name !== undefined),
  )
  return { names: { plural: '', kind: '', ...names }, conflict }
}

/** The definitions that have the kind of this one, too: they were written in the same moment. */
export function sharersOf(
  { metadata: { name }, spec, status }: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
): readonly CustomResourceDefinition[] {
  const kind = status?.acceptedNames?.kind ?? ''
  return kind === '' ? [] : rivalsOf(name, spec.group, others).filter((one) => one.status?.acceptedNames?.kind === kind)
}

function rivalsOf(
  name: string,
  group: string,
  others: Iterable<CustomResourceDefinition>,
): readonly CustomResourceDefinition[] {
  return [...others].filter(({ metadata, spec }) => spec.group === group && metadata.name !== name)
}

function without(names: Name, taken: ReadonlySet<string>): Name {
  if (typeof names === 'string') return taken.has(names) ? undefined : names
  return names?.filter((name) => !taken.has(name))
}

function isEarlier({ metadata: a }: CustomResourceDefinition, { metadata: b }: CustomResourceDefinition): boolean {
  const [madeA = '', madeB = ''] = [a.creationTimestamp, b.creationTimestamp]
  return madeA === madeB ? a.name < b.name : madeA < madeB
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

function namesInUse(definitions: readonly CustomResourceDefinition[]): NamesInUse {
  const resources = new Set<string>()
  const kinds = new Set<string>()
  for (const { status } of definitions) {
    const { plural, singular, shortNames, kind, listKind } = status?.acceptedNames ?? {}
    for (const name of [plural, singular, shortNames].flatMap(toList)) resources.add(name)
    for (const name of [kind, listKind].flatMap(toList)) kinds.add(name)
  }
  return { resources, kinds }
}

type Name = string | readonly string[] | undefined

function toList(names: Name): readonly string[] {
  return typeof names === 'string' ? [names] : (names ?? [])
}
