import type { HttpResponse } from '../ports/http-handler.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { Written } from '../resources/resources.ts'
import { warnOfFinalizers } from './finalizer-warnings.ts'
import { findIneffectiveFields } from './ineffective-fields.ts'
import { jsonText, withWarnings } from './reply.ts'
import type { View } from './view.ts'

/** What a write left, with what its author should know: fields that stood twice, warnings, fields that do nothing. */
export function replyWritten(
  status: 200 | 201,
  { kind, view, twice }: { readonly kind: ServedKind; readonly view: View; readonly twice: readonly string[] },
  written: Written,
): HttpResponse {
  const { stored, warnings } = written
  const ineffective = findIneffectiveFields(stored.object)
  const all = [...twice, ...warnings, ...warnOfFinalizers(kind, written), ...ineffective]
  return withWarnings(jsonText(status, view.one(stored)), all)
}
