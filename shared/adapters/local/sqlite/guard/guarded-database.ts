import { randomUUID } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { OperatingError } from '../../../../model/errors.ts'
import { equal } from '../../../../model/json.ts'
import {
  forgetOtherKeys,
  prepareSecrets,
  type PreparedSecrets,
  type SecretsOptions,
} from '../../secrets/prepare-secrets.ts'
import type { Sealing } from '../../secrets/sealing.ts'
import { putBackLeft } from '../leaving.ts'
import { DamagedDatabaseError, explainRefusal, openSqliteDatabase, type SqliteDatabase } from '../sqlite-database.ts'
import { isDamaged } from '../sqlite-errors.ts'
import { refuseStrange } from '../sqlite-schema.ts'
import {
  identifyFile,
  findInDatabase,
  findUnheld,
  findKey,
  findInFiles,
  findLeftLog,
  isUnendedRestore,
  nameMarkFile,
  restoreNotEnded,
  type Finding,
  type Identity,
  type Told,
} from './findings.ts'
import { openMarkFile, readMark, type Mark, type MarkFile, type ReadMark } from './mark-file.ts'
import { isHeldByProcess, readOnly } from './read-only.ts'
import { watchFiles, type FileNews } from './watched-files.ts'
import { nameLogFile, readLogState } from './write-ahead-log.ts'

export interface GuardOptions {
  /**
   * What a person answered to a refusal: `accept-loss` goes on with what is there; `as-copy` too, and nothing is
   * reconciled from then on, until `resume`.
   */
  readonly consent?: Consent | undefined
  /** Lets a copy act: its original does not run any more. */
  readonly resume?: boolean | undefined
  /** Files that are made after the database: if one is there, so was the database. */
  readonly witnesses?: readonly string[]
  /** Where the key is that encrypts the values of Secrets. Default: they are not encrypted. */
  readonly secrets?: SecretsOptions | undefined
  /**
   * The file was put back from a backup at this time. Its next resourceVersion is above those of every other database
   * that was put back from the same backup, and every object runs once: the world may have moved on since the backup.
   */
  readonly restoredAtMs?: number | undefined
  /** Between two notes of how far the database is. Default 1 s. */
  readonly markMs?: number
}

export type Consent = 'accept-loss' | 'as-copy'

/** A database beside which a mark tells how far it was written. */
export interface GuardedDatabase {
  readonly database: SqliteDatabase
  /** It is a copy, and must not act. */
  readonly isHeld: boolean
  readonly sealing: Sealing | undefined
  /** What was damaged beside the states, and was made anew from them. */
  readonly foundDamage: readonly string[]
  /** What a person said to go on with, in words: who says so at once has never read it. */
  readonly accepted: readonly string[]
  /** Notes from now on, once a second, how far the database is by what was given last. */
  follow(latest: () => number): void
  /** Is told of files that are taken away, and of what has been told to nobody so far. */
  listen(listener: (news: FileNews) => void): void
  /** Commits what waits, notes exactly how far that is, and lets the files go. */
  close(): void
}

/**
 * Opens the database if it is the one that was closed last, or killed, with all that was written into it. Throws
 * UNAVAILABLE, with a line that says what is missing and how to go on, if it is emptied, replaced, rolled back or
 * copied, or if its write-ahead log is lost, cut or damaged; its files stay as they are then.
 *
 * Not found: what was written in the last second before a kill, if the log ends there without a trace of more.
 */
export function openGuardedDatabase(file: string, options: GuardOptions = {}): GuardedDatabase {
  const { consent } = options
  putBackLeft(file)
  const known = readMark(nameMarkFile(file))
  refuseStrangeFile(file)
  const seen = look(file, known)
  const before = judge(file, known, { seen, options })
  // Another process may have stopped meanwhile, and put its log away behind the first look at its mark.
  if (before.length > 0 && !equal(readMark(nameMarkFile(file)), known)) return openGuardedDatabase(file, options)
  if (isUnendedRestore(known) && options.restoredAtMs === undefined) throw refuseUnended(file)
  if (before.length > 0 && consent === undefined) throw refusal(file, before)
  try {
    // Once it is opened for writing it could not be left as it is.
    if (isDamaged(seen)) throw explainRefusal(seen, file)
    return openFound(file, { known, before, options })
  } catch (error) {
    throw error instanceof DamagedDatabaseError ? nameLeftLog(error, file, known) : error
  }
}

/** What is damaged may be the log alone. */
function nameLeftLog(error: DamagedDatabaseError, file: string, known: ReadMark): DamagedDatabaseError {
  const found = findLeftLog(file, known)
  if (found.length === 0) return error
  return new DamagedDatabaseError(file, [error.says, ...found.map(({ says }) => says)].join('; '), error)
}

/** Another program's, or a newer version's: SQLite would put its log away, and its mark would not know of it. */
function refuseStrangeFile(file: string): void {
  const seen = existsSync(file) && readOnly(file, (connection) => refuseStrange(connection, file))
  if (seen instanceof OperatingError) throw seen
}

interface Found {
  readonly known: ReadMark
  readonly before: readonly Finding[]
  readonly options: GuardOptions
}

function openFound(file: string, { known, before, options }: Found): GuardedDatabase {
  const database = openSqliteDatabase(file)
  const start = findOpened(database, file, { known, before, options })
  try {
    return guarded({ file, database, options }, start)
  } catch (error) {
    database.close()
    if (before.length === 0) notePutAway(file, known, options)
    throw error
  }
}

function findOpened(database: SqliteDatabase, file: string, { known, before, options }: Found): Start {
  const { consent } = options
  try {
    const told = database.readNow(() => ask(database, known))
    // What could not be told before, as on a full disk.
    const findings = before.length > 0 ? before : findInside(file, known, { told, options })
    if (findings.length > 0 && consent === undefined) throw refusal(file, findings)
    return { known, told, findings, isAccepted: findings.length > 0 || consent === 'as-copy' }
  } catch (error) {
    database.leave()
    throw error
  }
}

/** With the close of what was refused SQLite has put the log away. The mark says so if nothing else is wrong. */
function notePutAway(file: string, known: ReadMark, options: GuardOptions): void {
  if (readLogState(nameLogFile(file)) !== 'none') return
  const told = lookInto(file, known)
  if (told === undefined || told === 'in use' || findInside(file, known, { told, options }).length > 0) return
  const now = readMark(nameMarkFile(file))
  // Another process may have opened and closed the database meanwhile: its mark says so already.
  if (typeof now === 'string' || now.state !== 'open') return
  const marks = openMarkFile(nameMarkFile(file))
  closeMark(marks, () => marks.write({ ...now, resourceVersion: told.resourceVersion, state: 'closed' }))
}

/** What speaks against a database before it is opened. */
export function findBefore(file: string, known: ReadMark, options: GuardOptions): readonly Finding[] {
  return judge(file, known, { seen: look(file, known), options })
}

interface Look {
  readonly seen: ReturnType<typeof look>
  readonly options: GuardOptions
}

function judge(file: string, known: ReadMark, { seen, options }: Look): readonly Finding[] {
  const inFiles = findInFiles(file, known, options.witnesses ?? [])
  // Who looks at the files of a running process sees things that are not so.
  if (seen === 'in use') return []
  if (seen === undefined || seen instanceof Error) return inFiles
  if (inFiles.length === 0) return findInside(file, known, { told: seen, options })
  return [...inFiles, ...findLostKey(seen, options)]
}

function findInside(
  file: string,
  known: ReadMark,
  { told, options }: { readonly told: Told; readonly options: GuardOptions },
): readonly Finding[] {
  const found = findInDatabase(file, known, told)
  // Who resumes it says what it is from now on, as one did who was killed before it was noted here.
  const findings = found.length > 0 || options.resume === true ? found : findUnheld(file, known, told)
  return [...findings, ...findLostKey(told, options)]
}

/** Told beside everything else: who goes on without the key loses all Secrets, whatever the copy or the loss was. */
function findLostKey(told: Told, { secrets }: GuardOptions): readonly Finding[] {
  return secrets === undefined ? [] : findKey(secrets.keyFile, told)
}

interface Guard {
  readonly file: string
  readonly database: SqliteDatabase
  readonly options: GuardOptions
}

interface Start {
  readonly known: ReadMark
  readonly told: Told
  readonly findings: readonly Finding[]
  /** Something is lost, or it is a copy, and a person said to go on. */
  readonly isAccepted: boolean
}

function guarded(guard: Guard, start: Start): GuardedDatabase {
  const marks = openMarkFile(nameMarkFile(guard.file))
  try {
    return guardedBy(marks, guard, start)
  } catch (error) {
    marks.close()
    throw error
  }
}

function guardedBy(marks: MarkFile, guard: Guard, found: Start): GuardedDatabase {
  const { file, database, options } = guard
  const start = { ...found, known: noteResumed(marks, found.known, options) }
  const place = identifyFile(statSync(file, { bigint: true }))
  const write = ({ database: name, starts, isHeld }: Identity, state: Mark['state'], resourceVersion: number): void =>
    marks.write({ ...place, database: name, starts, isHeld, resourceVersion, state })
  let next = nextIdentity(start, options)
  // Without an identity it is new, or older than marks are: nothing is demanded until it has one.
  if (start.known === 'missing' && start.told.identity === undefined) write(next, 'new', 0)
  const prepared = options.secrets && prepare(guard, start, options.secrets)
  const sealing = prepared?.sealing
  if (sealing !== undefined) next = { ...next, keyId: sealing.keyId }
  const identity = begin(guard, next, start)
  const { tell, listen } = createTeller()
  if (options.secrets !== undefined && prepared !== undefined) settleKeys(options.secrets, prepared, tell)
  let noted = start.told.resourceVersion
  // Where not even the start could be written, as on a full disk, nothing else was, and the mark stays true.
  if (identity === next) write(identity, 'open', (noted = ask(database).resourceVersion))

  let latest = (): number => noted
  let timer: NodeJS.Timeout | undefined
  const watched = watch(guard, sealing, tell)
  if (watched === undefined) {
    closeMark(marks, () => write(identity, 'closed', noted))
    throw new OperatingError('UNAVAILABLE', `${nameLogFile(file)} was removed while ${file} was opened: start again`)
  }
  const note = (): void => {
    try {
      database.refuseWrites(watched.look())
      if (latest() === noted) return
      write(identity, 'open', latest())
      noted = latest()
    } catch {
      // The next note says more.
    }
  }
  return {
    database,
    isHeld: identity.isHeld,
    sealing,
    foundDamage: database.foundDamage,
    accepted: start.findings.map(({ says }) => says),
    follow: (from) => {
      latest = from
      clearInterval(timer)
      timer = setInterval(note, options.markMs ?? 1_000).unref()
    },
    listen,
    close: () => {
      clearInterval(timer)
      watched.keepKey()
      database.flush()
      const last = Math.max(latest(), lastOf(database))
      closeMark(marks, () => write(identity, 'closed', last))
      database.close()
    },
  }
}

/**
 * The mark says ahead of the database that it is no copy any more: who is killed between the two has a copy as before,
 * and the other way round it would look like one that has forgotten that it is one.
 */
function noteResumed(marks: MarkFile, known: ReadMark, { resume }: GuardOptions): ReadMark {
  if (resume !== true || typeof known === 'string' || known.isHeld !== true) return known
  const resumed = { ...known, isHeld: false }
  marks.write(resumed)
  return resumed
}

/** Forgets the keys that no state needs, now that the database names the first, and tells of what needs another. */
function settleKeys(options: SecretsOptions, { keys, left }: PreparedSecrets, tell: (news: FileNews) => void): void {
  forgetOtherKeys(options, keys)
  const unread = left === 0 ? [] : [`states of Secrets that cannot be read, and were not encrypted anew: ${left}`]
  const name = basename(options.keyFile)
  const kept = keys.length === 1 ? [] : [`${name} keeps a key of before, for states of Secrets that cannot be read`]
  const says = [...unread, ...kept].join('; ')
  if (says !== '') tell({ level: 'warn', says })
}

/** The news of a process that has no log yet wait for it. */
function createTeller() {
  const waiting: FileNews[] = []
  let tell = (news: FileNews): void => void waiting.push(news)
  return {
    tell: (news: FileNews) => tell(news),
    listen: (listener: (news: FileNews) => void) => {
      tell = listener
      for (const news of waiting.splice(0)) listener(news)
    },
  }
}

function watch({ file, options }: Guard, sealing: Sealing | undefined, tell: (news: FileNews) => void) {
  const key = sealing && options.secrets && { file: options.secrets.keyFile, sealing }
  return watchFiles({ file, key, tell })
}

/** Encrypts what is not, or not with this key. What is changed so far stands in the database whole, not in its log. */
function prepare({ database, file }: Guard, { told, known }: Start, secrets: SecretsOptions): PreparedSecrets {
  const keyId = told.identity?.keyId
  if (typeof known !== 'string' && known.state === 'open') {
    const marks = openMarkFile(nameMarkFile(file))
    marks.write({ ...known, resourceVersion: told.resourceVersion, state: 'closed' })
    marks.close()
  }
  return database.readNow(() => prepareSecrets(database, secrets, keyId))
}

/** With what a commit left of which nobody was told. Less than anything if it cannot be read. */
function lastOf(database: SqliteDatabase): number {
  try {
    return ask(database).resourceVersion
  } catch {
    return 0
  }
}

/** Both places say it: damage to one is none. */
function closeMark(marks: MarkFile, write: () => void): void {
  try {
    write()
    write()
  } catch {
    // The next start finds no log where the mark says that there is one, and asks.
  }
  marks.close()
}

/** Which database it is from now on. One that lost something is another: what others know of it may be wrong. */
function nextIdentity({ told: { identity }, isAccepted }: Start, { consent, resume = false }: GuardOptions): Identity {
  const isHeld = !resume && (consent === 'as-copy' || (identity?.isHeld ?? false))
  const isSame = identity !== undefined && !isAccepted
  return {
    database: isSame ? identity.database : randomUUID(),
    starts: (identity?.starts ?? 0) + 1,
    isHeld,
    keyId: identity?.keyId,
  }
}

/**
 * Notes the start, so that the write-ahead log of a running database is never empty. Returns what the database is then:
 * what it was, if it only counts its start and cannot.
 */
function begin({ database, options }: Guard, next: Identity, { known, told, isAccepted }: Start): Identity {
  const { restoredAtMs } = options
  try {
    inTransaction(database, () => {
      if (isAccepted) loseHistory(database, Math.max(aboveAll(known, told), versionsPerMs * (restoredAtMs ?? 0)))
      if (restoredAtMs !== undefined) database.prepare("DELETE FROM checkpoints WHERE name = 'introduced'").run()
      database.prepare('DELETE FROM identity').run()
      database
        .prepare('INSERT INTO identity (database, starts, held, key_id) VALUES (?, ?, ?, ?)')
        .run(next.database, next.starts, Number(next.isHeld), next.keyId ?? null)
    })
    return next
  } catch (error) {
    const { identity } = told
    const isOnlyCounted = identity?.database === next.database && identity.isHeld === next.isHeld
    if (!isOnlyCounted || identity.keyId !== next.keyId) throw error
    return identity
  }
}

function inTransaction(database: SqliteDatabase, work: () => void): void {
  database.writeNow(() => {
    database.prepare('BEGIN IMMEDIATE').run()
    try {
      work()
      database.prepare('COMMIT').run()
    } catch (error) {
      rollBack(database)
      throw error
    }
  })
}

function rollBack(database: SqliteDatabase): void {
  try {
    database.prepare('ROLLBACK').run()
  } catch {
    // After some failures SQLite has done so itself.
  }
}

/** Who followed it has to look anew: its history and theirs may differ. */
function loseHistory(database: SqliteDatabase, resourceVersion: number): void {
  database.prepare('UPDATE horizon SET rv = ?').run(resourceVersion)
  database.prepare('DELETE FROM changes WHERE rv NOT IN (SELECT rv FROM heads)').run()
}

const bump = 1_000_000_000
/** More than a control plane writes in a millisecond, for as long as it runs. */
const versionsPerMs = 10

/** Above every resourceVersion that was given by what is lost. */
function aboveAll(known: ReadMark, { resourceVersion }: Told): number {
  return bump + Math.max(resourceVersion, typeof known === 'string' ? 0 : known.resourceVersion)
}

/**
 * What a database tells before it is opened for writing, which makes its files others: SQLite puts the log away when it
 * is closed. Undefined if it cannot be told yet.
 */
export function lookInto(file: string, known: ReadMark = 'missing'): Told | 'in use' | undefined {
  const seen = look(file, known)
  return seen instanceof Error ? undefined : seen
}

/** The same, with what hinders it. */
export function look(file: string, known: ReadMark = 'missing'): Told | 'in use' | undefined | Error {
  if (!existsSync(file)) return undefined
  const isLogDue = typeof known !== 'string' && known.state === 'open'
  // Without its log only the lock tells whether a process still has it.
  if (isLogDue && !existsSync(nameLogFile(file)) && isHeldByProcess(file)) return 'in use'
  return readOnly(file, (connection) => {
    const names = connection.prepare("SELECT name FROM sqlite_schema WHERE name IN ('identity', 'horizon')").all()
    return names.length === 2 ? ask(connection, known) : undefined
  })
}

function ask(database: Pick<SqliteDatabase, 'prepare'>, known: ReadMark = 'missing'): Told {
  const row = database.prepare('SELECT database, starts, held, key_id FROM identity').get()
  // As the log of changes counts: even the empty store is at 1.
  const last = 'SELECT max(1, rv, coalesce((SELECT max(rv) FROM changes), 0)) AS rv FROM horizon'
  const resourceVersion = Number(database.prepare(last).get()?.['rv'])
  const beyond = database.prepare('SELECT at_ms FROM changes WHERE rv > ? ORDER BY rv LIMIT 1')
  const newest = database.prepare('SELECT at_ms FROM changes ORDER BY rv DESC LIMIT 1')
  const firstMs = typeof known === 'string' ? undefined : beyond.get(known.resourceVersion)?.['at_ms']
  const aheadMs = firstMs === undefined ? 0 : Number(newest.get()?.['at_ms']) - Number(firstMs)
  if (row === undefined) return { identity: undefined, resourceVersion }
  const { database: name, starts, held, key_id: keyId } = row
  return {
    identity: {
      database: String(name),
      starts: Number(starts),
      isHeld: held === 1,
      keyId: (keyId as string | null) ?? undefined,
    },
    resourceVersion,
    aheadMs,
  }
}

function refuseUnended(file: string): OperatingError {
  const says = `${restoreNotEnded}: empty it, and restore again`
  return new OperatingError('UNAVAILABLE', `cannot use ${dirname(file)}: ${says}`)
}

function refusal(file: string, findings: readonly Finding[]): OperatingError {
  const said = findings.map(({ says }) => says).join('; ')
  const isLoss = findings.some(({ what }) => what === 'loss')
  const goOn = isLoss ? lossAdvice : copyAdvice
  return new OperatingError('UNAVAILABLE', `cannot use ${dirname(file)}: ${said}: ${goOn}`)
}

const lossAdvice =
  'put the files back as they were, or go on with what is there (--accept-loss; --as-copy if the original still runs)'
const copyAdvice =
  'if the original may run again, start with --as-copy: nothing is reconciled until --resume; if this takes its place, start with --accept-loss: what was written after it was copied is lost'
