import {
  closeSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { OperatingError } from '../../model/errors.ts'

/**
 * Replaces a file whole, readable by its owner only: a crash leaves the old content or the new, never a part. For one
 * process at a time. Its owner is our account, or the one that the directory is of. Throws UNAVAILABLE if it cannot be
 * written, or if something other than a file stands there: a device would become a file.
 */
export function writeAtomically(file: string, content: string, owner: 'us' | 'directory' = 'us'): void {
  // The same name each time: what a crash leaves of one is taken away by the next, and nothing that stands there is
  // written through.
  const unfinished = `${file}.tmp`
  try {
    requireFile(file)
    rmSync(unfinished, { force: true })
    writeFlushed(unfinished, content, owner)
    renameSync(unfinished, file)
  } catch (cause) {
    rmSync(unfinished, { force: true })
    throw writeError(`write ${file}`, cause)
  }
}

function requireFile(file: string): void {
  const there = lstatSync(file, { throwIfNoEntry: false })
  if (there !== undefined && !there.isFile() && !there.isSymbolicLink()) throw new Error('it is there and is no file')
}

function writeFlushed(file: string, content: string, owner: 'us' | 'directory'): void {
  const descriptor = openSync(file, 'wx', 0o600)
  try {
    if (owner === 'directory') giveToOwnerOf(dirname(file), descriptor)
    writeFileSync(descriptor, content)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function giveToOwnerOf(directory: string, descriptor: number): void {
  const { uid, gid } = statSync(directory)
  const us = process.getuid?.()
  if (us !== undefined && uid !== us) fchownSync(descriptor, uid, gid)
}

/** The content of a file, `undefined` if there is none. Throws UNAVAILABLE if it cannot be read. */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw writeError(`read ${file}`, error)
  }
}

function writeError(attempted: string, cause: unknown): OperatingError {
  return new OperatingError('UNAVAILABLE', `cannot ${attempted}: ${(cause as Error).message}`, { cause })
}
