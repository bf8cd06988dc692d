import { expect, it } from 'vitest'
import { createJsonLogger, logLevels } from '../../../../shared/adapters/node/json-logger.ts'
import { createVirtualClock } from '../../../../shared/testing/virtual-clock.ts'

function logAt(level: (typeof logLevels)[number]): readonly string[] {
  const lines: string[] = []
  const logger = createJsonLogger({ write: (line) => lines.push(line), clock: createVirtualClock(0), level })
  const child = logger.with({ controller: 'widget' })
  for (const one of logLevels) child[one](`${one} message`, { attempt: 1 })
  return lines
}

it('writes one JSON object per line: time, level, message, then the fields', () => {
  expect(logAt('error')).toEqual([
    '{"time":"1970-01-01T00:00:00.000Z","level":"error","message":"error message","controller":"widget","attempt":1}\n',
  ])
})

it.each([
  ['debug', ['debug', 'info', 'warn', 'error']],
  ['info', ['info', 'warn', 'error']],
  ['warn', ['warn', 'error']],
  ['error', ['error']],
] as const)('at level %s writes %j', (level, written) => {
  expect(logAt(level).map((line) => (JSON.parse(line) as { readonly level: string }).level)).toEqual(written)
})

it('keeps what a line is about, whatever its fields are called', () => {
  const lines: string[] = []
  const logger = createJsonLogger({ write: (line) => lines.push(line), clock: createVirtualClock(0), level: 'info' })
  const run = logger.with({ controller: 'widget', name: 'w', level: 'none' })
  run.with({ name: 'child' }).warn('refused', { time: 'late', message: 'no', name: 'other', size: 1 })
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      time: '1970-01-01T00:00:00.000Z',
      level: 'warn',
      message: 'refused',
      controller: 'widget',
      name: 'w',
      'fields.level': 'none',
      'fields.time': 'late',
      'fields.message': 'no',
      'fields.name': 'other',
      size: 1,
    },
  ])
})
