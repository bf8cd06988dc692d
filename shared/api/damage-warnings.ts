import { keyText, type ObjectKey } from '../model/object-key.ts'
import { storedAs } from '../model/served-kind.ts'
import type { HttpResponse } from '../ports/http-handler.ts'
import type { ObjectList } from '../resources/resources.ts'
import type { ApiServices } from './call.ts'
import { withWarnings } from './reply.ts'
import type { SelectedOptions } from './select-objects.ts'

/** The answer with a warning for each object that is left out of it because it cannot be read. */
export function withDamageWarnings(
  response: HttpResponse,
  { damaged = [] }: Pick<ObjectList, 'damaged'>,
): HttpResponse {
  return withWarnings(
    response,
    damaged.map((key) => `${keyText(key)} is damaged and left out: it cannot be read`),
  )
}

/**
 * What the head of an answer warns of that is sent while it is read: what its first page says, and what is known to be
 * damaged of the objects behind it.
 */
export function foreseeDamage(
  { damaged = [] }: Pick<ObjectList, 'damaged'>,
  { kind, selection: { namespace } }: Pick<SelectedOptions, 'kind' | 'selection'>,
  { damaged: knownDamage }: Pick<ApiServices, 'damaged'>,
): Pick<ObjectList, 'damaged'> {
  const named = new Set(damaged.map(keyText))
  const stored = storedAs(kind)
  const isBehind = (key: ObjectKey): boolean =>
    key.group === stored.group && key.kind === stored.kind && (namespace === '' || key.namespace === namespace)
  const behind = (knownDamage?.() ?? []).filter((key) => isBehind(key) && !named.has(keyText(key)))
  return { damaged: [...damaged, ...behind] }
}
