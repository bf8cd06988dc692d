import { expect, it } from 'vitest'
import { formatLogLine } from '../../functions/command/readable-log.ts'

const time = '2026-11-22T21:53:58.178Z'
const run = { time, level: 'debug', message: 'reconciled', controller: 'greeting', namespace: 'default', name: 'a' }
const request = { time, level: 'debug', message: 'request', method: 'GET', status: 200, ms: 3, agent: 'kubectl/v1.32' }

it.each([
  [
    { ...run, reconcileID: 'x', outcome: 'done', durationMs: 3, reasons: ['spec changed by kubectl'], writes: 1 },
    '21:53:58 greeting default/a: reconciled in 3 ms, done because of spec changed by kubectl writes=1',
  ],
  [
    { ...run, level: 'warn', message: 'run failed', reconcileID: 'x', error: 'no route', attempt: 2 },
    '21:53:58 WARN greeting default/a: run failed error=no route attempt=2',
  ],
  [{ ...run, message: 'hello', namespace: '', fields: { a: 1 } }, '21:53:58 greeting a: hello fields={"a":1}'],
  [{ time, level: 'error', message: 'certificate not renewed' }, '21:53:58 ERROR certificate not renewed'],
  [{ ...run, controller: 'namespace-lifecycle', durationMs: 1 }, undefined],
  [
    { ...request, method: 'PATCH', path: '/apis/a.b/v1/namespaces/default/cs/x' },
    '21:53:58 kubectl/v1.32 PATCH /apis/a.b/v1/namespaces/default/cs/x: 200, 3 ms',
  ],
  [{ ...request, path: '/api/v1/pods', watch: true }, '21:53:58 kubectl/v1.32 GET /api/v1/pods: 200, watch begun'],
  [{ ...request, path: '/apis/a.b/v1' }, undefined],
  [{ ...request, path: '/openapi/v3', status: 403 }, '21:53:58 kubectl/v1.32 GET /openapi/v3: 403, 3 ms'],
  [
    { ...run, controller: 'namespace-lifecycle', level: 'warn', message: 'm' },
    '21:53:58 WARN namespace-lifecycle default/a: m',
  ],
])('shows %j as people read it', (line, readable) => {
  expect(formatLogLine(JSON.stringify(line))).toBe(readable)
})

it('what others said steers no terminal, and is taken for no other line', () => {
  const line = {
    ...run,
    level: 'warn',
    message: 'run failed',
    error: 'HTTP 500: \u001b[2J\u009b\n21:53:58 all is well',
  }
  expect(formatLogLine(JSON.stringify(line))).toBe(
    '21:53:58 WARN greeting default/a: run failed error=HTTP 500: ^[[2J\\u009b\n  21:53:58 all is well',
  )
  const asked = { ...request, path: '/api/v1/pods', agent: 'a\u009b2Jb' }
  expect(formatLogLine(JSON.stringify(asked))).toBe('21:53:58 a\\u009b2Jb GET /api/v1/pods: 200, 3 ms')
})

it.each(['plain text', '{ not JSON', '{"time":7}', ''])('leaves %j as it is', (line) => {
  expect(formatLogLine(line)).toBe(line)
})
