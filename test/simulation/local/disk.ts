import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * The directory in which one process after the other keeps its file. It lies in memory. A crash takes a copy of the
 * files as they are in that moment, which the next process finds; what the dead one still does reaches nobody.
 */
export interface Disk {
  /** Nobody has the file open yet. */
  fill(content: Uint8Array): void
  /** The database of the process that runs, or of the next one. */
  file(): string
  /** How long its write-ahead log is. */
  logBytes(): number
  /** The file itself, into which checkpoints write what the log has. */
  pages(): Buffer
  /** The next process finds the write-ahead log up to here; left out, as it is. */
  crash(logBytes?: number): void
  remove(): void
}

const memory = '/dev/shm'
const name = 'setpoint.db'

export function createDisk(): Disk {
  const root = mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), 'setpoint-simulation-'))
  let lives = 0
  const directory = (): string => join(root, String(lives))
  const log = (): string => join(directory(), `${name}-wal`)
  mkdirSync(directory())

  return {
    fill: (content) => writeFileSync(join(directory(), name), content),
    file: () => join(directory(), name),
    logBytes: () => statSync(log(), { throwIfNoEntry: false })?.size ?? 0,
    pages: () => readFileSync(join(directory(), name)),
    crash: (logBytes) => {
      const before = directory()
      lives++
      mkdirSync(directory())
      for (const file of readdirSync(before)) copyFileSync(join(before, file), join(directory(), file))
      if (logBytes !== undefined && existsSync(log())) truncateSync(log(), logBytes)
      // Whoever has a file open keeps it.
      rmSync(before, { recursive: true })
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}
