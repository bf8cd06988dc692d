import { chmod, lstat, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The text of a file, or `undefined` when there is none. */
export async function readIfPresent(path: string): Promise<string | undefined> {
  return unlessAbsent(readFile(path, 'utf8'))
}

/** Whether there is anything of this name, a dangling symbolic link included. */
export async function exists(path: string): Promise<boolean> {
  return (await unlessAbsent(lstat(path))) !== undefined
}

/** The answer, or `undefined` when the file it asks about does not exist. */
export async function unlessAbsent<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

/** What comes in a file's place. */
export interface Replacement {
  readonly text: string
  /** Permissions, whatever the umask. */
  readonly mode: number
  /** Looks at the draft before it takes the file's place, and throws to keep it from doing so. */
  readonly prove?: (draft: string) => Promise<void>
}

/** Replaces a file as a whole: a crash at any moment leaves the old text or the new one. For one writer at a time. */
export async function replaceFile(path: string, { text, mode, prove }: Replacement): Promise<void> {
  const draft = `${path}.draft`
  try {
    await writeFile(draft, text, { flush: true })
    await chmod(draft, mode)
    await prove?.(draft)
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}

/** Makes the names in a directory survive a loss of power. */
export async function syncDirectory(path: string): Promise<void> {
  // Windows cannot open a directory; its file systems write names down in order.
  if (process.platform === 'win32') return
  const directory = await open(path)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/**
 * Makes a directory, and those above it, unless it is there. By hand, since `recursive` of Node 24 never returns where
 * a directory cannot be made and the system says ENOENT of it, as below /proc.
 */
export async function makeDirectory(path: string, mode?: number): Promise<void> {
  if (await isDirectory(path)) return
  await makeDirectory(dirname(path), mode)
  try {
    await mkdir(path, { mode })
  } catch (error) {
    // Somebody else may have been first.
    if (!(await isDirectory(path))) throw error
  }
}

async function isDirectory(path: string): Promise<boolean> {
  return (await unlessAbsent(stat(path)))?.isDirectory() ?? false
}

/** Makes a directory that everybody may enter, whatever the umask; missing parents get the usual mode. */
export async function makeOpenDirectory(path: string): Promise<void> {
  await makeDirectory(path)
  await chmod(path, 0o755)
}

/** Removes a directory with all that is in it, also while a dying program still writes to it. */
export async function removeTree(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
}

/** Whether the operating system refused with one of these codes (`ENOENT`, `EACCES` …). */
export function isSystemError(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
