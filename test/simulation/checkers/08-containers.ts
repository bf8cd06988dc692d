import type { ApiObject } from '../../../shared/index.ts'
import { parseTimestamp } from '../../../shared/model/time.ts'
import { homeOf, textOf } from '../users.ts'
import type { Checker, Scene } from './checker.ts'

/**
 * Promise 8: a namespace goes after all that is in it, and a definition after all objects of its kind; in the end
 * nothing is left whose namespace or definition is gone.
 */
export function createContainers({ world, table, report }: Scene): Checker {
  const isHomeless = (object: ApiObject): boolean => {
    const home = homeOf(object)
    return home !== undefined && !table.items.has(home)
  }

  return {
    write: ({ type, after: { object } }) => {
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
