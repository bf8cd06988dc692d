import { hasCode } from '../../model/errors.ts'
import type { ObjectKey } from '../../model/object-key.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { DeleteOptions, ObjectList } from '../../resources/resources.ts'
import type { ApiServices, Call, VerbHandler } from '../call.ts'
import { withDamageWarnings } from '../damage-warnings.ts'
import { readOptionsForMany } from '../delete-options.ts'
import { pageOptions } from '../list-options.ts'
import { jsonText } from '../reply.ts'
import { selectObjects, selectPages, type Pages } from '../select-objects.ts'
import { selectionOf } from '../selection.ts'
import { viewOf } from '../view.ts'

/**
 * `DELETE` of a collection, or of a page of it: each selected object by itself; those written in between may remain.
 */
export function createDeleteCollection(services: ApiServices): VerbHandler {
  return async (call) => {
    const view = viewOf(call, services.clock)
    const options = await readOptionsForMany(call.request)
    const deleted = await deleteSelected(call, options, services)
    return withDamageWarnings(jsonText(200, view.list(deleted)), deleted)
  }
}

async function deleteSelected(call: Call, options: DeleteOptions, services: ApiServices): Promise<ObjectList> {
  const { kind } = call
  const items: StoredObject[] = []
  const damaged: ObjectKey[] = []
  let answer: Omit<ObjectList, 'items' | 'damaged'> = { resourceVersion: '' }
  const pages = pagesOf(call, services)
  for (let page = await pages(); page !== undefined; page = await pages()) {
    const { items: found, damaged: unreadable = [], ...list } = page
    damaged.push(...unreadable)
    answer = { ...list, resourceVersion: answer.resourceVersion || list.resourceVersion }
    for (const { object } of found) {
      const { namespace = '', name, uid } = object.metadata
      const preconditions = { uid, ...options.preconditions }
      const deletion = services.resources.delete(
        kind,
        { namespace, name },
        { ...options, preconditions, user: call.user, ...(call.annotate && { annotate: call.annotate }) },
      )
      const deleted = await unlessGone(deletion, options.preconditions === undefined)
      if (deleted !== undefined) items.push(deleted.stored)
    }
  }
  return { ...answer, items, damaged }
}

/** The one page that is asked for, or all there are. */
function pagesOf(call: Call, services: ApiServices): Pages {
  const selected = { kind: call.kind, selection: selectionOf(call) }
  const page = pageOptions(call.request.query)
  const isWhole = page.limit === undefined && page.continue === undefined
  if (isWhole) return selectPages(selected, services)
  let pages = 1
  return async () => (pages-- > 0 ? selectObjects({ ...selected, ...page }, services) : undefined)
}

/**
 * Somebody else deleted it first, and perhaps made another of that name: both are as good as done, unless the client
 * has said which it means.
 */
async function unlessGone<T>(deletion: Promise<T>, mayBeAnother: boolean): Promise<T | undefined> {
  try {
    return await deletion
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND') || (mayBeAnother && hasCode(error, 'VERSION_CONFLICT'))) return undefined
    throw error
  }
}
