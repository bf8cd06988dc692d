/**
 * What telemetry costs a reconcile: the control loop's wrappers, the run's observer and its end, without the run. Aim:
 * 1 µs. `node test/bench/telemetry.ts`
 */
import { createPrometheusTelemetry } from '../../shared/adapters/local/prometheus-telemetry.ts'
import { systemClock } from '../../shared/adapters/node/system-clock.ts'
import { systemRandom } from '../../shared/adapters/node/system-random.ts'
import { createJsonLogger } from '../../shared/adapters/node/json-logger.ts'
import type { Controller } from '../../shared/reconciler/controller.ts'
import type { EngineOptions } from '../../shared/engine/turn/engine-options.ts'
import { createLoopMetrics } from '../../shared/engine/insight/loop-metrics.ts'
import { createRunObserver } from '../../shared/engine/insight/run-observer.ts'
import type { Turn } from '../../shared/engine/state/turn.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'

const runs = 300_000
const clock = systemClock
const telemetry = createPrometheusTelemetry()
const logger = createJsonLogger({ write: () => {}, clock, level: 'info' })
const controller = { name: 'widget', kind: { kind: 'Widget' }, timeoutMs: 60_000 } as Controller
const engine = { clock, telemetry, logger, random: systemRandom, resources: {} } as unknown as EngineOptions

const key = { group: 'example.com', kind: 'Widget', namespace: 'default', name: 'w' }
const wakeUp = { key, origin: 'change', dedupId: 'a', lane: 'urgent', reason: 'created by kubectl' } as const
const turn: Turn = { key, wakeUps: [wakeUp], receiveCount: 1, handle: '1' } as unknown as Turn
const stored: StoredObject = {
  object: {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: {
      name: 'w',
      namespace: 'default',
      uid: 'u',
      resourceVersion: '1',
      generation: 2,
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    status: { observedGeneration: 1 },
  },
  engine: { change: { verb: 'changed', atMs: clock.nowMs(), by: 'kubectl' } },
}

const observe = createRunObserver(controller, engine)
const bare = async (): Promise<void> => {}
const measured = createLoopMetrics({ name: 'widget', concurrency: 10, telemetry, clock }).runner(bare)
const { signal } = new AbortController()

async function nsPerRun(run: () => Promise<void> | void): Promise<number> {
  for (let i = 0; i < runs / 10; i++) await run()
  const startMs = performance.now()
  for (let i = 0; i < runs; i++) await run()
  return ((performance.now() - startMs) / runs) * 1e6
}

const nothing = await nsPerRun(bare)
const observer = (await nsPerRun(() => observe(stored, turn).end({ kind: 'done' }))) - nothing
const loop = (await nsPerRun(() => measured(turn, signal))) - nothing
const rows = { observer, loop, both: observer + loop }
for (const [name, ns] of Object.entries(rows))
  console.log(`${name.padEnd(10)} ${ns.toFixed(0).padStart(6)} ns per reconcile`)
