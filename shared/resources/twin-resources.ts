import type { ServedKind, Twin } from '../model/served-kind.ts'
import type { StoredObject } from '../model/stored-object.ts'
import { operationToTwin, toTwin } from '../model/twin.ts'
import { admitBody, checkType } from './admission.ts'
import { asServed } from './as-served.ts'
import type { ObjectList, Patch, Resources, Written } from './resources.ts'

/** The verbs over kinds that are another's twin: what is asked of them is asked of the other. */
export function withTwins(verbs: Resources): Resources {
  return {
    get: async (kind, at) => {
      const { twin } = kind
      return twin === undefined ? verbs.get(kind, at) : asServed(kind, await verbs.get(twin.of, at))
    },

    list: async (kind, asked = {}) => {
      const { twin } = kind
      if (twin === undefined) return verbs.list(kind, asked)
      const { selector, ...page } = asked
      const selected = selector && { selector: (object: Shown) => selector(toTwin(object, twin, kind)) }
      return showAll(kind, await verbs.list(twin.of, { ...page, ...selected }))
    },

    create: async (kind, given, how) => {
      const { twin } = kind
      if (twin === undefined) return verbs.create(kind, given, how)
      const { body, warnings } = admitBody(kind, given, how)
      return showWritten(kind, await verbs.create(twin.of, toTwin(body, twin, twin.of), how), warnings)
    },

    update: async (kind, given, how) => {
      const { twin } = kind
      if (twin === undefined) return verbs.update(kind, given, how)
      const { body, warnings } = admitBody(kind, given, how)
      return showWritten(kind, await verbs.update(twin.of, toTwin(body, twin, twin.of), how), warnings)
    },

    patch: (kind, at, given, how) => {
      const patchTwin = async (twin: Twin): Promise<Written> =>
        showWritten(kind, await verbs.patch(twin.of, at, patchOfTwin(kind, twin, given), how), [])
      return kind.twin === undefined ? verbs.patch(kind, at, given, how) : patchTwin(kind.twin)
    },

    delete: async (kind, at, asked) => {
      const { twin } = kind
      if (twin === undefined) return verbs.delete(kind, at, asked)
      const deleted = await verbs.delete(twin.of, at, asked)
      return { ...deleted, stored: asServed(kind, deleted.stored) }
    },
  }
}

type Shown = StoredObject['object']

function showAll(kind: ServedKind, list: ObjectList): ObjectList {
  return { ...list, items: list.items.map((stored) => asServed(kind, stored)) }
}

function showWritten(kind: ServedKind, written: Written, warnings: readonly string[]): Written {
  return {
    ...written,
    stored: asServed(kind, written.stored),
    warnings: [...warnings, ...written.warnings],
    ...(written.before === undefined ? {} : { before: asServed(kind, written.before) }),
  }
}

function patchOfTwin(kind: ServedKind, twin: Twin, patch: Patch): Patch {
  if (patch.type === 'json')
    return { ...patch, body: patch.body.map((operation) => operationToTwin(operation, twin, twin.of)) }
  checkType(kind, patch.body)
  return { ...patch, body: toTwin(patch.body, twin, twin.of) }
}
