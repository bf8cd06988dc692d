import type { HttpResponse } from '../ports/http-handler.ts'
import type { Written } from '../resources/resources.ts'
import { findIneffectiveFields } from './ineffective-fields.ts'
import { jsonText, withWarnings } from './reply.ts'
import type { View } from './view.ts'

/** What a write left, with what its author should know: fields that stood twice, warnings, fields that do nothing. */
export function replyWritten(
  status: 200 | 201,
  { view, twice }: { readonly view: View; readonly twice: readonly string[] },
  { stored, warnings }: Written,
): HttpResponse {
  const ineffective = findIneffectiveFields(stored.object)
  return withWarnings(jsonText(status, view.one(stored)), [...twice, ...warnings, ...ineffective])
}
