import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { OperatingError } from '../../model/errors.ts'

/**
 * Replaces a file whole, readable by its owner only: a crash leaves the old content or the new, never a part. Throws UNAVAILABLE if it
 * cannot be written.
 */
export function writeAtomically(file: string, content: string): void {
  try {
    replace(file, content)
  } catch (cause) {
    throw refused(`write ${file}`, cause)
  }
}

function replace(file: string, content: string): void {
  const unfinished = `${file}.${process.pid}.tmp`
  const descriptor = openSync(unfinished, 'w', 0o600)
  try {
    writeFileSync(descriptor, content)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(unfinished, file)
}

/** The content of a file, `undefined` if there is none. Throws UNAVAILABLE if it cannot be read. */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw refused(`read ${file}`, error)
  }
}

function refused(attempted: string, cause: unknown): OperatingError {
  return new OperatingError('UNAVAILABLE', `cannot ${attempted}: ${(cause as Error).message}`, { cause })
}
