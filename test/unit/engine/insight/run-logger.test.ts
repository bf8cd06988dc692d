import { describe, expect, it } from 'vitest'
import { RunLog } from '../../../../shared/engine/insight/run-log.ts'
import { RunLogger } from '../../../../shared/engine/insight/run-logger.ts'
import { SecretValues } from '../../../../shared/engine/insight/secret-values.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import type { Logger } from '../../../../shared/ports/logger.ts'
import { storedWidget } from '../../../support/stored-object.ts'

/** The logger of a run, what it says, and what is kept of it. */
function loggerOf({ secrets = false, keeps = true } = {}) {
  const lines: unknown[] = []
  const kept: unknown[] = []
  let identified = 0
  const values = new SecretValues(storedWidget('w').object)
  values.note({ stringData: { password: 'Geheim123' } })
  const saying = (identity: JsonObject): Logger => {
    const say =
      (level: string) =>
      (message: string, fields?: JsonObject | (() => JsonObject)): void =>
        void lines.push([level, message, { ...identity, ...(typeof fields === 'function' ? fields() : fields) }])
    return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error'), with: saying }
  }
  const logger = new RunLogger(saying({}), {
    identify: () => {
      identified++
      return { run: identified }
    },
    secrets: () => (secrets ? values : undefined),
    ...(keeps && { keep: (line: object) => void kept.push(line) }),
  })
  return { logger, lines, kept }
}

describe('the logger of a run', () => {
  it.each(['info', 'warn', 'error'] as const)('says %s with the run’s identity, and keeps it', (level) => {
    const { logger, lines, kept } = loggerOf()
    logger[level]('hello', { a: 1 })
    logger[level]('again')
    expect(lines).toEqual([
      [level, 'hello', { run: 1, a: 1 }],
      [level, 'again', { run: 1 }],
    ])
    expect(kept).toStrictEqual([
      { level, message: 'hello', fields: { a: 1 } },
      { level, message: 'again' },
    ])
  })

  it('says for debugging what it is asked for, and keeps nothing of it', () => {
    const { logger, lines, kept } = loggerOf()
    logger.debug('one', { a: 1 })
    logger.debug('two', () => ({ a: 2 }))
    logger.debug('three')
    expect(lines).toEqual([
      ['debug', 'one', { run: 1, a: 1 }],
      ['debug', 'two', { run: 1, a: 2 }],
      ['debug', 'three', { run: 1 }],
    ])
    expect(kept).toEqual([])
  })

  it('tells no value of a Secret, whatever is said', () => {
    const { logger, lines, kept } = loggerOf({ secrets: true, keeps: false })
    const told = { url: 'x:Geheim123@y' }
    logger.debug('Geheim123', told)
    logger.debug('Geheim123', () => told)
    for (const level of ['info', 'warn', 'error'] as const) {
      logger[level]('Geheim123', told)
      logger.with({ a: 'Geheim123' })[level]('Geheim123')
    }
    expect(lines).toHaveLength(8)
    expect(JSON.stringify(lines)).not.toContain('Geheim123')
    expect(kept).toEqual([])
  })

  it('has fields that are said with each line', () => {
    const { logger, lines } = loggerOf()
    const own = logger.with({ a: 1, b: 1 }).with({ b: 2 })
    for (const level of ['debug', 'info', 'warn', 'error'] as const) own[level](level, { c: 3 })
    own.debug('late', () => ({ c: 4 }))
    own.debug('bare')
    expect(lines).toEqual([
      ['debug', 'debug', { run: 1, a: 1, b: 2, c: 3 }],
      ['info', 'info', { run: 1, a: 1, b: 2, c: 3 }],
      ['warn', 'warn', { run: 1, a: 1, b: 2, c: 3 }],
      ['error', 'error', { run: 1, a: 1, b: 2, c: 3 }],
      ['debug', 'late', { run: 1, a: 1, b: 2, c: 4 }],
      ['debug', 'bare', { run: 1, a: 1, b: 2 }],
    ])
  })
})

describe('what is kept of what a run says', () => {
  const line = { atMs: 1, level: 'info', message: 'm' } as const

  it.each([
    [2_000, 2_000],
    [2_001, 2_001],
    [3_000, 2_001],
  ])('of a message of %d characters are %d', (length, kept) => {
    const log = new RunLog()
    log.keep({ ...line, message: 'x'.repeat(length) })
    const message = log.lines[0]?.message ?? ''
    expect([message.length, message.endsWith('…')]).toEqual([kept, length > 2_000])
    expect(message.startsWith('x'.repeat(2_000))).toBe(true)
  })

  it('are its fields, or their beginning as text', () => {
    const log = new RunLog()
    // As JSON it has nine characters more.
    const fits = { text: 'y'.repeat(1_989) }
    expect(JSON.stringify(fits)).toHaveLength(2_000)
    const tooLong = { text: 'y'.repeat(1_990) }
    for (const fields of [fits, tooLong]) log.keep({ ...line, fields })
    log.keep(line)
    expect(log.lines.map(({ fields }) => fields)).toEqual([
      fits,
      { fields: `${JSON.stringify(tooLong).slice(0, 2_000)}…` },
      undefined,
    ])
    expect(log.lines[2]).toStrictEqual(line)
  })

  it.each([
    [0, 0, undefined],
    [50, 50, 'm'],
    [51, 51, '1 more lines are not kept'],
    [53, 51, '3 more lines are not kept'],
  ])('of %d lines are %d, the last of which says %s', (count, kept, last) => {
    const log = new RunLog()
    for (let atMs = 1; atMs <= count; atMs++) log.keep({ ...line, atMs })
    expect([log.isEmpty, log.lines.length, log.lines.at(-1)?.message]).toEqual([count === 0, kept, last])
    if (count > 50) expect(log.lines.at(-1)?.atMs).toBe(50)
  })
})
