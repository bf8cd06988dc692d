import type { Logger } from '../../ports/logger.ts'
import type { ApiObject } from '../../model/object.ts'
import type { Controller, Watched } from '../../reconciler/controller.ts'
import { Secret } from '../../reconciler/built-in-kinds.ts'
import type { Predicate } from '../../reconciler/predicates.ts'
import { thrownText } from '../../reconciler/thrown-text.ts'
import { isOf } from '../../reconciler/kind.ts'
import { SecretValues } from '../insight/secret-values.ts'

/**
 * The controller with the functions of its watches made safe, since the relay runs them on behalf of all: one that
 * throws is told of and holds up nobody. A predicate that throws lets the change pass; an object whose references
 * cannot be told has none.
 */
export function guardController(controller: Controller, logger: Logger): Controller {
  const tell = (what: string, error: unknown, object: ApiObject): void =>
    logger.error(`${what} threw`, { controller: controller.name, error: conceal(textOf(error), object) })
  const guardPredicate =
    (when: Predicate): Predicate =>
    (change) => {
      try {
        return when(change)
      } catch (error) {
        tell('a predicate', error, change.object)
        return true
      }
    }
  const safely =
    <Result>(what: string, work: (object: ApiObject) => readonly Result[]) =>
    (object: ApiObject): readonly Result[] => {
      try {
        return work(object)
      } catch (error) {
        tell(what, error, object)
        return []
      }
    }
  const guardWatch = <Watch extends Watched>(watch: Watch): Watch => ({ ...watch, when: guardPredicate(watch.when) })
  return {
    ...controller,
    when: guardPredicate(controller.when),
    owns: controller.owns.map(guardWatch),
    references: controller.references.map((watch) => ({
      ...guardWatch(watch),
      targets: safely('a reference', watch.targets),
    })),
    maps: controller.maps.map((watch) => ({
      ...guardWatch(watch),
      primaries: safely('a map function', watch.primaries),
    })),
  }
}

/** An error may be of any class, and throw when it is read. */
function textOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : thrownText(error)
  } catch {
    return 'an error without a text'
  }
}

/** An error may tell what the function was given: of a Secret, that is its values. */
function conceal(text: string, object: ApiObject): string {
  if (!isOf(object, Secret)) return text
  const secrets = new SecretValues(object)
  secrets.note(object)
  return secrets.mask(text)
}
