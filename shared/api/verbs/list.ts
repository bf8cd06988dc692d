import type { HttpResponse } from '../../ports/http-handler.ts'
import type { ObjectList } from '../../resources/resources.ts'
import type { ApiServices, VerbHandler } from '../call.ts'
import { foreseeDamage, withDamageWarnings } from '../damage-warnings.ts'
import { reachVersion, requireUnchanged } from '../fresh-version.ts'
import { pageOptions, resourceVersion } from '../list-options.ts'
import { textParameter } from '../query.ts'
import { jsonPieces, jsonText } from '../reply.ts'
import { selectObjects, selectPages, type Pages } from '../select-objects.ts'
import { selectionOf } from '../selection.ts'
import { listPieces, viewOf, type ListParts, type View } from '../view.ts'

/** `GET` of a collection: whole, or in pages of `limit`. A whole one that is long is sent while it is read. */
export function createList(services: ApiServices): VerbHandler {
  return async (call) => {
    const { kind, request } = call
    const { query, signal } = request
    const view = viewOf(call, services.clock)
    const selected = { kind, selection: selectionOf(call) }
    const page = pageOptions(query)
    const version = resourceVersion(query)
    await reachVersion(version, services, signal)
    const exact = textParameter(query, 'resourceVersionMatch') === 'Exact' ? version : undefined
    const read = async (pages: Pages): Promise<ObjectList> => {
      const list = (await pages()) as ObjectList
      if (exact === undefined) return list
      await requireUnchanged(kind, { since: exact, until: list.resourceVersion }, services, signal)
      return { ...list, resourceVersion: exact }
    }
    if (page.limit !== undefined || page.continue !== undefined)
      return answerPage(await read(() => selectObjects({ ...selected, ...page }, services)), view)
    const pages = selectPages(selected, services)
    const { continue: token, ...first } = await read(pages)
    if (token === undefined) return answerPage(first, view)
    // A list that is sent while it is read says what its first page says.
    const answer = jsonPieces(200, listPieces(view.parts, first, textsOf(view.parts, first, pages)))
    return withDamageWarnings(answer, foreseeDamage(first, selected, services))
  }
}

function answerPage(page: ObjectList, view: View): HttpResponse {
  return withDamageWarnings(jsonText(200, view.list(page)), page)
}

/** The client takes each page before the next one is read. A failure on the way breaks the response off. */
async function* textsOf({ item }: ListParts, { items }: ObjectList, rest: Pages): AsyncGenerator<readonly string[]> {
  for (let page: typeof items | undefined = items; page !== undefined; page = (await rest())?.items)
    yield page.map(item)
}
