import { readFileSync, writeFileSync } from 'node:fs'

/** Memory of a process that is resident now, in MB. Linux only. */
export function residentMb(pid: number): number {
  return statusMb(pid, 'VmRSS')
}

/** The most that was resident since `resetPeak`, in MB. */
export function peakMb(pid: number): number {
  return statusMb(pid, 'VmHWM')
}

/** The peak begins anew with what is resident now. */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

function statusMb(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1_024
}
