import type { Clock } from '../ports/clock.ts'
import { startLocalCore, type LocalCore, type LocalCoreOptions } from '../runtime/local/core.ts'
import { openLocalPorts, type LocalPorts } from '../runtime/local/ports.ts'

/**
 * What a test environment runs on: the ports of one control plane, which outlive its processes, and a way to start one.
 */
export interface TestEngine {
  readonly ports: LocalPorts
  start(options: LocalCoreOptions): Promise<LocalCore>
  /** Nothing is on its way that no call of a port tells of. */
  isQuiet(): boolean
}

export type OpenTestEngine = (clock: Clock) => Promise<TestEngine>

const openLocalEngine: OpenTestEngine = async (clock) => ({
  ports: openLocalPorts(':memory:', clock),
  start: startLocalCore,
  isQuiet: () => true,
})

let open = openLocalEngine

/** Has all test environments of this process run on another engine; for the project's own tests. */
export function useTestEngine(other: OpenTestEngine): void {
  open = other
}

export function testEngine(clock: Clock, chosen: OpenTestEngine = open): Promise<TestEngine> {
  return chosen(clock)
}
