import { expect, it } from 'vitest'
import { pastRunOf, type RunToKeep } from '../../../../shared/engine/insight/past-run.ts'
import { noEffects } from '../../../../shared/engine/insight/run-effects.ts'
import { RunLog } from '../../../../shared/engine/insight/run-log.ts'
import { storedWidget } from '../../../support/stored-object.ts'

const quiet = { atMs: 1, ms: 2, causes: ['resync'] }
const run: RunToKeep = {
  stored: storedWidget('a'),
  verdict: { kind: 'done' },
  effects: noEffects(),
  log: undefined,
  isObserved: false,
  quiet,
}
const log = new RunLog()
log.keep({ atMs: 3, level: 'info', message: 'hello' })
const wrote = { ...noEffects(), written: { created: 1, updated: 2, unchanged: 9, deleted: 1 } }

it.each<[string, Partial<RunToKeep>, object | undefined]>([
  ['nothing to do', {}, undefined],
  ['asked to run again', { verdict: { kind: 'again', afterMs: 5 } }, undefined],
  ['wrote what was there', { effects: { ...noEffects(), reads: 3 } }, undefined],
  ['an empty log', { log: new RunLog() }, undefined],
  ['a change was dealt with', { isObserved: true }, { outcome: 'done', writes: 0 }],
  ['children were written', { effects: wrote }, { writes: 4, reads: 0 }],
  ['drift', { effects: { ...noEffects(), drift: 1 } }, { drift: 1 }],
  [
    'a call outside',
    { effects: { ...wrote, outside: new Map([['create success' as const, 2]]) } },
    { outside: { 'create success': 2 } },
  ],
  ['it said something', { log }, { log: [{ atMs: 3, level: 'info', message: 'hello' }] }],
  [
    'not ready',
    { verdict: { kind: 'done', ready: { reason: 'Waiting', message: 'for b' } } },
    { reason: 'Waiting', message: 'for b' },
  ],
  [
    'failed',
    { verdict: { kind: 'failed', reason: 'Broken', message: 'm', quiet: false } },
    { outcome: 'failed', reason: 'Broken', message: 'm' },
  ],
  [
    'asked for a time',
    { verdict: { kind: 'retryAfter', afterMs: 7, message: 'busy' } },
    { outcome: 'retryAfter', afterMs: 7, reason: 'RetryAfter', message: 'busy' },
  ],
  ['stopped', { verdict: { kind: 'stopped', reason: 'No', message: 'never' } }, { outcome: 'stopped' }],
])('of a run: %s', (_, given, kept) => {
  const past = pastRunOf({ ...run, ...given })
  if (kept === undefined) expect(past).toBeUndefined()
  else expect(past).toMatchObject({ ...quiet, ...kept })
})

it('says nothing of what was not', () => {
  const past = pastRunOf({ ...run, isObserved: true })
  expect(past).toStrictEqual({ ...quiet, outcome: 'done', generation: 1, reads: 0, writes: 0 })
})

it('a run that says very much is kept in part, and says so', () => {
  const long = new RunLog()
  for (let i = 0; i < 60; i++)
    long.keep({ atMs: i, level: 'warn', message: 'x'.repeat(5_000), fields: { y: 'y'.repeat(5_000) } })
  expect(long.lines).toHaveLength(51)
  expect(long.lines.at(-1)?.message).toBe('10 more lines are not kept')
  expect(JSON.stringify(long.lines).length).toBeLessThan(50 * 4_500)
})
