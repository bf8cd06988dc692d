import { keyText, type ObjectKey } from '../../model/object-key.ts'
import type { Logger } from '../../ports/logger.ts'
import { recordKey } from '../state/removed-record.ts'
import type { TurnRunner } from '../state/turn.ts'
import { logUnended, OverrunError } from './commit.ts'

/**
 * The functions that go on though their runs are over, by key. The list outlives the engine that began them: the next
 * engine in the same process has queues that know nothing of them.
 */
export interface Overruns {
  note(key: ObjectKey, end: Promise<unknown>): void
  /** The texts of the keys on which something goes on. */
  texts(): Iterable<string>
  /** When nothing goes on with a key any more; undefined if nothing does. */
  endOf(text: string): Promise<unknown> | undefined
}

export function createOverruns(): Overruns {
  const ends = new Map<string, Promise<unknown>>()
  return {
    note: (key, end) => {
      const text = keyText(key)
      // A queue hands out every key again in the end, so that two functions may go on with one.
      const all = Promise.allSettled([ends.get(text), end])
      ends.set(text, all)
      const forget = (): boolean => ends.get(text) === all && ends.delete(text)
      void all.then(forget)
    },
    texts: () => ends.keys(),
    endOf: (text) => ends.get(text),
  }
}

/**
 * The runner, which leaves a key alone while a function of an earlier engine goes on with it. The turn holds the key,
 * and no slot, as after an overrun of this engine. It comes again when the function ends, or after its visibility
 * timeout.
 */
export function behindOverruns(
  run: TurnRunner,
  { overruns, logger }: { readonly overruns?: Overruns; readonly logger: Logger },
): TurnRunner {
  if (overruns === undefined) return run
  const earlier = new Set(overruns.texts())
  return async (turn, signal) => {
    // An object shares its key with those that had its name before.
    const texts = earlier.size === 0 ? [] : [turn.key, recordKey(turn.key)].map(keyText)
    const waited = texts.filter((text) => earlier.delete(text))
    const ends = waited.map((text) => overruns.endOf(text)).filter((end) => end !== undefined)
    if (ends.length === 0) return run(turn, signal)
    const { kind, namespace, name } = turn.key
    logger.warn('the function of an earlier run goes on; its object waits for the end', { kind, namespace, name })
    const comeAgain = Promise.all(ends).then(() => turn.hold(0))
    comeAgain.catch((error: unknown) => logUnended(turn, error, { logger }))
    throw new OverrunError('the function of an earlier run goes on')
  }
}
