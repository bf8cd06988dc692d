import type { Eventual } from '../model/eventual.ts'
import { objectText } from '../model/object-text.ts'
import { costOf, type AdmissionBudget } from '../model/policy/admission-budget.ts'
import { apiVersionOf, type ApiObject } from '../model/object.ts'
import type { RuledForm } from '../model/policy/matches.ts'
import type { ServedKind } from '../model/served-kind.ts'
import { toTwin } from '../model/twin.ts'
import { withDefaults } from './admission.ts'
import { awaitConversions } from './await-conversion.ts'
import type { KindCatalog } from './kind-catalog.ts'
import type { Reviewed } from './policy-review.ts'

/**
 * A request with its objects in the group and the version that rules speak of: the same if they are in those. Throws
 * CONVERSION_FAILED.
 */
export async function reviewInVersion<Asked extends Reviewed>(
  asked: Asked,
  { group, version }: RuledForm,
  catalog: Pick<KindCatalog, 'inVersion'>,
): Promise<Asked> {
  // What is shown by a path of its own is the same in all versions.
  if (asked.resource !== undefined) return asked
  const isThere = asked.kind.version === version && asked.kind.group === group
  const kind = isThere ? asked.kind : await catalog.inVersion({ ...asked.kind, group }, version)
  if (kind === undefined) return asked
  const { budget } = asked
  const [object, old] = [await convertTo(kind, asked.object, budget), await convertTo(kind, asked.old, budget)]
  if (object === asked.object && old === asked.old && kind === asked.kind) return asked
  const requested = asked.requested ?? asked.kind
  return { ...asked, kind, requested, ...(object && { object }), ...(old && { old }) }
}

/** What was made of a request as another kind shows it, as the request's object is. Throws CONVERSION_FAILED. */
export function inVersionOf(asked: Reviewed, made: ApiObject, { twin }: ServedKind): Eventual<ApiObject> {
  const { kind, object = made } = asked
  if (made.apiVersion === object.apiVersion) return made
  if (twin !== undefined) return toTwin(made, twin, kind)
  return kind.conversion === undefined
    ? { ...made, apiVersion: object.apiVersion }
    : convertTo(kind, made, asked.budget)
}

/** An object in the version of a kind, with its defaults; the same if it is in that. Throws CONVERSION_FAILED. */
function convertTo<Given extends ApiObject | undefined>(
  kind: ServedKind,
  object: Given,
  budget: AdmissionBudget | undefined,
): Eventual<Given> {
  const apiVersion = apiVersionOf(kind.group, kind.version)
  if (object === undefined || object.apiVersion === apiVersion) return object
  const { conversion, twin } = kind
  if (twin !== undefined) return toTwin(object, twin, kind) as Given
  if (conversion === undefined) return { ...object, apiVersion }
  budget?.spend(costOf(objectText(object).length, 'made'))
  return awaitConversions(kind, () => withDefaults(kind, conversion.convert(object, kind.version)) as Given)
}
