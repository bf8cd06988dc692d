import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { ObjectKey } from '../../../model/object-key.ts'
import type { KindName } from '../../../ports/object-index.ts'

export type Item = Record<string, AttributeValue>

/** The key of an item: its partition, and its place in it. */
export type ItemKey = { readonly pk: { readonly S: string }; readonly sk: { readonly S: string } }

export function itemKey(pk: string, sk: string): ItemKey {
  return { pk: { S: pk }, sk: { S: sk } }
}

/**
 * Where an object lies: `group/kind#bucket`, `namespace#name`. A partition takes 1,000 writes a second, so that the
 * objects of a kind are spread over several by the hash of their place. Places sort as their namespaces do, because '#'
 * sorts before all that a namespace may hold; a slash does not: `a-b/x` comes before `a/x`.
 */
export function objectItemKey(key: ObjectKey): ItemKey {
  const place = placeText(key)
  return itemKey(partition(key, hash(place) % bucketCount(key)), place)
}

/** A sort key takes so many bytes. The longest names that objects may have leave a fifth of them. */
const placeBytesMax = 1_024
/** So many characters always fit. */
const placeCharactersMax = Math.floor(placeBytesMax / 3)

/** Whether an object may lie there. Where none can, DynamoDB refuses to look. */
export function isPlace(key: Pick<ObjectKey, 'namespace' | 'name'>): boolean {
  const place = placeText(key)
  return place.length <= placeCharactersMax || Buffer.byteLength(place) <= placeBytesMax
}

function placeText({ namespace, name }: Pick<ObjectKey, 'namespace' | 'name'>): string {
  return `${namespace}#${name}`
}

/** All partitions of a kind. */
export function partitionsOf(kind: KindName): readonly string[] {
  return feedPartitionsOf(kind, bucketCount(kind))
}

/** A part of the partitions of each kind, for one of several that go through the objects side by side. */
export interface Share {
  readonly index: number
  readonly of: number
}

export function partitionsIn({ index, of }: Share, partitions: readonly string[]): readonly string[] {
  return partitions.filter((_, i) => i % of === index)
}

export const wholeShare: Share = { index: 0, of: 1 }

/** The object that an item is about, or was. */
export function objectKeyOf({ pk, sk }: Item): ObjectKey {
  const kindText = pk?.S?.slice(0, pk.S.lastIndexOf('#')) ?? ''
  const place = livePlace(sk?.S ?? '')
  // A name of a role may have a '#', too; a namespace has none.
  const end = place.indexOf('#')
  const slash = kindText.indexOf('/')
  const [group, kind] = [kindText.slice(0, slash), kindText.slice(slash + 1)]
  return { group, kind, namespace: place.slice(0, end), name: place.slice(end + 1) }
}

/**
 * Where the tombstone of an object goes whose name is taken again: in its partition, behind all objects, which begin
 * with a namespace or with '#'.
 */
export function gravePlace(place: string, uid: string): string {
  return `${graveMark}${place}#${uid}`
}

function isGrave(sk: string): boolean {
  return sk.startsWith(graveMark)
}

/** The place of the object that lies, or lay, under this sort key. */
export function livePlace(sk: string): string {
  return isGrave(sk) ? sk.slice(graveMark.length, sk.lastIndexOf('#')) : sk
}

function cutPlace(key: Pick<ObjectKey, 'namespace' | 'name'>): string {
  return placeText(key).slice(0, placeCharactersMax)
}

const graveMark = '~'

/**
 * Sort keys of a list, both inclusive: from behind a place, in one namespace or in all. `undefined` if none is left.
 */
export function listRange(
  namespace: string | undefined,
  after: Pick<ObjectKey, 'namespace' | 'name'> | undefined,
): { readonly from: string; readonly to: string } | undefined {
  if (namespace !== undefined && !isPlace({ namespace, name: '' })) return undefined
  // The smallest text behind a text is the same with a NUL. Nothing begins like one that is too long.
  const behind = after === undefined ? '#' : isPlace(after) ? `${placeText(after)}\u0000` : cutPlace(after)
  const first = namespace === undefined ? '#' : `${namespace}#`
  const from = behind > first ? behind : first
  const to = namespace === undefined ? graveMark : `${namespace}$`
  return from < to ? { from, to } : undefined
}

/**
 * Over how many partitions a kind is spread. Fixed for ever: with another count, objects would not be found where they
 * lie. Kinds that are read often and written by hand are kept in one, so that a list of them is one query.
 */
function bucketCount({ group, kind }: KindName): number {
  const isControl = controlGroups.has(group) || (group === '' && kind === 'Namespace')
  return isControl ? 1 : 8
}

const controlGroups = new Set(['apiextensions.k8s.io', 'rbac.authorization.k8s.io'])

/** How many buckets of the index `feed` a kind begins with. */
export const feedBucketsMin = bucketCount

/** Where the write of an object is recorded in the index `feed`, which may have more buckets than the table. */
export function feedPartition(key: ObjectKey, buckets: number): string {
  return partition(key, hash(placeText(key)) % buckets)
}

/** All that the writes of a kind are recorded in. */
export function feedPartitionsOf(kind: KindName, buckets: number): readonly string[] {
  return Array.from({ length: buckets }, (_, bucket) => partition(kind, bucket))
}

function partition({ group, kind }: KindName, bucket: number): string {
  return `${group}/${kind}#${bucket}`
}

/** FNV-1a. Fixed for ever, like the counts. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  // The low bits alone are weak: folded, all of them count.
  return (value ^ (value >>> 16)) >>> 0
}
