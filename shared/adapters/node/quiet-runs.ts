import type { PastRun, QuietRun } from '../../ports/run-history.ts'

const objectsMax = 10_000

/** Runs of which nothing is to be said, counted by object; those of objects that ran long ago are forgotten. */
export interface QuietRuns {
  count(uid: string, run: QuietRun): void
  /** The ones in a row of an object, as one; undefined if there is none. */
  read(uid: string): PastRun | undefined
  /** The same, and they are forgotten. */
  take(uid: string): PastRun | undefined
}

export function createQuietRuns(): QuietRuns {
  const rows = new Map<string, { last: QuietRun; times: number }>()

  const read = (uid: string): PastRun | undefined => {
    const row = rows.get(uid)
    return row === undefined ? undefined : { ...row.last, outcome: 'done', times: row.times }
  }

  return {
    count: (uid, run) => {
      const row = rows.get(uid)
      if (row !== undefined) {
        row.last = run
        row.times++
        return
      }
      rows.set(uid, { last: run, times: 1 })
      if (rows.size <= objectsMax) return
      const [oldest = ''] = rows.keys()
      rows.delete(oldest)
    },
    read,
    take: (uid) => {
      const run = read(uid)
      if (run !== undefined) rows.delete(uid)
      return run
    },
  }
}
