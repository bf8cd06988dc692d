import type { Delivery } from '../../../shared/ports/work-queue.ts'
import { workQueueContract } from '../../contract/work-queue.contract.ts'
import { clearSky } from '../climate.ts'
import { createWorld } from '../world.ts'
import { createSimQueue } from './sim-queue.ts'

/** What the seeds are run on keeps the promises of a WorkQueue; a receiver stands for the mapping of its function. */
workQueueContract('the simulated queue', () => {
  const world = createWorld(1)
  const visibilityMs = 30_000
  const sim = createSimQueue({
    world,
    name: 'widgets',
    visibilityMs: () => visibilityMs,
    climate: () => clearSky,
    onDead: () => {},
  })
  const receive = async (max: number, signal: AbortSignal): Promise<readonly Delivery[]> => {
    for (; !signal.aborted; await world.sleep(10, signal)) {
      const received = sim.receive(Math.min(max, 10))
      if (received.length > 0) return received.map(({ delivery }) => delivery)
    }
    return []
  }
  const pass = (ms: number): Promise<void> => world.runUntil(world.nowMs() + ms)
  return { queue: { ...sim.portOf('widgets'), receive }, visibilityMs, latencyMs: 100, pass }
})
