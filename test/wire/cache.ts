import { randomUUID } from 'node:crypto'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { runProgram } from '../support/program.ts'

/** Where peers of the wire tests are kept between runs: outside the tree, `SETPOINT_CACHE` or `~/.cache/setpoint`. */
const cacheDirectory = process.env['SETPOINT_CACHE'] ?? join(homedir(), '.cache', 'setpoint')

/** The directory of that name in the cache. */
export function cached(name: string): string {
  return join(cacheDirectory, name)
}

/**
 * Makes the directory unless it is there, whole or not at all. Of two who make it at once, the second throws its copy
 * away.
 */
export async function fetchOnce(name: string, make: (directory: string) => Promise<void>): Promise<void> {
  const directory = cached(name)
  if (existsSync(directory)) return
  const made = `${directory}.${randomUUID()}`
  try {
    await make(made)
    renameSync(made, directory)
  } catch (error) {
    if (!existsSync(directory)) throw error
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

/** Rejects with what was tried and what it said. */
export async function mustRun(file: string, args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await runProgram(file, args)
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${code}: ${(stdout + stderr).slice(-500)}`)
}
