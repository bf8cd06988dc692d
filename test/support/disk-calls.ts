import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { vi } from 'vitest'

/** What is synced and renamed while something runs, in order, by paths within a directory; and what stays open. */
export function recordDiskCalls(directory: string, run: () => void) {
  const opened = new Map<number, string>()
  const did: string[] = []
  const { openSync: open, fsyncSync: sync, renameSync: rename, closeSync: close } = fs
  vi.spyOn(fs, 'openSync').mockImplementation((path, ...more) => {
    const descriptor = open(path, ...more)
    opened.set(descriptor, String(path).replace(directory, ''))
    return descriptor
  })
  vi.spyOn(fs, 'fsyncSync').mockImplementation((descriptor) => {
    did.push(`sync ${opened.get(descriptor)}`)
    sync(descriptor)
  })
  vi.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
    did.push('rename')
    rename(from, to)
  })
  vi.spyOn(fs, 'closeSync').mockImplementation((descriptor) => {
    opened.delete(descriptor)
    close(descriptor)
  })
  syncBuiltinESMExports()
  try {
    run()
  } finally {
    vi.restoreAllMocks()
    syncBuiltinESMExports()
  }
  return { did, left: opened.size }
}
