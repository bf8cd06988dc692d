import { expect, it } from 'vitest'
import { createPrometheusTelemetry } from '../../../../shared/adapters/local/prometheus-telemetry.ts'
import { createAdvice } from '../../../../shared/engine/insight/advice.ts'
import { metrics } from '../../../../shared/model/metrics.ts'

it('advice is counted each time, and told once an hour by its name', () => {
  let nowMs = 0
  const told: unknown[] = []
  const logger = {
    debug: () => {},
    info: () => {},
    warn: (_message: string, { advice, about }: { readonly advice?: unknown; readonly about?: unknown } = {}) =>
      void told.push(`${String(advice)} ${String(about)}`),
    error: () => {},
    with: () => logger,
  }
  const telemetry = createPrometheusTelemetry()
  const advise = createAdvice('widget', { logger, telemetry, nowMs: () => nowMs })
  advise('Polling', 'a')
  advise('Polling', 'b')
  advise('LongRun', 'c')
  nowMs = 3_599_999
  advise('Polling', 'd')
  nowMs = 3_600_000
  advise('Polling', 'e')
  nowMs = 3_600_001
  advise('Polling', 'f')
  expect(told).toEqual(['Polling a', 'LongRun c', 'Polling e'])
  expect(telemetry.valueOf(metrics.advice, { controller: 'widget', advice: 'Polling' })).toBe(5)
})
