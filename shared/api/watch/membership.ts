import { keyText, keyOf } from '../../model/object-key.ts'
import type { ApiObject } from '../../model/object.ts'
import type { Change } from '../../ports/change-feed.ts'
import type { ApiServices } from '../call.ts'
import { selectPages, type SelectedOptions } from '../select-objects.ts'
import { isSelected, type Selection } from '../selection.ts'
import type { SharedNames } from './known-names.ts'

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** Which of the changes of a kind a watch tells, and as what: an object that leaves the selection counts as deleted. */
export interface Membership {
  /** What to tell of a change; `undefined` for nothing. */
  eventOf(change: Change): EventType | undefined
  /** The client has been told of this object. */
  knows(object: ApiObject): void
  /** Whether the watch is about the place of an object, whatever else the object holds. */
  mayTell(object: ApiObject): boolean
  /** The watch is over. May come more than once. */
  end(): void
}

const plainEvents = { added: 'ADDED', modified: 'MODIFIED', removed: 'DELETED' } as const

/** For selections that an object neither enters nor leaves: nothing to remember. */
export function createFixedMembership(selection: Selection): Membership {
  return {
    eventOf: ({ type, stored }) => (isSelected(selection, stored.object) ? plainEvents[type] : undefined),
    knows: () => {},
    mayTell: (object) => isInPlace(selection, object),
    end: () => {},
  }
}

/** For selections by content. Remembers the names it has told of. */
export function createChangingMembership(selection: Selection, names: SharedNames): Membership {
  const known = names.open()
  return {
    eventOf: ({ type, stored: { object } }) => {
      const name = keyText(keyOf(object))
      if (type === 'removed' || !isSelected(selection, object)) return known.delete(name) ? 'DELETED' : undefined
      const isNew = type === 'added' || !known.has(name)
      known.add(name)
      return isNew ? 'ADDED' : 'MODIFIED'
    },
    knows: (object) => {
      known.add(keyText(keyOf(object)))
    },
    mayTell: (object) => isInPlace(selection, object),
    end: () => known.clear(),
  }
}

function isInPlace(selection: Selection, object: ApiObject): boolean {
  const { name } = selection
  return isInNamespace(selection, object) && (name === undefined || name === object.metadata.name)
}

/**
 * For a client that comes back at a resourceVersion with a selection by content: what it knows cannot be told from the
 * present alone. So changes up to the present (`before`) are told when in doubt: a client takes a second ADDED for an
 * update, and a DELETED of what it does not know for nothing. `known` starts as what is selected now.
 *
 * Where a feed reaches back, it does not tell every state. There a new object may be told in place of the removal of
 * the one before it, of which the client knows.
 */
export async function resumeMembership(
  options: SelectedOptions,
  services: Services,
  names: SharedNames,
): Promise<Membership> {
  const { selection } = options
  const { reachBack } = services.feed
  const membership = createChangingMembership(selection, names)
  const before = await noteAll(membership, options, services).catch((error: unknown) => {
    membership.end()
    throw error
  })
  const createdUntil = reachBack === undefined ? -1n : before + BigInt(reachBack)
  return {
    ...membership,
    eventOf: (change) => {
      const { object } = change.stored
      const event = membership.eventOf(change)
      if (event !== undefined) return event
      const until = change.type === 'added' ? createdUntil : before
      const isInDoubt = isInPlace(selection, object) && BigInt(object.metadata.resourceVersion) <= until
      return isInDoubt ? 'DELETED' : undefined
    },
  }
}

function isInNamespace({ namespace }: Selection, object: ApiObject): boolean {
  return namespace === '' || object.metadata.namespace === namespace
}

type Services = Pick<ApiServices, 'resources' | 'feed'>

/** Notes all that is selected now; the highest resourceVersion seen. */
async function noteAll(
  membership: Membership,
  { kind, selection }: SelectedOptions,
  services: Services,
): Promise<bigint> {
  const whole: Selection = { namespace: selection.namespace, name: undefined, selector: undefined, isMutable: false }
  let highest = 0n
  const pages = selectPages({ kind, selection: whole }, services)
  for (let page = await pages(); page !== undefined; page = await pages()) {
    highest = max(highest, BigInt(page.resourceVersion))
    for (const { object } of page.items) {
      highest = max(highest, BigInt(object.metadata.resourceVersion))
      if (isSelected(selection, object)) membership.knows(object)
    }
  }
  return highest
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
