import type { ObjectKey } from '../model/object-key.ts'
import type { ApiObject } from '../model/object.ts'
import type { MappedWatch, ReferenceWatch, Watched } from './controller.ts'
import type { Kind } from './kind.ts'
import type { Predicate } from './predicates.ts'
import { refusePromise } from './refuse-promise.ts'

/**
 * How a reconciler says which other objects wake its own: children it owns, objects it refers to, objects that map to
 * it.
 */

/**
 * The name of another object; in the namespace of the object at hand unless it says another. Of an object in no
 * namespace it has to say one, where the other is in one: else it refers to nothing.
 */
export interface Reference {
  readonly name: string
  readonly namespace?: string
}

/** No, one or several references. */
export type References = Reference | readonly Reference[] | undefined

export interface WatchOptions<Read> {
  /** Which changes wake. Default: all but those of the engine's own memory. */
  readonly when?: Predicate<Read>
}

/** A kind of children, made by `owned`. */
export interface Owned {
  readonly watched: Watched
}

/** A watch by reference, made by `reference`. */
export interface ReferenceTo<Read> {
  readonly references: (primary: Read) => References
  readonly watched: Watched
}

/** A watch by a map function, made by `mapped`. */
export interface MappedFrom {
  readonly primaries: (object: ApiObject) => References
  readonly watched: Watched
}

/**
 * Children of this kind, not all of whose changes wake the owner: `owns: [owned(Secret, { when: generationChanged })]`.
 */
export function owned<Read>(kind: Kind<Read, unknown>, options: WatchOptions<Read> = {}): Owned {
  return { watched: toWatched(kind, options) }
}

/**
 * Wakes a primary when an object of `kind` that it refers to changes. `names` must be a pure function of the primary.
 * It is given the primary with its defaults; one that does not fit its kind is given as it is stored. A run whose
 * status begins to name more is followed by another, which sees what has changed before anybody knew of the name. A
 * watch that a new version of the code brings, or a `names` whose own text is another, runs all primaries once, and
 * holds for those that were there before; what `names` calls is not looked at.
 */
export function reference<Read, Target = ApiObject>(
  kind: Kind<Target, unknown>,
  names: (primary: Read) => References,
  options: WatchOptions<Target> = {},
): ReferenceTo<Read> {
  return { references: names, watched: toWatched(kind, options) }
}

/**
 * Wakes the primaries that an object of `kind` maps to when it changes, and those that it mapped to before. `primaries`
 * must be a pure function of the object, which it is given as `names` of `reference` is; a name without a namespace is
 * in the object's own. More than a hundred are not woken at once but over seconds to minutes, behind everybody else's
 * work. It holds for objects that were there before it as `reference` does.
 */
export function mapped<Target>(
  kind: Kind<Target, unknown>,
  primaries: (object: Target) => References,
  options: WatchOptions<Target> = {},
): MappedFrom {
  return { primaries: primaries as MappedFrom['primaries'], watched: toWatched(kind, options) }
}

function toWatched<Read>(kind: Kind<Read, unknown>, { when = () => true }: WatchOptions<Read>): Watched {
  return { kind: kind as Kind, when: when as Predicate }
}

/** The watch as the engine runs it. */
export function toOwnedWatch(given: Kind<unknown, unknown> | Owned): Watched {
  return 'watched' in given ? given.watched : toWatched(given, {})
}

/** The watch as the engine runs it. */
export function referenceWatch({ references, watched: { kind, when } }: ReferenceTo<ApiObject>): ReferenceWatch {
  return { kind, when, source: String(references), targets: (primary) => keysOf(kind, primary, references(primary)) }
}

/** The watch as the engine runs it, for primaries of this kind. */
export function toMappedWatch(primaryKind: Kind, { primaries, watched: { kind, when } }: MappedFrom): MappedWatch {
  return {
    kind,
    when,
    source: String(primaries),
    primaries: (object) => keysOf(primaryKind, object, primaries(object)),
  }
}

/** Names come from what users write: what no object can be called is no reference. */
function keysOf(kind: Kind, { metadata }: ApiObject, references: References): readonly ObjectKey[] {
  return toList(references)
    .map(({ name, namespace = metadata.namespace ?? '' }) => ({
      group: kind.group,
      kind: kind.kind,
      namespace: kind.namespaced ? namespace : '',
      name,
    }))
    .filter(({ name, namespace }) => canBeName(name) && (namespace === '' || canBeName(namespace)))
}

function canBeName(name: unknown): boolean {
  return typeof name === 'string' && name !== '' && name.length <= nameLengthMax && !name.includes('/')
}

const nameLengthMax = 253

/** Also of a function without types: what it leaves out is none. Throws a TypeError for what can be no reference. */
function toList(found: References | null): readonly Reference[] {
  const list = (Array.isArray(found) ? found : [found]) as readonly (Reference | null | undefined)[]
  return list.filter((one) => one !== undefined && one !== null).map(requireReference)
}

function requireReference(one: Reference): Reference {
  const rule = 'a watch names objects as { name }, one or a list of them'
  refusePromise(one, rule)
  if (typeof one === 'object' && !(Symbol.iterator in one)) return one
  const what = typeof one === 'object' ? one.constructor.name : JSON.stringify(one).slice(0, 100)
  throw new TypeError(`${rule}, and not as ${what}`)
}
