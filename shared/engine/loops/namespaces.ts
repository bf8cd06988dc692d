import { clockErrorMsMax } from '../../model/clock-error.ts'
import type { ConditionPatch } from '../../model/conditions.ts'
import { conditionsOf, patchConditions } from '../../model/conditions.ts'
import type { JsonObject } from '../../model/json.ts'
import { namespaceKeyOf } from '../../model/object-key.ts'
import type { ApiObject } from '../../model/object.ts'
import { storedAs, type ServedKind } from '../../model/served-kind.ts'
import { parseTimestamp } from '../../model/time.ts'
import { absentIfNotFound, hasCode } from '../../model/errors.ts'
import { serviceAccountKind } from '../../resources/access-kinds.ts'
import { namespaceKind } from '../../resources/built-in-kinds.ts'
import { terminatingReason } from '../../resources/refusals.ts'
import { isOf } from '../../reconciler/kind.ts'
import { freshKindsMs } from '../../resources/kind-catalog.ts'
import type { Route } from '../wake/routes.ts'
import type { Resources } from '../../resources/resources.ts'
import { namespaceFinalizer } from '../../resources/strategies.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { again, done } from '../../reconciler/outcome.ts'
import { deleteContent, doomedWith, type KindLeft } from './delete-all.ts'
import { lifecycle, lookAgainMs, type LifecycleOptions } from './lifecycles.ts'

/**
 * A namespace goes once nothing is in it, and says until then what is left. Its content stays for five seconds, as it
 * does in Kubernetes: who deletes a namespace together with what is in it, as `kubectl delete -f` does, finds it there.
 * Then it goes in the order of deleteContent. One in which there is only the ServiceAccount that came with it counts as
 * empty.
 */
export function namespaceController({ resources, catalog }: LifecycleOptions): Controller {
  const cleanup: Controller['reconcile'] = async (namespace, ctx) => {
    const kinds = (await catalog.listStored(freshKindsMs)).filter(({ namespaced }) => namespaced)
    const untilMs = graceEndMs(namespace) - ctx.now()
    // The deletion time may come from a clock that was ahead. Then it does not tell how much of the grace is left.
    const leftMs = untilMs > graceMs + clockErrorMsMax ? 0 : Math.min(graceMs, untilMs)
    if (leftMs > 0 && !(await isEmpty(resources, kinds, namespace))) return again(`${Math.ceil(leftMs)}ms`)
    const isDoomed = doomedWith(resources, namespaceKind, namespace)
    const left = await deleteContent(resources, kinds, { namespace: namespace.metadata.name, isDoomed })
    if (left.length === 0) return done()
    await tell(resources, namespace, { left, nowMs: ctx.now() })
    return again(lookAgainMs(-untilMs))
  }
  const reconcile: Controller['reconcile'] = async ({ metadata }) => {
    await createAccount(resources, metadata.name)
    return done()
  }
  return { ...lifecycle(namespaceKind, namespaceFinalizer, cleanup), reconcile }
}

/** The ServiceAccount of programs that name none: there is one in each namespace. */
const accountName = 'default'

/**
 * Nothing is created in a namespace that is being deleted, and that needs none any more. An account that is damaged is
 * there until somebody deletes it.
 */
export async function createAccount(resources: Resources, namespace: string): Promise<void> {
  const at = { namespace, name: accountName }
  if (await isThere(resources, at)) return
  try {
    await resources.create(serviceAccountKind, { metadata: at }, { manager: 'setpoint' })
  } catch (error) {
    if (!hasCode(error, 'ALREADY_EXISTS', 'NOT_FOUND') && !isEndOfNamespace(error)) throw error
  }
}

async function isThere(
  resources: Resources,
  at: { readonly namespace: string; readonly name: string },
): Promise<boolean> {
  try {
    return (await absentIfNotFound(resources.get(serviceAccountKind, at))) !== undefined
  } catch (error) {
    if (hasCode(error, 'DAMAGED')) return true
    throw error
  }
}

function isEndOfNamespace(error: unknown): boolean {
  return (
    hasCode(error, 'FORBIDDEN') && error.details.causes?.some(({ reason }) => reason === terminatingReason) === true
  )
}

function isAccount({ kind, metadata }: ApiObject): boolean {
  return kind === serviceAccountKind.kind && metadata.name === accountName
}

/** A namespace whose account was deleted makes it again. */
export const accountRoute: Route = {
  name: `${namespaceKind.singular}-lifecycle`,
  debounceMs: 0,
  targets: ({ type, stored: { object } }) => {
    if (type !== 'removed' || !isAccount(object) || !isOf(object, serviceAccountKind)) return []
    const key = namespaceKeyOf(object.metadata.namespace ?? '')
    return [{ key, lane: 'background', reason: 'its ServiceAccount is gone' }]
  },
}

const graceMs = 5_000

function graceEndMs({ metadata: { deletionTimestamp = '' } }: ApiObject): number {
  return (parseTimestamp(deletionTimestamp) ?? 0) + graceMs
}

async function isEmpty(
  resources: Resources,
  kinds: readonly ServedKind[],
  { metadata: { name: namespace } }: ApiObject,
): Promise<boolean> {
  const first = await Promise.all(kinds.map((kind) => resources.list(kind, { namespace, limit: 2 })))
  return first.every(
    ({ items, damaged = [] }) => items.every(({ object }) => isAccount(object)) && damaged.length === 0,
  )
}

async function tell(
  resources: Resources,
  namespace: ApiObject,
  { left, nowMs }: { readonly left: readonly KindLeft[]; readonly nowMs: number },
): Promise<void> {
  const at = { nowMs, generation: namespace.metadata.generation }
  const conditions = patchConditions(conditionsOf(namespace), contentConditions(left), at)
  await resources.patch(
    namespaceKind,
    namespace.metadata,
    { type: 'merge', body: { status: { conditions } } as unknown as JsonObject },
    { manager: 'namespace-controller', subresource: 'status' },
  )
}

/** What Kubernetes says of a namespace that is being deleted, of what is left in it and of who holds that. */
export function contentConditions(left: readonly KindLeft[]): Readonly<Record<string, ConditionPatch>> {
  const counts = left.map(({ kind, count }) => `${resourceName(kind)} has ${count} resource instances`)
  const holders = new Map<string, number>()
  for (const { finalizers } of left)
    for (const [name, count] of finalizers) holders.set(name, (holders.get(name) ?? 0) + count)
  const held = [...holders].map(([name, count]) => `${name} in ${count} resource instances`)
  return {
    NamespaceDeletionDiscoveryFailure: no('ResourcesDiscovered', 'All resources successfully discovered'),
    NamespaceDeletionGroupVersionParsingFailure: no('ParsedGroupVersions', 'All legacy kube types successfully parsed'),
    NamespaceDeletionContentFailure: no(
      'ContentDeleted',
      'All content successfully deleted, may be waiting on finalization',
    ),
    NamespaceContentRemaining:
      counts.length === 0
        ? no('ContentRemoved', 'All content successfully removed')
        : yes('SomeResourcesRemain', `Some resources are remaining: ${some(counts)}`),
    NamespaceFinalizersRemaining:
      held.length === 0
        ? no('ContentHasNoFinalizers', 'All content-preserving finalizers finished')
        : yes('SomeFinalizersRemain', `Some content in the namespace has finalizers remaining: ${some(held)}`),
  }
}

const namedMax = 20

function some(texts: readonly string[]): string {
  const rest = texts.length - namedMax
  return [...texts.toSorted().slice(0, namedMax), ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ')
}

function yes(reason: string, message: string): ConditionPatch {
  return { status: 'True', reason, message }
}

function no(reason: string, message: string): ConditionPatch {
  return { status: 'False', reason, message }
}

function resourceName(kind: ServedKind): string {
  const { plural, group } = storedAs(kind)
  return `${plural}.${group}`
}
