import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { readKeyRing } from '../../secrets/key-ring.ts'
import type { Sealing } from '../../secrets/sealing.ts'
import { nameLogFile } from './write-ahead-log.ts'

/** What a person should know of the files of a running process, for the log. */
export interface FileNews {
  readonly level: 'info' | 'warn' | 'error'
  readonly says: string
}

export interface WatchedFiles {
  /** Why nothing may be written from now on; undefined if it may. Tells what has changed since the look before. */
  look(): string | undefined
  /** Looks at the key alone. */
  keepKey(): string | undefined
}

export interface FilesToWatch {
  readonly file: string
  readonly key?: WatchedKey | undefined
  readonly tell: (news: FileNews) => void
}

/** Where the key is, and who has it in memory. */
export interface WatchedKey {
  readonly file: string
  readonly sealing: Sealing
}

/**
 * What is written into a file that was taken away is gone when the process ends, whatever stands in its place. A key
 * that was taken away is written again. Undefined if a file is gone already.
 */
export function watchFiles({ file, key, tell }: FilesToWatch): WatchedFiles | undefined {
  const database = watchPlace(file)
  const log = watchPlace(nameLogFile(file))
  if (database === undefined || log === undefined) return undefined
  const keepKey = key && watchKey(key, tell)
  const name = basename(file)
  let before: string | undefined
  return {
    look: () => {
      const lost = database() ? (log() ? undefined : adviceOnLog(name)) : adviceOnDatabase(name)
      const why = [lost, keepKey?.()].filter((one) => one !== undefined).join('; ') || undefined
      if (why !== undefined && why !== before) tell({ level: 'error', says: `nothing can be written: ${why}` })
      if (why === undefined && before !== undefined)
        tell({ level: 'info', says: 'the files are in their place again: writes are taken' })
      return (before = why)
    },
    keepKey: () => keepKey?.(),
  }
}

function adviceOnDatabase(name: string): string {
  return `${name} is not in its place: put it back before the process ends, which loses everything else`
}

function adviceOnLog(name: string): string {
  return `${name}-wal is not in its place: put it back, or stop with SIGTERM, which loses nothing; kill -9 loses the last changes`
}

/** Whether the same file still stands there; undefined if none does now. */
function watchPlace(path: string): (() => boolean) | undefined {
  const number = numberOf(path)
  return number === undefined ? undefined : () => numberOf(path) === number
}

/** By which the file system knows a file, under whatever name; undefined if there is none. */
function numberOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino
}

/** Reads the file again only where it is another one than at the look before. */
function watchKey({ file, sealing }: WatchedKey, tell: FilesToWatch['tell']): () => string | undefined {
  const name = basename(file)
  let whole: string | undefined
  const keep = (): string | undefined => {
    const now = stampOf(file)
    if (now !== undefined && now === whole) return undefined
    const keys = readKeyRing(file)
    if (typeof keys !== 'string' && !keys.some(({ id }) => id === sealing.keyId))
      return `${name} holds another key than the one of the Secrets: remove it, and the key is written again`
    if (typeof keys === 'string') {
      sealing.writeKeys(file)
      tell({ level: 'warn', says: `${name} was ${keys} while the process ran: it was written again` })
    }
    whole = stampOf(file)
    return undefined
  }
  return () => {
    try {
      return keep()
    } catch (error) {
      return `the key of the Secrets is lost when the process ends: ${(error as Error).message}`
    }
  }
}

/** Another one whenever the file was changed; undefined if there is none. */
function stampOf(file: string): string | undefined {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
  return stats && [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(' ')
}
