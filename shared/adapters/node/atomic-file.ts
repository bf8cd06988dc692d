import {
  closeSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { randomBytes } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { OperatingError } from '../../model/errors.ts'

/**
 * Replaces a file whole, readable by its owner only: a crash leaves the old content or the new, never a part, and so do
 * processes that write it at the same time. It is on disk when this returns, its name too. Its owner is our account, or
 * the one that the directory is of. Throws UNAVAILABLE if it cannot be written, or if something other than a file
 * stands there: a device would become a file.
 */
export function writeAtomically(file: string, content: string | Uint8Array, owner: 'us' | 'directory' = 'us'): void {
  // Nothing that stands there is written through.
  const unfinished = nameUnfinished(file)
  try {
    requireFile(file)
    for (const left of leftOf(file)) rmSync(left, { force: true })
    writeFlushed(unfinished, content, owner)
    renameSync(unfinished, file)
    flushDirectory(dirname(file))
  } catch (cause) {
    rmSync(unfinished, { force: true })
    throw writeError(`write ${file}`, cause)
  }
}

/** A new name beside a file, for what becomes the file once it is whole. `leftOf` finds it after a crash. */
export function nameUnfinished(file: string): string {
  return unfinishedName(file, `${process.pid}.${randomBytes(4).toString('hex')}`)
}

/**
 * Each write has its own: none puts in place what another has not finished. The number of the process is not enough,
 * because the first process of every container has the same.
 */
function unfinishedName(file: string, writer: string): string {
  return `${file}.${writer}.tmp`
}

/** What crashes left unfinished. */
export function leftOf(file: string): readonly string[] {
  const [start, end] = unfinishedName(basename(file), ' ').split(' ') as [string, string]
  return namesIn(dirname(file))
    .filter((name) => name.startsWith(start) && name.endsWith(end))
    .map((name) => ({ writer: name.slice(start.length, -end.length), path: join(dirname(file), name) }))
    .filter(({ writer, path }) => isLeft(writer) && isOld(path))
    .map(({ path }) => path)
}

/** Where nobody may look, what crashes left stays. */
function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

/** Of a process that has ended here, or of one with our number; an earlier version wrote the number alone. */
function isLeft(writer: string): boolean {
  const [, pid] = /^([1-9]\d{0,9})(?:\.[\da-f]{8})?$/.exec(writer) ?? []
  return pid !== undefined && (Number(pid) === process.pid || !isRunning(Number(pid)))
}

/** No write takes so long. A younger one may be of a process in another container, whose number says nothing here. */
const writeMsMax = 600_000

function isOld(path: string): boolean {
  const writtenMs = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity
  return Date.now() - writtenMs > writeMsMax
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

function requireFile(file: string): void {
  const there = lstatSync(file, { throwIfNoEntry: false })
  if (there !== undefined && !there.isFile() && !there.isSymbolicLink()) throw new Error('it is there and is no file')
}

function writeFlushed(file: string, content: string | Uint8Array, owner: 'us' | 'directory'): void {
  const descriptor = openSync(file, 'wx', 0o600)
  try {
    if (owner === 'directory') giveToOwnerOf(dirname(file), descriptor)
    writeFileSync(descriptor, content)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** A directory that the system, or its owner, lets nobody open is left to the system. */
export function flushDirectory(directory: string): void {
  let descriptor
  try {
    descriptor = openSync(directory, 'r')
  } catch (error) {
    if (['EACCES', 'EPERM', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return
    throw error
  }
  try {
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
