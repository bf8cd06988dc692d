import type { PastRun, RunHistory } from '../../ports/run-history.ts'

/** Of what a function noted, nothing is written before it is told to: it stands still between its invocations. */
export interface FlushedHistory extends RunHistory {
  flush(): Promise<void>
}

/** The history of runs that failed or logged something: the others are counted as quiet ones. */
export function keepFailures(history: FlushedHistory): FlushedHistory {
  return {
    ...history,
    note: (uid, run) => (isTold(run) ? history.note(uid, run) : history.noteQuiet(uid, run)),
  }
}

function isTold({ outcome, log }: PastRun): boolean {
  return log !== undefined || (outcome !== 'done' && outcome !== 'again')
}
