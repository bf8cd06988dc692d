import { noDuration, tryDurationMs, type Duration } from '../model/duration.ts'
import { DefinitionError, OperatingError } from '../model/errors.ts'

/** Milliseconds of a duration in a definition. Throws a DefinitionError that says where it stands. */
export function definedMs(where: string, given: Duration): number {
  const ms = tryDurationMs(given)
  if (ms === undefined) throw new DefinitionError(`${where}: ${noDuration(given)}`)
  return ms
}

/** Milliseconds of a duration that a run gives. Throws BAD_REQUEST that says for what. */
export function toldMs(what: string, given: Duration): number {
  const ms = tryDurationMs(given)
  if (ms === undefined) throw new OperatingError('BAD_REQUEST', `${what}: ${noDuration(given)}`)
  return ms
}
