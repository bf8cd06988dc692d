import { expect, it } from 'vitest'
import { formatLogs, formatRuns } from '../../functions/command/past-runs.ts'
import type { ServedRun } from '../../shared/api/verbs/runs.ts'

const run: ServedRun = { startTime: '2026-11-23T01:02:03.456789Z', durationMs: 5, outcome: 'done', causes: ['created'] }

it('runs are a table', () => {
  const failed: ServedRun = {
    ...run,
    outcome: 'failed',
    causes: ['spec changed', 'retry'],
    reads: 2,
    writes: 1,
    reason: 'Broken',
    message: 'first line\nsecond line',
    afterMs: 1_500,
    outside: { 'create error': 2 },
  }
  expect(formatRuns([run, { ...run, causes: ['resync'], times: 12 }, failed])).toBe(
    `STARTED               TOOK  RESULT                            READS  WRITES  BECAUSE              MESSAGE
2026-11-23T01:02:03Z  5 ms  done                                             created
2026-11-23T01:02:03Z  5 ms  done, nothing to do, 12 in a row                 resync
2026-11-23T01:02:03Z  5 ms  failed                            2      1       spec changed, retry  Broken: first line; again in 1.5 s; create error: 2
`,
  )
})

it('logs are lines', () => {
  const time = run.startTime
  const log: ServedRun['log'] = [
    { time, level: 'info', message: 'begins' },
    { time, level: 'warn', message: 'slow', fields: { ms: 3, of: 'b' } },
  ]
  expect(formatLogs([run, { ...run, log }])).toBe(
    '2026-11-23T01:02:03Z begins\n2026-11-23T01:02:03Z WARN slow ms=3 of=b\n',
  )
})

it('what was logged steers no terminal, and is taken for no other line', () => {
  const message = 'ends\r\u001b[2J\u009b\n2026-11-23T01:02:03Z begins'
  const log: ServedRun['log'] = [{ time: run.startTime, level: 'info', message }]
  expect(formatLogs([{ ...run, log }])).toBe('2026-11-23T01:02:03Z ends^M^[[2J\\u009b\n  2026-11-23T01:02:03Z begins\n')
  expect(formatRuns([{ ...run, message: '\u001b[2Jit\tbroke' }])).toContain('^[[2Jit\tbroke\n')
})

it('what is not there is said', () => {
  expect(formatRuns([])).toBe('no run is kept of this object\n')
  expect(formatLogs([run])).toBe('its last runs logged nothing\n')
})
