import { PerformanceObserver } from 'node:perf_hooks'
import { bareSubject, queueSubject, quietSubject, writingSubject, type Subject } from './engine-subjects.ts'
import type { EngineFigure } from './engine.ts'

/**
 * A process that measures what the engine costs, and tells its parent. It is started with room for new objects that is
 * larger than all that a measurement makes, so that no garbage is collected meanwhile and the growth of the heap is
 * what was allocated.
 */
const { gc } = globalThis
if (gc === undefined) throw new Error('start me with --expose-gc')
let collections = 0
new PerformanceObserver((list) => {
  collections += list.getEntries().length
}).observe({ entryTypes: ['gc'] })

const timedRuns = 100_000
const countedRuns = 10_000

async function measure({ name, run }: Subject): Promise<EngineFigure> {
  await run(timedRuns)
  const us: number[] = []
  for (let rep = 0; rep < 5; rep++) us.push(await microseconds(run))
  return { name, us: Math.min(...us), bytes: await allocated(run) }
}

async function microseconds(run: Subject['run']): Promise<number> {
  const { user, system } = process.cpuUsage()
  await run(timedRuns)
  const after = process.cpuUsage()
  return (after.user + after.system - user - system) / timedRuns
}

async function allocated(run: Subject['run']): Promise<number> {
  gc?.()
  await run(1_000)
  gc?.()
  await new Promise((resolve) => setTimeout(resolve, 20))
  collections = 0
  const before = process.memoryUsage().heapUsed
  await run(countedRuns)
  const bytes = (process.memoryUsage().heapUsed - before) / countedRuns
  await new Promise((resolve) => setTimeout(resolve, 20))
  if (collections > 0) throw new Error(`garbage was collected ${collections} times: the figure would be too small`)
  return bytes
}

const figures: EngineFigure[] = []
for (const subject of [bareSubject(), queueSubject(), await quietSubject(), await writingSubject()])
  figures.push(await measure(subject))
process.send?.(figures)
process.disconnect?.()
process.exit(0)
