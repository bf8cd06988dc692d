import type { ConditionPatch } from '../../model/conditions.ts'
import { conditionsOf, patchConditions } from '../../model/conditions.ts'
import type { JsonObject } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'
import { storedAs, type ServedKind } from '../../model/served-kind.ts'
import { parseTimestamp } from '../../model/time.ts'
import { namespaceKind } from '../../resources/built-in-kinds.ts'
import type { Resources } from '../../resources/resources.ts'
import { namespaceFinalizer } from '../../resources/strategies.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { again, done } from '../../reconciler/outcome.ts'
import { deleteAll, type Remaining } from './delete-all.ts'
import { lifecycle, type LifecycleOptions } from './lifecycles.ts'

/**
 * A namespace goes once nothing is in it, and says until then what is left. Its content stays for five seconds, as it
 * does in Kubernetes: who deletes a namespace together with what is in it, as `kubectl delete -f` does, finds it there.
 * Then custom objects go, and only after them what their clean-ups may need: Secrets, ConfigMaps and the like.
 */
export function namespaceController({ resources, catalog }: LifecycleOptions): Controller {
  return lifecycle(namespaceKind, namespaceFinalizer, async (namespace, ctx) => {
    const kinds = (await catalog.listStored()).filter(({ namespaced }) => namespaced)
    const graceMs = graceEndMs(namespace) - ctx.now()
    if (graceMs > 0) return (await isEmpty(resources, kinds, namespace)) ? done() : again(`${Math.ceil(graceMs)}ms`)
    const left = await removeContent(resources, kinds, namespace.metadata.name)
    if (left.length === 0) return done()
    await tell(resources, namespace, { left, nowMs: ctx.now() })
    return again('1s')
  })
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
  const first = await Promise.all(kinds.map((kind) => resources.list(kind, { namespace, limit: 1 })))
  return first.every(({ items, damaged = [] }) => items.length + damaged.length === 0)
}

/** What is left of one kind. */
export interface KindLeft extends Remaining {
  readonly kind: ServedKind
}

async function removeContent(
  resources: Resources,
  kinds: readonly ServedKind[],
  namespace: string,
): Promise<readonly KindLeft[]> {
  const remove = async (kind: ServedKind): Promise<KindLeft> => ({
    kind,
    ...(await deleteAll(resources, kind, namespace)),
  })
  const stages = [kinds.filter(({ builtIn }) => !builtIn), kinds.filter(({ builtIn }) => builtIn)]
  for (const stage of stages) {
    const left = (await Promise.all(stage.map(remove))).filter(({ count }) => count > 0)
    if (left.length > 0) return left
  }
  return []
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
