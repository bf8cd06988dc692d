import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { OperatingError } from '../model/errors.ts'

/** Makes a directory, and those above it, unless it is there. Throws UNAVAILABLE if it cannot be made. */
export function makeDataDirectory(directory: string, mode: number): void {
  try {
    makeWithParents(directory, mode)
  } catch (cause) {
    throw new OperatingError('UNAVAILABLE', `cannot make the data directory: ${(cause as Error).message}`, { cause })
  }
}

/** `recursive` of Node 24 never returns where a directory cannot be made and the system says ENOENT of it, as below /proc. */
function makeWithParents(directory: string, mode: number): void {
  if (isDirectory(directory)) return
  makeWithParents(dirname(directory), mode)
  mkdirSync(directory, { mode })
}

function isDirectory(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory()
}
