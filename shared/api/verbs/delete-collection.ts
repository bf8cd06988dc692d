import { hasCode } from '../../model/errors.ts'
import type { ObjectKey } from '../../model/object-key.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { DeleteOptions, ObjectList } from '../../resources/resources.ts'
import type { ApiServices, Call, VerbHandler } from '../call.ts'
import { withDamageWarnings } from '../damage-warnings.ts'
import { readOptionsForMany } from '../delete-options.ts'
import { pageOptions } from '../list-options.ts'
import { jsonPieces, jsonText } from '../reply.ts'
import { selectObjects, selectPages, type Pages } from '../select-objects.ts'
import { selectionOf } from '../selection.ts'
import { success } from './delete.ts'
import { listPieces, viewOf, type ListParts } from '../view.ts'

/**
 * `DELETE` of a collection, or of a page of it: each selected object by itself; those written in between may remain.
 * The answer lists them. If that would be very long, it only says that they are deleted.
 */
export function createDeleteCollection(services: ApiServices): VerbHandler {
  return async (call) => {
    const { parts } = viewOf(call, services.clock)
    const options = await readOptionsForMany(call.request)
    const deleteOne = deleteWith(call, options, services)
    const deleted: string[][] = []
    let characters = 0
    const damaged: ObjectKey[] = []
    let answer: Omit<ObjectList, 'items' | 'damaged'> = { resourceVersion: '' }
    const pages = pagesOf(call, services)
    for (let page = await pages(); page !== undefined; page = await pages()) {
      const { items, damaged: unreadable = [], ...list } = page
      damaged.push(...unreadable)
      answer = { ...list, resourceVersion: answer.resourceVersion || list.resourceVersion }
      const texts: string[] = []
      for (const item of items) {
        const last = await deleteOne(item)
        // Its text is made now: to make those of many at once would hold up everybody else.
        if (last === undefined || characters > toldMax) continue
        const text = parts.item(last)
        characters += text.length
        texts.push(text)
      }
      deleted.push(texts)
      if (characters > toldMax) deleted.length = 0
    }
    const response = characters > toldMax ? success(call.kind) : answerOf(parts, answer, deleted)
    return withDamageWarnings(response, { damaged })
  }
}

/** Deletes a selected object. Returns what it was last, and `undefined` for what somebody else has deleted before. */
function deleteWith(call: Call, options: DeleteOptions, { resources }: Pick<ApiServices, 'resources'>) {
  return async ({ object }: StoredObject): Promise<StoredObject | undefined> => {
    const { namespace = '', name, uid } = object.metadata
    const preconditions = { uid, ...options.preconditions }
    const deletion = resources.delete(
      call.kind,
      { namespace, name },
      { ...options, preconditions, user: call.user, ...(call.annotate && { annotate: call.annotate }) },
    )
    return (await unlessGone(deletion, options.preconditions === undefined))?.stored
  }
}

/** What is long is sent piece by piece. */
function answerOf(parts: ListParts, list: Omit<ObjectList, 'items'>, pages: readonly (readonly string[])[]) {
  const texts = pages.flat()
  if (texts.length > wholeMax) return jsonPieces(200, listPieces(parts, list, pages))
  return jsonText(200, `${parts.openText(list)}${texts.join(',')}${parts.closing}`)
}

const wholeMax = 32
/** Characters of what is deleted, which stay in memory until all is. */
const toldMax = 8 << 20

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
