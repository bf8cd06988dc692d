import { keyText } from '../model/object-key.ts'
import type { HttpResponse } from '../ports/http-handler.ts'
import type { ObjectList } from '../resources/resources.ts'
import { withWarnings } from './reply.ts'

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
