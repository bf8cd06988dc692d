import type { JsonObject } from '../../../shared/index.ts'
import { named, specOf, type Checker, type Scene } from './checker.ts'

/**
 * Promise 2: a worker that lost its turn cannot write. Whatever run writes a status: it says what the generation wanted
 * that it says it observed, and it never goes back to an older one.
 */
export function createFenced({ report }: Scene): Checker {
  const wanted = new Map<string, unknown>()
  return {
    write: ({ before, after }) => {
      const { kind, metadata, status } = after.object
      if (kind !== 'Gadget' && kind !== 'Witness') return
      wanted.set(`${metadata.uid} ${metadata.generation}`, specOf(after)['value'])
      const [was, is] = [observedIn(before?.object.status), observedIn(status)]
      if (is < was) report(`promise 2, fenced: ${named(after)} goes back from observed generation ${was} to ${is}`)
      if (before === undefined || status?.['value'] === before.object.status?.['value']) return
      const should = wanted.get(`${metadata.uid} ${is}`)
      if (status?.['value'] !== should)
        report(
          `promise 2, fenced: the status of ${named(after)} is ${String(status?.['value'])} and says it is of generation ${is}, which wanted ${String(should)}`,
        )
    },
  }
}

function observedIn(status: JsonObject | undefined): number {
  return Number(status?.['observedGeneration'] ?? 0)
}
