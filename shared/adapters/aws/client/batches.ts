import { hasCode, OperatingError } from '../../../model/errors.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Random } from '../../../ports/random.ts'
import { isThrottle } from './service-failure.ts'

/** An entry that a batch call did not take, though the call as such went well. */
export interface EntryRefusal<Entry> {
  readonly entry: Entry
  readonly code: string
  readonly message: string
  /** It would be refused again. */
  readonly isFinal: boolean
}

export interface BatchOptions<Entry> {
  /** In words: what could not be done if it fails. */
  readonly attempt: string
  readonly sizeMax: number
  /** One call; what of the batch was refused. */
  readonly call: (batch: readonly Entry[]) => Promise<readonly EntryRefusal<Entry>[]>
  /** Ends the tries; a first `call` is to reject then. */
  readonly signal?: AbortSignal | undefined
  readonly clock: Clock
  readonly random: Random
}

const triesMax = 6
const firstPauseMs = 100
/** Calls at once: the ports do not promise any order between keys. */
const callsMax = 8

/**
 * Puts all entries through batch calls. What is refused for a passing reason is tried again, at longer and longer
 * intervals of chance, six times in about three seconds; each entry is taken or refused by itself. Rejects in the end
 * if anything was not taken, after everything else has been tried: THROTTLED, UNAVAILABLE, or INTERNAL if all that is
 * left was refused for good.
 */
export async function inBatches<Entry>(entries: readonly Entry[], options: BatchOptions<Entry>): Promise<void> {
  const batches = batchesOf(entries, options.sizeMax)
  const failures: unknown[] = []
  const work = async (): Promise<void> => {
    for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
      try {
        await putThrough(batch, options)
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(callsMax, batches.length) }, work))
  if (failures.length > 0) throw failures.find((error) => hasCode(error, 'THROTTLED', 'UNAVAILABLE')) ?? failures[0]
}

async function putThrough<Entry>(batch: readonly Entry[], options: BatchOptions<Entry>): Promise<void> {
  const { call, signal, clock, random, attempt } = options
  const final: EntryRefusal<Entry>[] = []
  let refused: readonly EntryRefusal<Entry>[] = []
  let left = batch
  for (let tries = 0; left.length > 0 && tries < triesMax; tries++) {
    if (tries > 0) await clock.sleep(random.next() * firstPauseMs * 2 ** tries, signal)
    if (tries > 0 && signal?.aborted === true) break
    const all = await call(left)
    final.push(...all.filter(({ isFinal }) => isFinal))
    refused = all.filter(({ isFinal }) => !isFinal)
    left = refused.map(({ entry }) => entry)
  }
  // A caller gives up entries that are refused for good. An entry that may be taken later must not be among them.
  const [failed] = [...refused, ...final]
  if (failed !== undefined) throw failureOf(failed, attempt)
}

function failureOf({ code, message, isFinal }: EntryRefusal<unknown>, attempt: string): OperatingError {
  const passing = isThrottle(code) ? 'THROTTLED' : 'UNAVAILABLE'
  return new OperatingError(isFinal ? 'INTERNAL' : passing, `cannot ${attempt}: ${code}: ${message}`)
}

/** Entries in their order, so many at a time. */
export function batchesOf<Entry>(entries: readonly Entry[], sizeMax: number): (readonly Entry[])[] {
  const count = Math.ceil(entries.length / sizeMax)
  return Array.from({ length: count }, (_, i) => entries.slice(i * sizeMax, (i + 1) * sizeMax))
}
