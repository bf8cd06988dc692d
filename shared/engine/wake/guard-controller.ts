import type { Logger } from '../../ports/logger.ts'
import type { Controller, Watched } from '../../reconciler/controller.ts'

/**
 * The controller with the functions of its watches made safe, since the relay runs them on behalf of all: one that
 * throws is told of and holds up nobody. A predicate that throws lets the change pass; an object whose references
 * cannot be told has none.
 */
export function guardController(controller: Controller, logger: Logger): Controller {
  const safely =
    <Given, Result>(what: string, work: (given: Given) => Result, otherwise: Result) =>
    (given: Given): Result => {
      try {
        return work(given)
      } catch (error) {
        logger.error(`${what} threw`, { controller: controller.name, error: String(error) })
        return otherwise
      }
    }
  const guardWatch = <Watch extends Watched>(watch: Watch): Watch => ({
    ...watch,
    when: safely('a predicate', watch.when, true),
  })
  return {
    ...controller,
    when: safely('a predicate', controller.when, true),
    owns: controller.owns.map(guardWatch),
    references: controller.references.map((watch) => ({
      ...guardWatch(watch),
      targets: safely('a reference', watch.targets, []),
    })),
    maps: controller.maps.map((watch) => ({
      ...guardWatch(watch),
      primaries: safely('a map function', watch.primaries, []),
    })),
  }
}
