import { describe, expect, it } from 'vitest'
import { keptRuns, type PastRun, type RunHistory } from '../../shared/ports/run-history.ts'

export interface OpenRunHistory {
  readonly history: RunHistory
  /** What a process does that starts on the same data after a kill. */
  reopen(): RunHistory
  close(): void
}

export const pastRun = (atMs: number, more: Partial<PastRun> = {}): PastRun => ({
  atMs,
  ms: 5,
  causes: ['created'],
  outcome: 'done',
  ...more,
})

/** The promises of RunHistory. */
export function runHistoryContract(name: string, open: () => OpenRunHistory | Promise<OpenRunHistory>): void {
  const withHistory = async (check: (opened: OpenRunHistory) => Promise<void>): Promise<void> => {
    const opened = await open()
    try {
      await check(opened)
    } finally {
      opened.close()
    }
  }

  describe(`the history of runs: ${name}`, () => {
    it('reads back what was noted of each object, newest last', () =>
      withHistory(async ({ history }) => {
        const log = [{ atMs: 2, level: 'warn', message: 'ä "quoted"', fields: { a: [1] } }] satisfies PastRun['log']
        const failed = pastRun(2, { outcome: 'failed', reason: 'Broken', message: 'no route', log })
        history.note('a', pastRun(1))
        history.note('b', pastRun(3))
        history.note('a', failed)
        expect(await history.read('a')).toEqual([pastRun(1), failed])
        expect(await history.read('b')).toEqual([pastRun(3)])
        expect(await history.read('nobody')).toEqual([])
      }))

    it('keeps so many of an object, the newest, and those of others', () =>
      withHistory(async ({ history }) => {
        history.note('other', pastRun(0))
        for (let atMs = 1; atMs <= 3 * keptRuns; atMs++) {
          history.note('a', pastRun(atMs))
          if (atMs % 7 === 0) await history.read('a')
        }
        const kept = await history.read('a')
        expect(kept.map(({ atMs }) => atMs)).toEqual(Array.from({ length: keptRuns }, (_, i) => 2 * keptRuns + 1 + i))
        expect(await history.read('other')).toHaveLength(1)
      }))

    it('tells quiet runs in a row as one, between the others', () =>
      withHistory(async ({ history }) => {
        const quiet = { atMs: 2, ms: 1, causes: ['resync'] }
        history.note('a', pastRun(1))
        history.noteQuiet('a', quiet)
        history.noteQuiet('a', { ...quiet, atMs: 3 })
        const row = { ...quiet, atMs: 3, outcome: 'done', times: 2 }
        expect(await history.read('a')).toEqual([pastRun(1), row])
        history.note('a', pastRun(4))
        expect(await history.read('a')).toEqual([pastRun(1), row, pastRun(4)])
      }))

    it('has what was noted after a kill', () =>
      withHistory(async ({ history, reopen }) => {
        history.note('a', pastRun(1))
        // Who reads it sees it written.
        await history.read('a')
        expect(await reopen().read('a')).toEqual([pastRun(1)])
      }))
  })
}
