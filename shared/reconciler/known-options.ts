import { DefinitionError } from '../model/errors.ts'

/** Of a definition: each option that it may have. */
export type KnownOptions<Options> = Readonly<Record<keyof Options, true>>

/**
 * Refuses an option that a definition cannot have, and names the one that is probably meant. The compiler says it, too,
 * where it is asked: the command line loads modules without it.
 */
export function refuseUnknownOptions(whose: string, options: object, known: Readonly<Record<string, true>>): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name))
  if (unknown === undefined) return
  const names = Object.keys(known)
  const meant = findNearest(unknown, names)
  const advice = meant === undefined ? `there are ${names.join(', ')}` : `${meant} is probably meant`
  throw new DefinitionError(`${whose}: there is no option ${unknown}: ${advice}`)
}

/** Refuses a definition that lacks a function, or has something else in its place. */
export function requireFunctions(whose: string, options: object, names: readonly string[]): void {
  const given = options as Readonly<Record<string, unknown>>
  const missing = names.find((name) => typeof given[name] !== 'function')
  if (missing !== undefined) throw new DefinitionError(`${whose}: ${missing} is missing: give a function`)
}

/** One letter in three may be wrong, and the case of all. */
function findNearest(name: string, names: readonly string[]): string | undefined {
  let [nearest, least]: [string | undefined, number] = [undefined, Infinity]
  for (const one of names) {
    const edits = countEdits(name.toLowerCase(), one.toLowerCase())
    if (edits < least && edits <= Math.max(name.length, one.length) / 3) [nearest, least] = [one, edits]
  }
  return nearest
}

/** How many letters are put in, left out or replaced to make one text the other (Levenshtein). */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [line, letter] of from.split('').entries()) {
    const next = [line + 1]
    for (const [column, other] of to.split('').entries()) {
      const [above = 0, slanted = 0, before = 0] = [row[column + 1], row[column], next[column]]
      next.push(Math.min(above + 1, before + 1, slanted + (letter === other ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
