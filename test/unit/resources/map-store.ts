import { OperatingError } from '../../../shared/model/errors.ts'
import { keyOf, keyText } from '../../../shared/model/object-key.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import type { ObjectStore } from '../../../shared/ports/object-store.ts'

/** A store in memory, for one test. */
export interface MapStore extends ObjectStore {
  /** What it was asked for: `get K n/a`, `create K n/a`, `replace K n/a spec`, `list K`. */
  readonly asked: string[]
  /** Puts an object there, whatever is there already. */
  put(object: ApiObject): StoredObject
  /** What is asked for, without reads. */
  writes(): readonly string[]
}

/** `before` is called ahead of each request, and makes it fail by throwing. */
export function createMapStore(before: (request: string) => unknown = () => {}): MapStore {
  const objects = new Map<string, StoredObject>()
  const asked: string[] = []
  let version = 0

  const note = (request: string): unknown => {
    asked.push(request)
    return before(request)
  }
  const save = (stored: StoredObject): StoredObject => {
    const metadata = { ...stored.object.metadata, resourceVersion: String(++version) }
    const saved = { ...stored, object: { ...stored.object, metadata } }
    objects.set(keyText(keyOf(saved.object)), saved)
    return saved
  }
  const requireSame = ({ object }: StoredObject): void => {
    const live = objects.get(keyText(keyOf(object)))?.object.metadata
    if (live === undefined) throw new OperatingError('NOT_FOUND', 'the store has none')
    const { uid, resourceVersion } = object.metadata
    if (live.uid !== uid || live.resourceVersion !== resourceVersion)
      throw new OperatingError('VERSION_CONFLICT', 'the store has another')
  }

  return {
    asked,
    put: (object) => save({ object, engine: {} }),
    writes: () => asked.filter((request) => !/^(get|list) /.test(request)),

    get: (key) => {
      note(`get ${key.kind} ${placeText(key)}`)
      return objects.get(keyText(key))
    },

    list: async ({ group, kind, namespace, limit = Infinity, after }) => {
      await note(`list ${kind}`)
      const isWanted = ({ object }: StoredObject): boolean => {
        const key = keyOf(object)
        return (
          key.group === group &&
          key.kind === kind &&
          (namespace ?? key.namespace) === key.namespace &&
          (after === undefined || byPlace(key, after) > 0)
        )
      }
      const items = [...objects.values()].filter(isWanted).toSorted((a, b) => byPlace(keyOf(a.object), keyOf(b.object)))
      return { items: items.slice(0, limit), resourceVersion: String(version), more: items.length > limit }
    },

    create: async (stored) => {
      const key = keyOf(stored.object)
      await note(`create ${key.kind} ${placeText(key)}`)
      if (objects.has(keyText(key))) throw new OperatingError('ALREADY_EXISTS', 'the store has one')
      return save(stored)
    },

    replace: async (stored, touched) => {
      const key = keyOf(stored.object)
      await note(`replace ${key.kind} ${placeText(key)} ${touched.join()}`)
      requireSame(stored)
      return save(stored)
    },

    remove: async (stored) => {
      const key = keyOf(stored.object)
      await note(`remove ${key.kind} ${placeText(key)}`)
      requireSame(stored)
      const removed = save(stored)
      objects.delete(keyText(key))
      return removed
    },
  }
}

interface Place {
  readonly namespace: string
  readonly name: string
}

function byPlace(a: Place, b: Place): number {
  return (
    Buffer.compare(Buffer.from(a.namespace), Buffer.from(b.namespace)) ||
    Buffer.compare(Buffer.from(a.name), Buffer.from(b.name))
  )
}

function placeText({ namespace, name }: Place): string {
  return namespace === '' ? name : `${namespace}/${name}`
}
