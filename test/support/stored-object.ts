import type { ApiObject, ObjectMeta } from '../../shared/model/object.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'

export const widgetKind = { group: 'example.com', kind: 'Widget' } as const

/** A small object as the store is given it, under a uid that its place and name make its own. */
export function storedWidget(name: string, metadata: Partial<ObjectMeta> = {}): StoredObject {
  const object: ApiObject = {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${metadata.namespace ?? 'default'}-${name}`,
      resourceVersion: '',
      generation: 1,
      creationTimestamp: '2026-11-21T00:00:00Z',
      ...metadata,
    },
    spec: { size: 1 },
  }
  return { object, engine: {} }
}

export function withMetadata(stored: StoredObject, metadata: Partial<ObjectMeta>): StoredObject {
  return { ...stored, object: { ...stored.object, metadata: { ...stored.object.metadata, ...metadata } } }
}

export function withSpec(stored: StoredObject, spec: NonNullable<ApiObject['spec']>): StoredObject {
  return { ...stored, object: { ...stored.object, spec } }
}

export function versionOf(stored: StoredObject | undefined): number {
  return Number(stored?.object.metadata.resourceVersion)
}
