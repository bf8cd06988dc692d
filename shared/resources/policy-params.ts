import { fitsSelector } from '../model/access/aggregation.ts'
import { parseApiVersion, type ApiObject } from '../model/object.ts'
import { objectText } from '../model/object-text.ts'
import { costOf, type AdmissionBudget } from '../model/policy/admission-budget.ts'
import type { ParamRef, PolicySpec } from '../model/policy/policy.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import { awaitConversions, convertAhead } from './await-conversion.ts'
import { asServed } from './as-served.ts'
import { keyIn } from './conditional-writes.ts'
import type { KindCatalog } from './kind-catalog.ts'
import { listPages } from './list-pages.ts'

interface Wanted {
  readonly paramKind: PolicySpec['paramKind'] | undefined
  readonly paramRef: ParamRef | undefined
  /** Of the request; empty for what is in none. */
  readonly namespace: string
}

interface Sources {
  /** Takes what it costs to look through them. */
  readonly budget?: AdmissionBudget
  readonly store: ObjectStore
  readonly catalog: Pick<KindCatalog, 'byKind' | 'inVersion'>
}

/** One undefined for a policy without parameters. */
type Params = { readonly found: readonly (ApiObject | undefined)[] } | { readonly fault: string }

/** So many objects are looked through for a selector. */
const paramsMax = 500
/** They may be large. */
const atOnce = 25

/** The parameters that a binding names, for each of which its policy is asked. In Kubernetes' words. */
export async function collectParams({ paramKind, paramRef, namespace }: Wanted, sources: Sources): Promise<Params> {
  if (paramKind === undefined || paramRef === undefined) return { found: [undefined] }
  const kind = await findKind(paramKind, sources.catalog)
  if (kind === undefined)
    return {
      fault: `failed to find resource referenced by paramKind: '${paramKind.apiVersion}, Kind=${paramKind.kind}'`,
    }
  if (!kind.namespaced && paramRef.namespace !== undefined)
    return { fault: 'paramRef.namespace must not be provided for a cluster-scoped `paramKind`' }
  const place = paramRef.namespace ?? namespace
  if (kind.namespaced && place === '')
    return { fault: 'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources' }
  const found = await findParams(kind, paramRef, { ...sources, namespace: place })
  if (found === undefined)
    return { fault: `paramRef.selector: a policy looks through ${paramsMax} objects at most, and there are more` }
  if (found.length > 0 || paramRef.parameterNotFoundAction !== 'Deny') return { found }
  return { fault: 'no params found for policy binding with `Deny` parameterNotFoundAction' }
}

async function findKind(
  { apiVersion, kind }: NonNullable<PolicySpec['paramKind']>,
  catalog: Sources['catalog'],
): Promise<ServedKind | undefined> {
  const { group, version } = parseApiVersion(apiVersion)
  const found = await catalog.byKind(group, kind)
  return found === undefined || found.version === version ? found : catalog.inVersion(found, version)
}

/** Undefined if there are too many to look through. */
async function findParams(
  kind: ServedKind,
  { name, selector }: ParamRef,
  { namespace, store, budget }: Pick<Sources, 'store' | 'budget'> & { readonly namespace: string },
): Promise<readonly ApiObject[] | undefined> {
  if (name !== undefined) {
    const stored = await store.get(keyIn(kind, { namespace, name }))
    return stored === undefined ? [] : [(await awaitConversions(kind, () => asServed(kind, stored))).object]
  }
  const within = kind.namespaced ? { namespace } : {}
  const all: ApiObject[] = []
  for await (const { items } of listPages(store, { group: kind.group, kind: kind.kind, ...within }, atOnce)) {
    budget?.spend(
      costOf(
        items.reduce((sum, { object }) => sum + objectText(object).length, 0),
        'made',
      ),
    )
    await convertAhead(kind, items)
    all.push(...items.map((stored) => asServed(kind, stored).object))
    if (all.length > paramsMax) return undefined
  }
  return all.filter(({ metadata }) => fitsSelector(selector ?? {}, metadata.labels ?? {}))
}
