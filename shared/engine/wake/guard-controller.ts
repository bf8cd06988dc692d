import type { Logger } from '../../ports/logger.ts'
import type { ApiObject } from '../../model/object.ts'
import type { Controller, Watched } from '../../reconciler/controller.ts'
import { Secret } from '../../reconciler/built-in-kinds.ts'
import { isOf } from '../../reconciler/kind.ts'
import { SecretValues } from '../insight/secret-values.ts'

/**
 * The controller with the functions of its watches made safe, since the relay runs them on behalf of all: one that
 * throws is told of and holds up nobody. A predicate that throws lets the change pass; an object whose references
 * cannot be told has none.
 */
export function guardController(controller: Controller, logger: Logger): Controller {
  const safely =
    <Given extends Looked, Result>(what: string, work: (given: Given) => Result, otherwise: Result) =>
    (given: Given): Result => {
      try {
        return work(given)
      } catch (error) {
        logger.error(`${what} threw`, { controller: controller.name, error: conceal(String(error), given) })
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

/** What such a function is given: an object, or a change of one. */
type Looked = ApiObject | { readonly object: ApiObject }

/** An error may tell what the function was given: of a Secret, that is its values. */
function conceal(text: string, given: Looked): string {
  const object = 'object' in given ? (given.object as ApiObject) : given
  if (!isOf(object, Secret)) return text
  const secrets = new SecretValues(object)
  secrets.note(object)
  return secrets.mask(text)
}
