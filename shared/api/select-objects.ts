import { hasCode } from '../model/errors.ts'
import { storedAs, type ServedKind } from '../model/served-kind.ts'
import type { ListOptions, ObjectList } from '../resources/resources.ts'
import type { ApiServices } from './call.ts'
import { isSelected, type Selection } from './selection.ts'

export interface SelectedOptions extends Pick<ListOptions, 'limit' | 'continue'> {
  readonly kind: ServedKind
  readonly selection: Selection
}

type Services = Pick<ApiServices, 'resources' | 'feed'>

/** The objects of a selection, whole or one page of them. One object by its name is one read. */
export function selectObjects(options: SelectedOptions, services: Services): Promise<ObjectList> {
  const { kind, selection, ...page } = options
  const { namespace, name, selector } = selection
  if (name !== undefined && (namespace !== '' || !kind.namespaced)) return selectByName(name, options, services)
  return services.resources.list(kind, {
    ...page,
    ...(namespace === '' ? {} : { namespace }),
    ...(selector === undefined ? {} : { selector }),
  })
}

async function selectByName(
  name: string,
  { kind, selection }: SelectedOptions,
  { resources, feed }: Services,
): Promise<ObjectList> {
  // Before the read: a watch from here sees every change that the read did not.
  const latest = await feed.latest()
  try {
    const stored = await resources.get(kind, { namespace: selection.namespace, name })
    const resourceVersion = laterOf(latest, stored.object.metadata.resourceVersion)
    return { items: isSelected(selection, stored.object) ? [stored] : [], resourceVersion }
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND')) return { items: [], resourceVersion: latest }
    if (!hasCode(error, 'DAMAGED')) throw error
    const { group, kind: stored } = storedAs(kind)
    return {
      items: [],
      resourceVersion: latest,
      damaged: [{ group, kind: stored, namespace: selection.namespace, name }],
    }
  }
}

/** What the read saw is told no more: between the two the object may have been written. */
function laterOf(latest: string, read: string): string {
  return BigInt(read) > BigInt(latest) ? read : latest
}

/**
 * The same page by page, for who need not hold all of them at once: the next page, or `undefined` after the last one.
 */
export type Pages = () => Promise<ObjectList | undefined>

/** Keeps no page that it has handed out. */
export function selectPages(options: SelectedOptions, services: Services): Pages {
  let next: SelectedOptions | undefined = { ...options, limit: pageSize }
  const read = async (asked: SelectedOptions): Promise<ObjectList> => {
    const page = await selectObjects(asked, services)
    next = page.continue === undefined ? undefined : { ...asked, continue: page.continue }
    return page
  }
  return async () => (next === undefined ? undefined : read(next))
}

/** So few that a page is garbage before the collector of young objects has looked at it twice. */
const pageSize = 32
