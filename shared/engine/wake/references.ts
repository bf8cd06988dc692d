import { keyOf, keyText, type ObjectKey } from '../../model/object-key.ts'
import { absentIfDamaged } from '../../model/damage.ts'
import type { ApiObject } from '../../model/object.ts'
import { touches } from '../../model/stored-object.ts'
import type { Change } from '../../ports/change-feed.ts'
import type { ObjectIndex } from '../../ports/object-index.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { isOf } from '../../reconciler/kind.ts'
import { asRead } from '../state/as-read.ts'

/**
 * Who refers to whom, for all controllers at once: primaries to the objects they name, watched objects to the primaries
 * they map to. Kept in the index, since what an object referred to before cannot be told from what it is now.
 */
export interface ReferenceNotes {
  /**
   * Notes what an object refers to now, in addition to before; the difference is given back. Undefined if the change
   * says nothing of it.
   */
  note(change: Change): Promise<Noted> | undefined
}

export interface Noted {
  /** What the object referred to before, and does no more. */
  readonly dropped: readonly ObjectKey[]
  /**
   * Forgets what is dropped, once those that it concerns have been woken. Never after a later note: it would forget
   * what that noted.
   */
  forget(): Promise<void>
}

/** Notes what an object refers to as it is stored, should nobody have looked when it changed. */
export type NoteStored = (key: ObjectKey) => Promise<void>

interface Ports {
  readonly store: ObjectStore
  readonly index: ObjectIndex
}

export function createReferences(controllers: readonly Controller[], { store, index }: Ports): ReferenceNotes {
  const targetsOf = createTargets(controllers)

  /** But nothing that the object refers to by now: the change may be an old one that is told again. */
  async function forgetAllBut(key: ObjectKey, wanted: readonly ObjectKey[]): Promise<void> {
    const live = await absentIfDamaged(() => store.get(key))
    if (live !== undefined) await index.setReferences(key, [...wanted, ...(targetsOf(live.object) ?? [])])
  }

  /** By the change itself: a removal takes the notes away at once, maybe ahead of the changes that come before it. */
  function listFormer({ before }: Change, wanted: readonly ObjectKey[]): readonly ObjectKey[] {
    return without((before && targetsOf(before.object)) ?? [], wanted)
  }

  async function noteAll(change: Change, wanted: readonly ObjectKey[]): Promise<Noted> {
    const key = keyOf(change.stored.object)
    const noted = without(await index.references(key), wanted)
    await index.setReferences(key, [...wanted, ...noted])
    const forget = async (): Promise<void> => (noted.length > 0 ? forgetAllBut(key, wanted) : undefined)
    return { dropped: [...noted, ...without(listFormer(change, wanted), noted)], forget }
  }

  /**
   * The removal took its notes away, or was interrupted in that. A change from before it, which was told later, may
   * have noted them again.
   */
  async function forgetRemoved(key: ObjectKey): Promise<void> {
    // Undefined: it is damaged, and so it is there.
    const isThere = await absentIfDamaged(async () => (await store.get(key)) !== undefined)
    if (isThere === false) await index.setReferences(key, [])
  }

  return {
    note: (change) => {
      const { type, touched, stored } = change
      const isRemoved = type === 'removed'
      const wanted = isEnginesOwn(touched) && !isRemoved ? undefined : targetsOf(stored.object)
      if (!isRemoved) return wanted && noteAll(change, wanted)
      const forget = (): Promise<void> => forgetRemoved(keyOf(stored.object))
      // The write that lets an object go may move it, too.
      return wanted && Promise.resolve({ dropped: listFormer(change, wanted), forget })
    },
  }
}

/**
 * Only adds: what the object refers to no more is the relay's to forget, which wakes those that it concerns first. The
 * relay may note a newer state between our look and our note, which is then lost in ours: so we look again after each,
 * until we noted what is. Whatever is written after that look, the relay notes after us. A function that names others
 * each time is asked ten times.
 */
export function createNoteStored(controllers: readonly Controller[], { store, index }: Ports): NoteStored {
  const targetsOf = createTargets(controllers)

  async function look(key: ObjectKey): Promise<readonly ObjectKey[]> {
    // What is damaged refers to what is noted already.
    const stored = await absentIfDamaged(() => store.get(key))
    return (stored && targetsOf(stored.object)) ?? []
  }

  return async (key) => {
    let noted: readonly ObjectKey[] = []
    for (let looks = 0; looks < looksMax; looks++) {
      const wanted = await look(key)
      if (textOf(wanted) === textOf(noted)) return
      const before = await index.references(key)
      const missing = without(wanted, before)
      if (missing.length === 0) return
      await index.setReferences(key, [...before, ...missing])
      noted = wanted
    }
  }
}

const looksMax = 10

/** What an object refers to, for all controllers; undefined if none asks. */
function createTargets(controllers: readonly Controller[]): (object: ApiObject) => readonly ObjectKey[] | undefined {
  const asking = controllers.filter(({ references, maps }) => references.length + maps.length > 0)
  return (object) => {
    const found = asking.flatMap(({ kind, references, maps }) => [
      ...(isOf(object, kind) ? references.map(({ targets }) => targets(asRead(kind, object))) : []),
      ...maps.filter((map) => isOf(object, map.kind)).map((map) => map.primaries(asRead(map.kind, object))),
    ])
    return found.length === 0 ? undefined : found.flat()
  }
}

function without(keys: readonly ObjectKey[], others: readonly ObjectKey[]): readonly ObjectKey[] {
  const left = new Set(others.map(keyText))
  return keys.filter((key) => !left.has(keyText(key)))
}

function textOf(keys: readonly ObjectKey[]): string {
  return keys.map(keyText).join('\n')
}

function isEnginesOwn(touched: Change['touched']): boolean {
  return !touches(touched, 'spec', 'labels', 'annotations', 'control', 'meta', 'status', 'delete')
}
