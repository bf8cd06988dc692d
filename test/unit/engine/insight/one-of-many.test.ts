import { expect, it } from 'vitest'
import { createEmfTelemetry } from '../../../../shared/adapters/aws/emf-telemetry.ts'
import { createJsonLogger } from '../../../../shared/adapters/node/json-logger.ts'
import type { Controller } from '../../../../shared/reconciler/controller.ts'
import type { EngineOptions } from '../../../../shared/engine/turn/engine-options.ts'
import { createRunObserver } from '../../../../shared/engine/insight/run-observer.ts'
import type { Turn } from '../../../../shared/engine/state/turn.ts'
import { createSeededRandom } from '../../../../shared/testing/seeded-random.ts'
import { createVirtualClock } from '../../../../shared/testing/virtual-clock.ts'
import { storedWidget } from '../../../support/stored-object.ts'

/** Of many processes, one has seen a failure, and knows nothing of what became of it. */
it('a process tells of an object that is not as it is wanted when it runs it, and not for ever after', () => {
  const clock = createVirtualClock(1_000_000)
  const lines: string[] = []
  const telemetry = createEmfTelemetry({ write: (line) => void lines.push(line), clock })
  const logger = createJsonLogger({ write: () => {}, clock, level: 'error' })
  const engine = { clock, telemetry, logger, random: createSeededRandom(1), resources: {} } as unknown as EngineOptions
  const controller = { name: 'widgets', timeoutMs: 60_000, kind: { kind: 'Widget' } } as unknown as Controller
  const observe = createRunObserver(controller, engine)
  const turn = { key: {}, wakeUps: [], receiveCount: 1 } as unknown as Turn
  const told = (): readonly unknown[] => {
    telemetry.flush()
    const oldest = lines.map(
      (line) => (JSON.parse(line) as Record<string, unknown>)['setpoint_oldest_unconverged_seconds'],
    )
    lines.length = 0
    return oldest.filter((value) => value !== undefined)
  }
  const fails = (): void => {
    const { object } = storedWidget('a')
    const change = { verb: 'changed', atMs: 900_000, by: 'somebody' } as const
    observe({ object, engine: { change } }, turn).end({ kind: 'failed', reason: 'R', message: 'm', quiet: false })
  }

  fails()
  expect(told()).toEqual([100])
  clock.moveTo(1_060_000)
  expect(told()).toEqual([])
  fails()
  expect(told()).toEqual([160])
})
