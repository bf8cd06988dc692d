import { expect, it } from 'vitest'
import { explainReports } from '../../../../../shared/engine/insight/explain/plan-answers.ts'
import type { Facts } from '../../../../../shared/engine/insight/explain/facts.ts'

it.each([
  [undefined, 'Warning Broken: no luck'],
  [1, 'Warning Broken: no luck'],
  [2, 'Warning Broken (2 times): no luck'],
])('an event that came %s times is shown as %s', (count, line) => {
  const event = { type: 'Warning', reason: 'Broken', message: 'no luck', lastTimestamp: '1970-01-01T00:00:00Z' }
  const events = [{ ...event, ...(count !== undefined && { count }) }]
  const facts = { stored: { object: { metadata: {} }, engine: {} }, events, nowMs: 60_000 } as unknown as Facts
  expect(explainReports(facts).at(-1)).toContain(line)
})
