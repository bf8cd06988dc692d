import { hasCode } from '../../model/errors.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { DeleteOptions, ObjectList } from '../../resources/resources.ts'
import type { ApiServices, Call, VerbHandler } from '../call.ts'
import { readDeleteOptions } from '../delete-options.ts'
import { jsonText } from '../reply.ts'
import { selectedPages } from '../selected-objects.ts'
import { selectionOf } from '../selection.ts'
import { viewOf } from '../view.ts'

/** `DELETE` of a collection: each selected object by itself, page after page; those written in between may remain. */
export function createDeleteCollection(services: ApiServices): VerbHandler {
  return async (call) => {
    const view = viewOf(call, services.clock)
    const options = await readDeleteOptions(call.request)
    return jsonText(200, view.list(await deleteSelected(call, options, services)))
  }
}

async function deleteSelected(call: Call, options: DeleteOptions, services: ApiServices): Promise<ObjectList> {
  const { kind } = call
  const items: StoredObject[] = []
  let resourceVersion = ''
  for await (const page of selectedPages({ kind, selection: selectionOf(call) }, services)) {
    resourceVersion ||= page.resourceVersion
    for (const { object } of page.items) {
      const { namespace = '', name, uid } = object.metadata
      const deleted = await unlessGone(
        services.resources.delete(kind, { namespace, name }, { ...options, preconditions: { uid } }),
      )
      if (deleted !== undefined) items.push(deleted.stored)
    }
  }
  return { items, resourceVersion }
}

/** Somebody else deleted it first, and perhaps made another of that name: both are as good as done. */
async function unlessGone<T>(deletion: Promise<T>): Promise<T | undefined> {
  try {
    return await deletion
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND', 'VERSION_CONFLICT')) return undefined
    throw error
  }
}
