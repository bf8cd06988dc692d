import type { ApiObject } from '../../../shared/index.ts'
import { apiKindsMaxAgeMs } from '../../../shared/runtime/aws/services.ts'
import { parseTimestamp } from '../../../shared/model/time.ts'
import { homeOf, textOf } from '../addresses.ts'
import { isClear, promptMs, type Checker, type Scene } from './checker.ts'

/**
 * Promise 8: a namespace goes after all that is in it, and a definition after all objects of its kind; in the end
 * nothing is left whose namespace or definition is gone.
 */
export function createContainers({ world, scenario, table, report }: Scene): Checker {
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

  return {
    write: ({ type, before, after: { object } }) => {
      const { name, deletionTimestamp } = object.metadata
      if (type === 'added') lookAtNew(object)
      const isTold = deletionTimestamp !== undefined && before?.object.metadata.deletionTimestamp === undefined
      if (isTold && containers.includes(object.kind))
        for (const kind of ['Namespace', 'Definition'] as const) goingMs.set(textOf(kind, name), world.nowMs())
      const container = object.kind === 'Namespace' ? 'Namespace' : 'Definition'
      if (type !== 'removed' || !containers.includes(object.kind)) return
      const home = textOf(container, object.metadata.name)
      for (const { object: held } of table.items.values()) {
        const ageMs = world.nowMs() - (parseTimestamp(held.metadata.creationTimestamp) ?? 0)
        // What came while it went is removed behind it.
        if (homeOf(held) === home && ageMs > newMs)
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

const containers: readonly string[] = ['Namespace', 'CustomResourceDefinition']
const newMs = 60_000

function homeKindOf({ kind }: ApiObject): string {
  return kind === 'Tool' ? 'definition' : 'namespace'
}
