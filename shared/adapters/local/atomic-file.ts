import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'

/** Replaces a file whole, readable by its owner only: a crash leaves the old content or the new, never a part. */
export function writeAtomically(file: string, content: string): void {
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

/** The content of a file, `undefined` if there is none. */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
