import { keyOf, parseKeyText } from '../../model/object-key.ts'
import type { ApiObject } from '../../model/object.ts'
import { runText, type GivingUp, type UnendedRun } from '../../engine/loops/give-up.ts'
import type { Controller } from '../../reconciler/controller.ts'

/**
 * How many ends of the process in a row each object was under way in. A run that came to its end, whatever its
 * outcome, takes its object's count away. A run costs no write: who keeps the counts asks for them when the process
 * ends.
 */
export interface UnendedRuns {
  /** The same controllers, of whose runs it is known which are under way. */
  follow(controllers: readonly Controller[]): readonly Controller[]
  /**
   * The runs in which the process ended too often, once: what starts later in this process may be other code. A run
   * that an earlier process has given up says so. One more end gives it up again, and so does each start until its
   * object was written.
   */
  takeGivenUp(): GivingUp
  /** The counts, as they are now. */
  counts(): UnendedCounts
  /** The counts if the process ended now. */
  countsAtEnd(): UnendedCounts
}

/** By the names of loop and object. */
export type UnendedCounts = ReadonlyMap<string, number>

/** So many ends of the process in a row give an object up. */
const endsMax = 3
/**
 * The count of a run that was given up, until the process ends in it once more. No other count comes so far. The count
 * of an object that cannot be written goes on behind the third end.
 */
const givenUpEnds = 1_000
/** So many are counted: the process may end with very many runs under way. */
const countedMax = 1_000

/** `onChanged` is told when a count was taken away, or a run was given up. */
export function createUnendedRuns(known: UnendedCounts, onChanged: () => void = () => {}): UnendedRuns {
  const counted = new Map(known)
  const underWay = new Set<RunUnderWay>()
  let isTaken = false

  const noted =
    (loop: string, run: Controller['reconcile']): Controller['reconcile'] =>
    async (object, ctx) => {
      const mine = { loop, object }
      underWay.add(mine)
      try {
        return await run(object, ctx)
      } finally {
        underWay.delete(mine)
        if (counted.size > 0 && counted.delete(textOf(mine))) onChanged()
      }
    }

  return {
    follow: (controllers) =>
      controllers.map((controller) => {
        const { name, reconcile, cleanup } = controller
        const notedCleanup = cleanup && { cleanup: noted(name, cleanup) }
        return Object.freeze({ ...controller, reconcile: noted(name, reconcile), ...notedCleanup })
      }),
    takeGivenUp: () => {
      const given = isTaken ? [] : [...counted].filter(([, ends]) => ends >= endsMax)
      isTaken = true
      return {
        runs: given.map(([text, ends]) => ({ ...parseRun(text), isGivenUp: ends === givenUpEnds })),
        onGivenUp: (run) => {
          counted.set(runText(run), givenUpEnds)
          onChanged()
        },
      }
    },
    counts: () => counted,
    countsAtEnd: () => {
      const texts = new Set(Array.from(underWay, textOf))
      const after = new Map(counted)
      for (const text of texts) after.set(text, (counted.get(text) ?? 0) + 1)
      const mostFirst = [...after].toSorted(([, ends], [, others]) => others - ends)
      return new Map(mostFirst.slice(0, countedMax))
    },
  }
}

interface RunUnderWay {
  readonly loop: string
  readonly object: ApiObject
}

function textOf({ loop, object }: RunUnderWay): string {
  return runText({ loop, key: keyOf(object) })
}

function parseRun(text: string): UnendedRun {
  const end = text.indexOf('/')
  return { loop: text.slice(0, end), key: parseKeyText(text.slice(end + 1)) }
}
