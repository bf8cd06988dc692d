import { readdirSync, readFileSync } from 'node:fs'

/** CPU time that a process has used, all its threads and both modes, in ms. Linux only; the clock ticks at 100 Hz. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  // The name, in parentheses, may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** The same to the nanosecond, in µs, of a process whose threads stay. Linux only. */
export function exactCpuUs(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + threadCpuUs(pid, Number(thread)), 0)
}

/** Of one thread, the main one if none is named. Exact while it waits. */
export function threadCpuUs(pid: number, thread = pid): number {
  const [onProcessor = ''] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ', 1)
  return Number(onProcessor) / 1_000
}

/** CPU time that all processes have used, in ms. */
export function machineCpuMs(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0] = readFileSync('/proc/stat', 'latin1')
    .slice('cpu '.length, 200)
    .trim()
    .split(/\s+/, 8)
    .map(Number)
  return (user + nice + system + irq + softIrq) * 10
}
