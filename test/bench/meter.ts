import { availableParallelism } from 'node:os'
import { cpuMs, machineCpuMs } from './process-cpu.ts'

/** What so many changes took, and of whom. */
export interface Costs {
  readonly changes: number
  readonly perSecond: number
  /** CPU time of the server in µs for each change. */
  readonly serverUs: number
  /** The same of this process, the generator. */
  readonly generatorUs: number
  /** Share of one processor that the generator used: close to 1, it is the generator that was measured. */
  readonly generatorShare: number
  /** Share of the machine that was used by neither of the two: noise. */
  readonly othersShare: number
}

/** Starts a stretch of time; the function returned ends it. */
export function startMeter(serverPid: number): (changes: number) => Costs {
  const before = { server: cpuMs(serverPid), machine: machineCpuMs(), own: process.cpuUsage() }
  const startMs = performance.now()
  return (changes) => {
    const elapsedMs = performance.now() - startMs
    const serverMs = cpuMs(serverPid) - before.server
    const { user, system } = process.cpuUsage(before.own)
    const ownMs = (user + system) / 1000
    const othersMs = Math.max(0, machineCpuMs() - before.machine - serverMs - ownMs)
    return {
      changes,
      perSecond: (changes / elapsedMs) * 1000,
      serverUs: (serverMs / changes) * 1000,
      generatorUs: (ownMs / changes) * 1000,
      generatorShare: ownMs / elapsedMs,
      othersShare: othersMs / elapsedMs / availableParallelism(),
    }
  }
}
