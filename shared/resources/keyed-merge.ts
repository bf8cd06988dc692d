import { finalizerSet, objectMetaSchema } from '../model/schema/object-meta.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import type { StructuralSchema } from '../model/schema/structural-schema.ts'
import { mergePatch } from './merge-patch.ts'

/** In front of the name of a list: the order of its items, by their keys. */
export const orderPrefix = '$setElementOrder/'

/** In front of the name of a list of texts: those that go. */
export const removalPrefix = '$deleteFromPrimitiveList/'

/** A schema with the lists of metadata that merge, which are those of every kind. */
export function withMetadataLists(schema: StructuralSchema): StructuralSchema {
  return { ...schema, properties: { ...schema.properties, metadata: objectMetaSchema } }
}

/** Of all lists of texts, only finalizers merge. */
export function isMergedTexts(schema: StructuralSchema | undefined): boolean {
  return schema === finalizerSet
}

/** The field that tells the items of a list apart; undefined for a list that is replaced whole. */
export function mergeKeyOf(schema: StructuralSchema | undefined): string | undefined {
  return schema?.['x-kubernetes-list-type'] === 'map' ? schema['x-kubernetes-list-map-keys']?.[0] : undefined
}

/**
 * A JSON merge patch, by which lists with keys merge item by item, as a strategic merge patch of kubectl says it: an
 * item with `$patch: delete` goes, and the order is that of `$setElementOrder`, what is only here behind it. Finalizers
 * merge one by one, without those of `$deleteFromPrimitiveList`.
 */
export function mergeByKeys(
  target: Json | undefined,
  patch: Json | undefined,
  schema: StructuralSchema | undefined,
): Json | undefined {
  if (!isObject(patch)) return mergePatch(target, patch)
  const before: JsonObject = isObject(target) ? target : {}
  const [fields, lists]: [string[], string[]] = [[], []]
  for (const name of Object.keys(patch)) {
    const prefix = [orderPrefix, removalPrefix].find((one) => name.startsWith(one))
    if (prefix === undefined) fields.push(name)
    else lists.push(name.slice(prefix.length))
  }
  const mergeField = (name: string): Json | undefined => {
    const inner = schema?.properties?.[name]
    const key = mergeKeyOf(inner)
    const was = Object.hasOwn(before, name) ? before[name] : undefined
    const sent = patch[name]
    if (sent === null) return undefined
    const order = listOf(patch[`${orderPrefix}${name}`])
    if (isMergedTexts(inner) && (sent === undefined || Array.isArray(sent)))
      return mergeTexts(was, { items: sent ?? [], order, gone: listOf(patch[`${removalPrefix}${name}`]) })
    if (key === undefined || (sent !== undefined && !Array.isArray(sent))) return mergeByKeys(was, sent, inner)
    return mergeItems(was, { items: sent ?? [], order }, { key, schema: inner })
  }
  const names = [...new Set([...fields, ...lists])]
  const changed = new Map(names.map((name) => [name, mergeField(name)]))
  const kept = Object.entries(before).filter(([name]) => !changed.has(name))
  return Object.fromEntries([...kept, ...changed].filter(([, value]) => value !== undefined))
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : []
}

function mergeTexts(
  was: Json | undefined,
  { items, order, gone }: Record<'items' | 'order' | 'gone', readonly Json[]>,
): Json[] | undefined {
  const left = new Set(listOf(was))
  for (const text of gone) left.delete(text)
  for (const text of items) left.add(text)
  const places = new Map(order.map((text, i) => [text, i]))
  const placeOf = (text: Json): number => places.get(text) ?? places.size
  return [...left].toSorted((a, b) => placeOf(a) - placeOf(b))
}

function mergeItems(
  was: Json | undefined,
  { items, order }: { readonly items: readonly Json[]; readonly order: readonly Json[] },
  { key, schema }: { readonly key: string; readonly schema: StructuralSchema | undefined },
): Json[] {
  const nameOf = (item: Json): string => JSON.stringify(isObject(item) ? (item[key] ?? null) : item)
  const found = new Map((Array.isArray(was) ? was : []).map((item) => [nameOf(item), item]))
  for (const item of items) {
    const name = nameOf(item)
    if (isObject(item) && item['$patch'] === 'delete') found.delete(name)
    else found.set(name, mergeByKeys(found.get(name), item, schema?.items) ?? item)
  }
  const places = new Map(order.map((item, i) => [nameOf(item), i]))
  const placeOf = (item: Json): number => places.get(nameOf(item)) ?? places.size
  return [...found.values()].toSorted((a, b) => placeOf(a) - placeOf(b))
}
