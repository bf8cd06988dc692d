import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { OperatingError } from '../../model/errors.ts'

/**
 * Makes a directory, and those above it, unless it is there. Throws UNAVAILABLE if it cannot be made, or is not ours.
 */
export function makeDataDirectory(directory: string, mode: number): void {
  try {
    makeWithParents(directory, mode)
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK)
    refuseAnothers(directory)
  } catch (cause) {
    const why = (cause as Error).message
    throw new OperatingError('UNAVAILABLE', `cannot use the data directory: ${why}; choose another (--data-dir)`, {
      cause,
    })
  }
}

/**
 * `recursive` of Node 24 never returns where a directory cannot be made and the system says ENOENT of it, as below
 * /proc.
 */
function makeWithParents(directory: string, mode: number): void {
  if (isDirectory(directory)) return
  makeWithParents(dirname(directory), mode)
  mkdirSync(directory, { mode })
}

/** Whoever made it could put a token of theirs there, or a link, for us to find. */
function refuseAnothers(directory: string): void {
  const us = process.getuid?.()
  if (us !== undefined && statSync(directory).uid !== us) throw new Error(`${directory} belongs to another account`)
}

function isDirectory(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory()
}
