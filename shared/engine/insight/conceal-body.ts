import { isObject, type JsonObject } from '../../model/json.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import type { SecretValues } from './secret-values.ts'

/**
 * What a run writes to an object, with the parts that are there to be read by people told without values of Secrets: a
 * status, and an event. The rest is what the object is to be, and may need a value.
 */
export function concealBody(
  { group, kind, isConfidential }: Pick<ServedKind, 'group' | 'kind' | 'isConfidential'>,
  body: JsonObject,
  secrets: SecretValues | undefined,
): JsonObject {
  if (secrets === undefined || isConfidential === true) return body
  const { status } = body
  const told = isObject(status) ? { ...body, status: secrets.maskJson(status) } : body
  return kind === 'Event' && eventGroups.has(group) ? { ...told, ...concealEvent(body, secrets) } : told
}

const eventGroups: ReadonlySet<string> = new Set(['', 'events.k8s.io'])

function concealEvent({ reason, message, note, action }: JsonObject, secrets: SecretValues): JsonObject {
  const texts = Object.entries({ reason, message, note, action }).filter(([, text]) => text !== undefined)
  return secrets.maskJson(Object.fromEntries(texts))
}
