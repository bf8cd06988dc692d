import { textFromBase64, toBase64 } from '../model/base64.ts'
import { parseJson } from '../model/parse-json.ts'
import { OperatingError } from '../model/errors.ts'
import { keyOf, type ObjectKey } from '../model/object-key.ts'
import type { Selector } from '../model/selector.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { StoredObject } from '../model/stored-object.ts'
import type { ListPage, ListQuery, ObjectStore } from '../ports/object-store.ts'
import { convertAhead } from './await-conversion.ts'
import { servedIfConvertible } from './as-served.ts'
import type { ListOptions, ObjectList } from './resources.ts'

/** Pages for clients out of pages of the store: a page of a selection is filled from as many as it takes. */

interface Token {
  readonly namespace: string
  readonly name: string
  /** The first page's resourceVersion, which all pages tell. */
  readonly version: string
}

/** With the limit of one page of the store. */
interface Limited extends Pick<ListOptions, 'namespace'> {
  readonly limit: number | undefined
}

export async function listObjects(store: ObjectStore, kind: ServedKind, options: ListOptions): Promise<ObjectList> {
  const token = options.continue === undefined ? undefined : decode(options.continue)
  const found: StoredObject[] = []
  const damaged: ObjectKey[] = []
  const resultOf = (rest: { readonly continue?: string } = {}): ObjectList => ({
    items: found,
    resourceVersion: version,
    ...rest,
    ...(damaged.length === 0 ? {} : { damaged }),
  })
  let { limit } = options
  let page = await store.list(query(kind, { ...options, limit }, token))
  const version = token?.version ?? page.resourceVersion
  for (;;) {
    damaged.push(...(page.damaged ?? []))
    if (kind.conversion?.prepare !== undefined) await convertAhead(kind, page.items)
    const end = take({ found, damaged }, page, { ...options, kind })
    if (end !== undefined) return resultOf({ continue: encode({ ...end, version }) })
    const last = page.items.at(-1)
    if (!page.more || last === undefined) return resultOf()
    const next = { ...placeOf(last), version }
    if (found.length > 0 && endsEarly(page, { limit })) return resultOf({ continue: encode(next) })
    limit = largerThan(limit)
    page = await store.list(query(kind, { ...options, limit }, next))
  }
}

/** Of many objects few may be selected: who asks for one of them has not thousands of pages of one read. */
function largerThan(limit: number | undefined): number | undefined {
  return limit === undefined || limit >= pageMax ? limit : Math.min(2 * limit, pageMax)
}

/** They may be large. */
const pageMax = 100

/** The store ends a page early whose objects are large: so does the page that is made of it. */
function endsEarly(page: ListPage, { limit = Infinity }: Limited): boolean {
  return limit !== Infinity && page.items.length < limit
}

/** What is in no namespace is in none that somebody names. */
function query({ group, kind, namespaced }: ServedKind, { namespace, limit }: Limited, after?: Token): ListQuery {
  return {
    group,
    kind,
    ...(namespace === undefined || !namespaced ? {} : { namespace }),
    ...(limit === undefined ? {} : { limit }),
    ...(after === undefined ? {} : { after: { namespace: after.namespace, name: after.name }, asOf: after.version }),
  }
}

/** Adds a page's matches; where the next page starts, once the limit is reached and more may follow. */
function take(
  { found, damaged }: { readonly found: StoredObject[]; readonly damaged: ObjectKey[] },
  page: ListPage,
  { limit = Infinity, selector, kind }: ListOptions & { readonly kind: ServedKind },
): Omit<Token, 'version'> | undefined {
  for (const [i, stored] of page.items.entries()) {
    const item = servedIfConvertible(kind, stored)
    if (item === undefined) damaged.push(keyOf(stored.object))
    else if (selects(selector, item)) found.push(item)
    const rest = page.more || i < page.items.length - 1
    if (found.length === limit && rest) return placeOf(stored)
  }
  return undefined
}

function selects(selector: Selector | undefined, item: StoredObject): boolean {
  return selector === undefined || selector(item.object)
}

function placeOf({ object }: StoredObject): Omit<Token, 'version'> {
  return { namespace: object.metadata.namespace ?? '', name: object.metadata.name }
}

/** The name of a role may have any letters. */
function encode(token: Token): string {
  return toBase64(JSON.stringify(token))
}

function decode(text: string): Token {
  try {
    const { namespace, name, version } = parseJson(textFromBase64(text)) as Partial<Token>
    if (typeof namespace === 'string' && typeof name === 'string' && isResourceVersion(version))
      return { namespace, name, version }
  } catch {
    // Falls through: anything that is no token of ours is refused alike.
  }
  throw invalidToken()
}

/** The port says what the store's are. */
function isResourceVersion(value: unknown): value is string {
  return typeof value === 'string' && /^[1-9]\d{0,38}$/.test(value)
}

/** For who sends a token that no page had. */
export function invalidToken(): OperatingError {
  return new OperatingError(
    'BAD_REQUEST',
    'invalid continue token: continue key is not valid: use the token of the page before, unchanged, or list from the start',
  )
}
