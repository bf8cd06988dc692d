import type { Json, JsonObject } from '../model/json.ts'
import { apiVersionOf, type ApiObject } from '../model/object.ts'
import { showOwners } from '../model/apply/sole-writer.ts'
import { hideGeneration } from '../model/hide-generation.ts'
import { objectText } from '../model/object-text.ts'
import { present } from '../model/present.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { StoredObject } from '../model/stored-object.ts'
import type { ObjectList } from '../resources/resources.ts'
import type { Clock } from '../ports/clock.ts'
import type { Call } from './call.ts'
import { representationOf, type IncludeObject, type Representation } from './representation.ts'
import { tableOf, type TableShape } from './table/table.ts'

/** Objects of one kind as JSON text, in the form a client asked for. */
export interface View {
  one(stored: StoredObject): string
  list(list: ObjectList): string
  /** A list in its parts: what stands ahead of the items, each of them with commas between, and what stands behind. */
  readonly parts: ListParts
  /** As part of a stream of objects of one kind. */
  event(stored: StoredObject, isFirst: boolean): string
  /** Whether the first of a stream says what holds for all, as tables do with their columns. */
  readonly introduces: boolean
  /** Views of a kind with the same name say the same. */
  readonly name: string
}

export interface ListParts {
  openText(list: Omit<ObjectList, 'items'>): string
  item(stored: StoredObject): string
  readonly closing: string
}

/** A list that is sent piece by piece: the texts of its items come page by page. */
export async function* listPieces(
  { openText, closing }: Pick<ListParts, 'openText' | 'closing'>,
  list: Omit<ObjectList, 'items'>,
  pages: AsyncIterable<readonly string[]> | Iterable<readonly string[]>,
): AsyncGenerator<string> {
  yield openText(list)
  let before = ''
  for await (const texts of pages) {
    if (texts.length === 0) continue
    yield before + texts.join(',')
    before = ','
  }
  yield closing
}

interface ViewOptions {
  readonly kind: ServedKind
  readonly representation: Representation
  /** The object as it is shown. */
  readonly shown: (stored: StoredObject) => ApiObject
  /** The time that ages are counted to. */
  readonly nowMs: () => number
}

/** The view that a request asks for. Throws NOT_ACCEPTABLE. */
export function viewOf({ kind, request, complete }: Pick<Call, 'kind' | 'request' | 'complete'>, clock: Clock): View {
  const shown = complete === undefined ? present : (stored: StoredObject) => complete(present(stored))
  return createView({ kind, shown, representation: representationOf(request), nowMs: () => clock.nowMs() })
}

function createView(options: ViewOptions): View {
  const { kind, representation } = options
  switch (representation.as) {
    case 'object':
      return objectView(options)
    case 'metadata':
      return metadataView(kind, `meta.k8s.io/${representation.version}`)
    case 'table':
      return tableView({
        ...options,
        shape: tableOf(kind),
        include: representation.include,
        apiVersion: `meta.k8s.io/${representation.version}`,
      })
  }
}

function objectView({ kind, shown }: Pick<ViewOptions, 'kind' | 'shown'>): View {
  const one = (stored: StoredObject): string => shownText(objectText(shown(stored)), kind, stored)
  const head = (): string =>
    `{"kind":${JSON.stringify(kind.listKind)},"apiVersion":${JSON.stringify(apiVersionOf(kind.group, kind.version))},"metadata":`
  const parts: ListParts = {
    openText: (list) => `${head()}${JSON.stringify(listMeta(list))},"items":[`,
    item: one,
    closing: ']}',
  }
  return { name: 'objects', introduces: false, one, list: listOf(parts), parts, event: one }
}

/** Text of an object as clients see it: with who owns its fields, and without what Kubernetes does not have. */
function shownText(text: string, kind: ServedKind, { object }: StoredObject): string {
  return hideGeneration(showOwners(text, kind, object), kind, object)
}

function listOf({ openText, item, closing }: ListParts): View['list'] {
  return (page) => `${openText(page)}${page.items.map(item).join(',')}${closing}`
}

function metadataView(kind: ServedKind, apiVersion: string): View {
  const one = (stored: StoredObject): string =>
    shownText(JSON.stringify(partial(stored.object, apiVersion)), kind, stored)
  const head = `{"kind":"PartialObjectMetadataList","apiVersion":${JSON.stringify(apiVersion)},"metadata":`
  const parts: ListParts = {
    openText: (list) => `${head}${JSON.stringify(listMeta(list))},"items":[`,
    item: one,
    closing: ']}',
  }
  return { name: apiVersion, introduces: false, one, list: listOf(parts), parts, event: one }
}

interface TableOptions extends ViewOptions {
  readonly shape: TableShape
  readonly include: IncludeObject
  readonly apiVersion: string
}

function tableView(options: TableOptions): View {
  const { columnDefinitions } = options.shape
  const head = `{"kind":"Table","apiVersion":${JSON.stringify(options.apiVersion)},"metadata":`
  const openTable = (metadata: JsonObject, columns: readonly JsonObject[] | null): string =>
    `${head}${JSON.stringify(metadata)},"columnDefinitions":${JSON.stringify(columns)},"rows":[`
  const parts: ListParts = {
    openText: (list) => openTable(listMeta(list), columnDefinitions),
    item: (stored) => shownText(JSON.stringify(row(stored, options)), options.kind, stored),
    closing: ']}',
  }
  const table = (stored: StoredObject, columns: readonly JsonObject[] | null): string =>
    `${openTable(rowsVersion(stored), columns)}${parts.item(stored)}${parts.closing}`
  return {
    name: `table ${options.apiVersion} ${options.include}`,
    introduces: true,
    parts,
    list: listOf(parts),
    one: (stored) => table(stored, columnDefinitions),
    event: (stored, isFirst) => table(stored, isFirst ? columnDefinitions : null),
  }
}

function row(stored: StoredObject, { shape, include, nowMs, apiVersion, shown }: TableOptions): JsonObject {
  const object = shown(stored)
  const cells = shape.cells(object, nowMs()) as Json[]
  if (include === 'None') return { cells, object: null }
  return { cells, object: include === 'Object' ? object : partial(object, apiVersion) }
}

function partial({ metadata }: ApiObject, apiVersion: string): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion, metadata }
}

function rowsVersion({ object }: StoredObject): JsonObject {
  return listMeta(object.metadata)
}

/** What is computed has no version. */
function listMeta({
  resourceVersion,
  continue: token,
}: {
  readonly resourceVersion?: string
  readonly continue?: string
}): JsonObject {
  return { ...(resourceVersion ? { resourceVersion } : {}), ...(token === undefined ? {} : { continue: token }) }
}
