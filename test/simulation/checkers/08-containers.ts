import type { ApiObject } from '../../../shared/index.ts'
import { apiKindsMaxAgeMs } from '../../../shared/runtime/aws/services.ts'
import { parseTimestamp } from '../../../shared/model/time.ts'
import { homeOf, textOf } from '../addresses.ts'
import type { TableWrite } from '../plane.ts'
import type { World } from '../world.ts'
import { isClear, isFenceTried, promptMs, type Checker, type Scene } from './checker.ts'

/**
 * Promise 8: a namespace goes after all that is in it, and a definition after all objects of its kind; in the end
 * nothing is left whose namespace or definition is gone.
 */
export function createContainers(scene: Scene): Checker {
  const { world, scenario, table, report } = scene
  const isHomeless = (object: ApiObject): boolean => {
    const home = homeOf(object)
    return home !== undefined && !table.items.has(home)
  }

  /** When a namespace or a definition was last told to go. */
  const goingMs = new Map<string, number>()
  const knownMs = promptMs(scenario) + apiKindsMaxAgeMs
  /** Between the look at a namespace and the write there are two calls at most, each of which takes its time twice. */
  const writtenMs = 2_000 + 4 * scenario.climate.latencyMsMax

  /** Nothing new is taken by what is going, once it is known to go. */
  const lookAtNew = (object: ApiObject): void => {
    const home = homeOf(object) ?? ''
    const isGoing = table.items.get(home)?.object.metadata.deletionTimestamp !== undefined
    const sinceMs = world.nowMs() - (goingMs.get(home) ?? Infinity)
    if (
      isGoing &&
      isClear(scenario) &&
      object.kind !== 'Event' &&
      sinceMs > (object.kind === 'Tool' ? knownMs : writtenMs)
    )
      report(`promise 8, containers: ${object.kind} ${object.metadata.name} is made in what is going for ${sinceMs} ms`)
  }

  const lookAtRemoved = createOrder(scene)

  return {
    write: (write) => {
      const { type, before, after } = write
      const { object } = after
      const { name, deletionTimestamp } = object.metadata
      if (type === 'added') lookAtNew(object)
      if (type === 'removed') lookAtRemoved(write)
      const isTold = deletionTimestamp !== undefined && before?.object.metadata.deletionTimestamp === undefined
      if (isTold && containers.includes(object.kind))
        for (const kind of ['Namespace', 'Definition'] as const) goingMs.set(textOf(kind, name), world.nowMs())
      const container = object.kind === 'Namespace' ? 'Namespace' : 'Definition'
      if (type !== 'removed' || !containers.includes(object.kind)) return
      const home = textOf(container, object.metadata.name)
      for (const { object: held } of table.items.values()) {
        // What came while it went is removed behind it.
        if (homeOf(held) === home && !isNew(held, world))
          report(
            `promise 8, containers: ${object.kind} ${object.metadata.name} goes before ${held.kind} ${held.metadata.name}`,
          )
      }
    },
    unmet: () =>
      [...table.items.values()].flatMap(({ object }) =>
        isHomeless(object)
          ? [`promise 8, containers: ${object.kind} ${object.metadata.name} is left without its ${homeKindOf(object)}`]
          : [],
      ),
  }
}

/**
 * What a clean-up may need goes after the custom objects of its namespace, and children with their owner. One that came
 * meanwhile may be left, and who acts after the end of his turn may have looked long ago. On one machine users and the
 * engine are one process.
 */
function createOrder({ world, scenario, table, report }: Scene): (write: TableWrite) => void {
  return ({ before, after: { object }, by }) => {
    const home = homeOf(object) ?? ''
    const isThere = table.items.has(home) && table.items.get(home)?.object.metadata.deletionTimestamp === undefined
    // What a user deletes in the foreground is marked first, and the collector removes it.
    const isMarked = before?.object.metadata.deletionTimestamp !== undefined
    const isByUser = scenario.local !== undefined || by.name.startsWith('api') || isMarked
    const isChild = object.metadata.ownerReferences !== undefined
    if (object.kind !== 'ConfigMap' || isChild || isThere || isByUser || isFenceTried(scenario)) return
    for (const { object: held } of table.items.values())
      if (held.kind === 'Gadget' && homeOf(held) === home && !isNew(held, world))
        report(`promise 8, containers: ConfigMap ${object.metadata.name} goes before Gadget ${held.metadata.name}`)
  }
}

function isNew({ metadata: { creationTimestamp } }: ApiObject, world: Pick<World, 'nowMs'>): boolean {
  return world.nowMs() - (parseTimestamp(creationTimestamp) ?? 0) <= newMs
}

const containers: readonly string[] = ['Namespace', 'CustomResourceDefinition']
const newMs = 60_000

function homeKindOf({ kind }: ApiObject): string {
  return kind === 'Tool' ? 'definition' : 'namespace'
}
