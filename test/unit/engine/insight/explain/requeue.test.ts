import { expect, it } from 'vitest'
import type { Facts } from '../../../../../shared/engine/insight/explain/facts.ts'
import { explainRequeue } from '../../../../../shared/engine/insight/explain/plan-answers.ts'
import type { EngineState } from '../../../../../shared/model/engine-state.ts'

function nextRun(engine: EngineState): string | undefined {
  const object = { metadata: { uid: 'u', generation: 1 } }
  return explainRequeue({ stored: { object, engine }, controller: { resyncMs: 0 }, nowMs: 0 } as unknown as Facts)[0]
}

it('tells a limit of the object from one of its controller', () => {
  const limited = { wait: { kind: 'RateLimited', generation: 1, atMs: 30_000 } } as const
  expect(nextRun(limited)).toContain('its own rate limit')
  expect(nextRun({ ...limited, memory: { reservedMs: 30_000 } })).toContain('rate limit of its controller')
})
