import { setMaxListeners } from 'node:events'
import { startLocalCore, type LocalCoreOptions } from '../../shared/runtime/local/core.ts'
import { openLocalPorts } from '../../shared/runtime/local/ports.ts'
import type { WorkQueue } from '../../shared/ports/work-queue.ts'
import { useTestEngine } from '../../shared/testing/test-engine.ts'

/**
 * An engine that does nothing: its queues deliver no message, so that no reconcile function is ever called. The API,
 * the store and the relay work. A test that passes on it shows nothing of the engine.
 */
useTestEngine(async (clock) => ({
  ports: openLocalPorts(':memory:', clock),
  start: (options) => startLocalCore({ ...options, wrapQueue: (queue, name) => deadQueue(wrap(options, queue, name)) }),
  isQuiet: () => true,
}))

function wrap({ wrapQueue = (queue) => queue }: LocalCoreOptions, queue: WorkQueue, name: string): WorkQueue {
  return wrapQueue(queue, name)
}

function deadQueue(queue: WorkQueue): WorkQueue {
  return {
    send: (wakeUps) => queue.send(wakeUps),
    settle: (deliveries) => queue.settle(deliveries),
    hold: (deliveries, ms) => queue.hold(deliveries, ms),
    wake: (handle) => queue.wake(handle),
    receive: (_max, signal) => {
      setMaxListeners(0, signal)
      return untilAborted(signal)
    },
  }
}

function untilAborted(signal: AbortSignal): Promise<readonly []> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve([])
    else signal.addEventListener('abort', () => resolve([]), { once: true })
  })
}
