import { statSync, type BigIntStats } from 'node:fs'
import { basename } from 'node:path'
import { readKeyRing } from '../../secrets/key-ring.ts'
import type { Mark, ReadMark } from './mark-file.ts'
import { nameLogFile, readLogState, type LogState } from './write-ahead-log.ts'

/** What speaks against a database, in words for the one line that a person is told. */
export interface Finding {
  readonly what: 'loss' | 'copy'
  readonly says: string
}

/** What a database says of itself. */
export interface Told {
  /** Undefined: it was never opened with a mark beside it. */
  readonly identity: Identity | undefined
  readonly resourceVersion: number
  /** Between the first and the last change that the mark does not know of. */
  readonly aheadMs?: number
}

export interface Identity {
  readonly database: string
  readonly starts: number
  /** A copy of another, which must not act. */
  readonly isHeld: boolean
  /** With which its Secrets are encrypted. */
  readonly keyId: string | undefined
}

/** The number and the birth of a file. */
export type FileIdentity = Pick<Mark, 'inode' | 'bornNs'>

/** What a restore writes before it writes the database: of no database that there is. */
export const unendedRestore = { inode: '0', bornNs: '0', resourceVersion: 0, starts: 0, state: 'open' } as const

export function isUnendedRestore(mark: ReadMark): boolean {
  return typeof mark !== 'string' && mark.inode === unendedRestore.inode && mark.starts === unendedRestore.starts
}

/** What is said of it. */
export const restoreNotEnded = 'a restore into this directory has not ended'

/** Looks at the files alone, before SQLite opens them and makes them others. */
export function findInFiles(file: string, mark: ReadMark, witnesses: readonly string[]): readonly Finding[] {
  const name = basename(file)
  const stats = statSync(file, { throwIfNoEntry: false, bigint: true })
  const isThere = stats !== undefined && stats.size > 0n
  if (isUnendedRestore(mark)) return [loss(restoreNotEnded)]
  if (typeof mark !== 'string' && mark.state === 'new') return []
  if (!isThere) {
    const witness = witnesses.find((one) => statSync(one, { throwIfNoEntry: false })?.isFile())
    const there = mark === 'missing' ? witness && basename(witness) : markName(file)
    const how = stats === undefined ? 'is missing' : 'is empty'
    return there === undefined ? [] : [loss(`${name} ${how}, though its ${there} is there`)]
  }
  if (mark === 'damaged') return [loss(`${markName(file)} is damaged: whether changes are lost cannot be told`)]
  if (mark === 'missing') return []
  return [...findCopy(name, mark, identifyFile(stats)), ...findInLog(file, mark)]
}

/** What can be told once the database is open. */
export function findInDatabase(file: string, mark: ReadMark, told: Told): readonly Finding[] {
  const found = findInTold(file, mark, told)
  return found.length === 0 ? [] : [...found, ...findLeftLog(file, mark)]
}

/**
 * A log of a database that was closed. One is left by who was killed while it closed, and by a full disk; so it speaks
 * against a database only together with what does.
 */
export function findLeftLog(file: string, mark: ReadMark): readonly Finding[] {
  if (typeof mark === 'string' || mark.state !== 'closed' || readLogState(nameLogFile(file)) === 'none') return []
  const says = `${basename(file)}-wal is there, though ${markName(file)} says that it was put away`
  return [loss(`${says} (move it elsewhere if it is an older one)`)]
}

function findInTold(
  file: string,
  mark: ReadMark,
  { identity, resourceVersion, aheadMs = 0 }: Told,
): readonly Finding[] {
  const name = basename(file)
  if (typeof mark === 'string') {
    if (identity === undefined || mark === 'damaged') return []
    return [loss(`${markName(file)} is missing: whether changes are lost cannot be told`)]
  }
  const older = loss(`${markName(file)} is older than ${name}: whether changes are lost cannot be told`)
  if (mark.state === 'new') return identity !== undefined && identity.starts > 1 ? [older] : []
  if (identity?.database !== mark.database)
    return [loss(`${name} is another database than the one that ${markName(file)} is of`)]
  if (resourceVersion < mark.resourceVersion)
    return [loss(`${name} ends at resourceVersion ${resourceVersion}, and ${mark.resourceVersion} was written`)]
  if (identity.starts < mark.starts) return [loss(`${name} is of start ${identity.starts}, not ${mark.starts}`)]
  return isOlder(mark, identity, { resourceVersion, aheadMs }) ? [older] : []
}

/** The mark is written once a second; a machine may be slow, or stand still. */
const lagMsMax = 60_000

/**
 * Whether no process left this mark beside a database that is so far. A process that was killed leaves one that lags
 * by what it wrote in a second. One that was killed while it started has noted its start in the database, and not yet
 * here.
 */
function isOlder(
  mark: Mark,
  { starts }: Identity,
  { resourceVersion, aheadMs }: Required<Pick<Told, 'resourceVersion' | 'aheadMs'>>,
): boolean {
  const isBehind = mark.state === 'closed' ? resourceVersion > mark.resourceVersion : aheadMs > lagMsMax
  return starts > mark.starts + 1 || isBehind
}

/** Whether it has forgotten that it is a copy: what it did would be done twice. */
export function findUnheld(file: string, mark: ReadMark, { identity }: Told): readonly Finding[] {
  if (typeof mark === 'string' || mark.isHeld !== true || identity?.isHeld !== false) return []
  return [loss(`${basename(file)} says that it is no copy, and ${markName(file)} that it is one`)]
}

function findInLog(file: string, { state }: Mark): readonly Finding[] {
  if (state !== 'open') return []
  const log = readLogState(nameLogFile(file))
  const name = `${basename(file)}-wal`
  return log === 'none'
    ? [loss(`${name} is missing or empty, which holds the last changes unless another program put them away`)]
    : describeLog(name, log)
}

/** What is damaged in the log of a database without a mark, as a backup. */
export function findInOwnLog(file: string): readonly Finding[] {
  return describeLog(`${basename(file)}-wal`, readLogState(nameLogFile(file)))
}

function describeLog(name: string, log: LogState): readonly Finding[] {
  switch (log) {
    case 'unreadable':
      return [loss(`${name} is damaged at its head, and holds the last changes`)]
    case 'broken':
      return [loss(`${name} is damaged: what was written behind the damage cannot be read`)]
    case 'none':
    case 'whole':
      return []
  }
}

function findCopy(name: string, mark: Mark, there: FileIdentity): readonly Finding[] {
  if (isSameFile(mark, there)) return []
  return [{ what: 'copy', says: `${name} is a copy of the file that was started last` }]
}

function isSameFile(one: FileIdentity, other: FileIdentity): boolean {
  if (one.inode !== other.inode) return false
  return one.bornNs === '0' || other.bornNs === '0' || one.bornNs === other.bornNs
}

/** Where a file system tells no birth, Node says the time of the last change, or nothing. */
export function identifyFile({ ino, birthtimeNs, ctimeNs }: BigIntStats): FileIdentity {
  return { inode: String(ino), bornNs: String(birthtimeNs === ctimeNs ? 0n : birthtimeNs) }
}

/** Whether the Secrets of a database can be read. */
export function findKey(keyFile: string, { identity }: Told): readonly Finding[] {
  if (identity?.keyId === undefined) return []
  const keys = readKeyRing(keyFile)
  const name = basename(keyFile)
  if (typeof keys === 'string') return [loss(`${name} is ${keys}: the Secrets cannot be decrypted`)]
  return keys.some(({ id }) => id === identity.keyId)
    ? []
    : [loss(`${name} holds another key than the one of the Secrets`)]
}

function loss(says: string): Finding {
  return { what: 'loss', says }
}

function markName(file: string): string {
  return basename(nameMarkFile(file))
}

/** Where the mark of a database stands. */
export function nameMarkFile(file: string): string {
  return file.replace(/(\.db)?$/, '.mark')
}
