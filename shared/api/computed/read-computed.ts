import type { ApiObject } from '../../model/object.ts'
import { parseJson } from '../../model/parse-json.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import { invalidToken } from '../../resources/listing.ts'
import { notFound } from '../../resources/refusals.ts'
import { placeOf, type ApiServices, type Call, type VerbHandler } from '../call.ts'
import { pageOptions } from '../list-options.ts'
import { jsonText } from '../reply.ts'
import { isSelected, selectionOf } from '../selection.ts'
import { viewOf } from '../view.ts'
import type { ComputedObjects, ComputedPage, PageEnd } from './computed-objects.ts'

/** So many objects of a computed kind are on a page at most, whatever a client asks for. */
const pageMax = 500

/** `GET` of objects of computed kinds: one, or a page of them. A page always says whether another one follows. */
export function createReadComputed({ clock, computed = [] }: Pick<ApiServices, 'clock' | 'computed'>): VerbHandler {
  return async (call) => {
    const source = computed.find(({ kind }) => kind === call.kind)
    if (source === undefined) throw new TypeError(`nobody computes ${call.kind.kind}`)
    const view = viewOf(call, clock)
    if (call.info.verb === 'get') return jsonText(200, view.one(asStored(await findOne(source, call))))
    const { items, end } = await readPage(source, call)
    const more = end === undefined ? {} : { continue: btoa(JSON.stringify(end)) }
    return jsonText(200, view.list({ items: items.map(asStored), resourceVersion: '', ...more }))
  }
}

async function findOne(source: ComputedObjects, call: Call): Promise<ApiObject> {
  const { namespace = '', name } = placeOf(call)
  const found = await source.find({ namespace, name })
  if (found === undefined) throw notFound(call.kind, name)
  return found
}

async function readPage(source: ComputedObjects, call: Call): Promise<ComputedPage> {
  const selection = selectionOf(call)
  const { namespace, name } = selection
  const { limit = pageMax, continue: token } = pageOptions(call.request.query)
  const { items, ...rest } =
    name !== undefined && (namespace !== '' || !call.kind.namespaced)
      ? { items: [await source.find({ namespace, name })].filter((one) => one !== undefined) }
      : await source.list({
          namespace,
          limit: Math.min(limit, pageMax),
          ...(token === undefined ? {} : { after: decode(token) }),
        })
  return { ...rest, items: items.filter((object) => isSelected(selection, object)) }
}

function asStored(object: ApiObject): StoredObject {
  return { object, engine: {} }
}

function decode(token: string): PageEnd {
  try {
    const end = parseJson(atob(token))
    if (Array.isArray(end) && end.length === 2 && end.every((part) => Number.isSafeInteger(part) && Number(part) >= 0))
      return end as unknown as PageEnd
  } catch {
    // Falls through: anything that is no token of ours is refused alike.
  }
  throw invalidToken()
}
