import { apiVersionOf, type ApiObject } from '../../model/object.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import type { View } from '../view.ts'
import type { EventType } from './membership.ts'

/** One event of a watch, of an object that is text already. */
export function eventLine(type: EventType | 'BOOKMARK' | 'ERROR', object: string): string {
  return `{"type":"${type}","object":${object}}\n`
}

export interface Bookmark {
  readonly kind: ServedKind
  readonly view: View
  readonly resourceVersion: string
  readonly isFirst: boolean
  readonly annotations: Readonly<Record<string, string>>
}

/** An object of the kind that says nothing but a resourceVersion. */
export function bookmarkLine({ kind, view, resourceVersion, isFirst, annotations }: Bookmark): string {
  const metadata = { resourceVersion, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) }
  const object = {
    apiVersion: apiVersionOf(kind.group, kind.version),
    kind: kind.kind,
    metadata,
  } as unknown as ApiObject
  return eventLine('BOOKMARK', view.event({ object, engine: {} }, isFirst))
}
