import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ControlPlaneProcess } from '../support/control-plane-process.ts'
import type { SeededRandom } from '../../shared/testing/seeded-random.ts'
import { outsideOf } from './item.ts'

/** How far the clock of a control plane is ahead, beside its data: a restart does not put it right. */
function clockFileOf(dataDirectory: string): string {
  return join(dirname(dataDirectory), 'clock-ahead-ms')
}

/**
 * For the program: its clock stands where a file says, and is looked up when SIGUSR2 comes; and a file that may not
 * grow refuses a write, where the signal that comes with it would end the process.
 */
export function letBeShaken(dataDirectory: string): void {
  const file = clockFileOf(dataDirectory)
  const read = (): number => (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0)
  const realNow = Date.now.bind(Date)
  let aheadMs = read()
  Date.now = () => realNow() + aheadMs
  process.on('SIGUSR2', () => {
    aheadMs = read()
  })
  process.on('SIGXFSZ', () => {})
}

/** The clock jumps: mostly on, by up to an hour, and now and then back by seconds. */
export function jumpClock({ dataDirectory, process: { pid } }: ControlPlaneProcess, random: SeededRandom): void {
  const file = clockFileOf(dataDirectory)
  const aheadMs = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0
  const byMs = random.next() < 0.3 ? -5_000 * random.next() : 3_600_000 * random.next()
  writeFileSync(file, String(Math.max(0, Math.round(aheadMs + byMs))))
  process.kill(pid, 'SIGUSR2')
}

/** Whether the disk of a running process can be made full here. */
export function canFillDisk(): boolean {
  return spawnSync('prlimit', ['--version']).status === 0
}

/** For a while no file of the process may grow much: what it keeps fills up. The log of its runs has room. */
export async function fillDisk(plane: ControlPlaneProcess, random: SeededRandom): Promise<void> {
  const { runLog } = outsideOf(plane.dataDirectory)
  const room = (existsSync(runLog) ? statSync(runLog).size : 0) + roomBytes
  limitFiles(plane.process.pid, String(room))
  await sleep(1_000 + random.next() * 1_500)
  limitFiles(plane.process.pid, 'unlimited')
}

const roomBytes = 150_000

function limitFiles(pid: number, bytes: string): void {
  const { status, stderr } = spawnSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`prlimit: ${stderr}`)
}
