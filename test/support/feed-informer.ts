import { hasCode } from '../../shared/model/errors.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'
import type { ChangeFeed } from '../../shared/ports/change-feed.ts'
import type { ObjectStore } from '../../shared/ports/object-store.ts'
import { Gone, type Held, type InformerEvent, type InformerSource } from './informer.ts'

const types = { added: 'ADDED', modified: 'MODIFIED', removed: 'DELETED' } as const

/** An informer's source on the ports, with nothing between. */
export function feedSource(
  { store, feed }: { readonly store: ObjectStore; readonly feed: ChangeFeed },
  kind: { readonly group: string; readonly kind: string },
): InformerSource {
  async function* watch(version: string, signal: AbortSignal): AsyncGenerator<InformerEvent> {
    try {
      for await (const { changes } of feed.follow({ after: version, of: kind, signal }))
        for (const { type, stored } of changes) yield { type: types[type], object: heldOf(stored) }
    } catch (error) {
      throw hasCode(error, 'EXPIRED') ? new Gone() : error
    }
  }
  return {
    watch,
    list: async () => {
      const { items, resourceVersion } = await store.list(kind)
      return { items: items.map(heldOf), version: resourceVersion }
    },
  }
}

export function heldOf({ object: { metadata } }: StoredObject): Held {
  return { name: metadata.name, uid: metadata.uid, version: metadata.resourceVersion }
}
