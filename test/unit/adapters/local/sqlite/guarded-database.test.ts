import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readKeyRing } from '../../../../../shared/adapters/local/secrets/key-ring.ts'
import { identifyFile } from '../../../../../shared/adapters/local/sqlite/guard/findings.ts'
import {
  lookInto,
  openGuardedDatabase,
  type GuardedDatabase,
  type GuardOptions,
} from '../../../../../shared/adapters/local/sqlite/guard/guarded-database.ts'
import { openMarkFile, readMark, type Mark } from '../../../../../shared/adapters/local/sqlite/guard/mark-file.ts'
import { isHeldByProcess, readOnly } from '../../../../../shared/adapters/local/sqlite/guard/read-only.ts'
import type { FileNews } from '../../../../../shared/adapters/local/sqlite/guard/watched-files.ts'
import { createSqliteChangeLog } from '../../../../../shared/adapters/local/sqlite/sqlite-change-log.ts'
import { openSqliteDatabase } from '../../../../../shared/adapters/local/sqlite/sqlite-database.ts'
import { createSqliteStore } from '../../../../../shared/adapters/local/sqlite/sqlite-store.ts'
import { storedWidget } from '../../../../support/stored-object.ts'
import { openFilesIn } from '../../../../support/open-files.ts'
import { temporaryDirectory, type TemporaryDirectory } from '../../../../support/temporary-directory.ts'

/** Nothing here is about the disk, and each write into it takes milliseconds. */
const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

let directory: TemporaryDirectory
let file: string
let opened: GuardedDatabase[]
beforeEach(() => {
  directory = temporaryDirectory('guard', parent)
  file = at('a.db')
  opened = []
})
afterEach(() => {
  vi.useRealTimers()
  for (const one of opened) one.close()
  directory[Symbol.dispose]()
})

const at = (name: string): string => join(directory.path, name)
const secrets = {
  get keyFile() {
    return at('secrets.key')
  },
}

function start(options: GuardOptions = {}, path = file): GuardedDatabase {
  const one = openGuardedDatabase(path, options)
  const close = (): void => {
    opened = opened.filter((other) => other.close !== close)
    one.close()
  }
  opened.push({ ...one, close })
  return { ...one, close }
}

/** Opened and closed in order. */
function run(options: GuardOptions = {}, path = file): boolean {
  const one = start(options, path)
  one.close()
  return one.isHeld
}

function markNow(): Mark {
  const mark = readMark(at('a.mark'))
  if (typeof mark === 'string') throw new Error(mark)
  return mark
}

function writeMark(change: Partial<Mark>): void {
  const marks = openMarkFile(at('a.mark'))
  marks.write({ ...markNow(), ...change })
  marks.close()
}

function raw(sql: string, path = file): readonly unknown[] {
  using database = new DatabaseSync(path)
  return sql.startsWith('SELECT') ? database.prepare(sql).all() : [database.exec(sql)]
}

const standing = { nowMs: () => 0, sleep: async () => {} }

const openHere = (): readonly string[] => openFilesIn(directory.path)

/** A database's, in the order of their names; the mark beside it is another one's. */
function filesOf(name: string): readonly string[] {
  return readdirSync(directory.path)
    .filter((one) => one.startsWith(name))
    .toSorted()
}

async function write({ database }: GuardedDatabase, name: string): Promise<() => number> {
  const changeLog = createSqliteChangeLog({ database, clock: standing })
  await createSqliteStore({ database, changeLog }).create(storedWidget(name))
  return changeLog.latest
}

const identityNow = () => lookInto(file)

describe('a start', () => {
  it('counts itself, of the same database, and marks how far it is', async () => {
    const first = start()
    const { database } = markNow()
    expect(markNow()).toMatchObject({ state: 'open', starts: 1, resourceVersion: 1 })
    expect(markNow().inode).toBe(String(statSync(file).ino))
    first.follow(await write(first, 'a'))
    first.close()
    expect(markNow()).toMatchObject({ database, state: 'closed', starts: 1, resourceVersion: 2 })
    run()
    expect(markNow()).toMatchObject({ database, state: 'closed', starts: 2, resourceVersion: 2 })
    expect(identityNow()).toEqual({
      identity: { database, starts: 2, isHeld: false, keyId: undefined },
      resourceVersion: 2,
      aheadMs: 0,
    })
  })

  it('marks which file it is: by its number, and by its birth where that is told', () => {
    run()
    const there = () => identifyFile(statSync(file, { bigint: true }))
    // A file that was changed in the moment of its birth looks as if none were told.
    for (const endMs = performance.now() + 1_000; there().bornNs === '0' && performance.now() < endMs;)
      utimesSync(file, 1, 1)
    run()
    expect(markNow()).toMatchObject(there())
  })

  it('says in both places of the mark that it was closed', () => {
    run()
    expect(readFileSync(at('a.mark'), 'utf8').match(/"state":"closed"/g)).toHaveLength(2)
  })

  it('notes how far it is when that has changed, and when it closes', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const one = start()
    let latest = 1
    one.follow(() => latest)
    const { mtimeNs } = statSync(at('a.mark'), { bigint: true })
    vi.advanceTimersByTime(5_000)
    expect(statSync(at('a.mark'), { bigint: true }).mtimeNs).toBe(mtimeNs)
    latest = 7
    vi.advanceTimersByTime(999)
    expect(markNow()).toMatchObject({ state: 'open', resourceVersion: 1 })
    vi.advanceTimersByTime(1)
    expect(markNow()).toMatchObject({ state: 'open', resourceVersion: 7 })
    latest = 8
    one.close()
    expect([markNow().resourceVersion, vi.getTimerCount()]).toEqual([8, 0])
  })

  it('notes it by what was given last, and nothing once it is closed', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const one = start()
    for (const latest of [7, 8]) one.follow(() => latest)
    vi.advanceTimersByTime(1_000)
    expect([markNow().resourceVersion, vi.getTimerCount()]).toEqual([8, 1])
    one.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('notes it as often as it is told to', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    start({ markMs: 10 }).follow(() => 7)
    vi.advanceTimersByTime(10)
    expect(markNow().resourceVersion).toBe(7)
  })

  it('commits what waits when it closes, and lets the files go', async () => {
    const one = start()
    one.follow(await write(one, 'a'))
    const changeLog = createSqliteChangeLog({ database: one.database, clock: standing })
    one.follow(changeLog.latest)
    void createSqliteStore({ database: one.database, changeLog }).create(storedWidget('b'))
    one.close()
    expect(raw('SELECT max(rv) AS rv FROM changes')).toEqual([{ rv: 3 }])
    expect(markNow()).toMatchObject({ state: 'closed', resourceVersion: 3 })
    expect(readdirSync(directory.path).toSorted()).toEqual(['a.db', 'a.mark'])
    expect(openHere()).toEqual([])
  })

  it('of a database that never had a mark demands nothing of it', () => {
    openSqliteDatabase(file).close()
    run()
    expect(markNow()).toMatchObject({ state: 'closed', starts: 1 })
  })

  it('is refused while another one has the file', () => {
    start()
    expect(() => start()).toThrow('another process holds it')
  })
})

describe('a person’s answer', () => {
  const lost = (): void => {
    run()
    rmSync(file)
  }
  const copied = (): void => {
    run()
    copyFileSync(file, at('b.db'))
    copyFileSync(at('a.mark'), at('b.mark'))
    file = at('b.db')
  }

  it('is asked for where something is lost, and where this is a copy', () => {
    lost()
    expect(() => start()).toThrow(
      `cannot use ${directory.path}: a.db is missing, though its a.mark is there: put the files back as they were, or go on`,
    )
    expect(existsSync(file)).toBe(false)
    writeFileSync(file, '')
    expect(() => start()).toThrow('a.db is empty, though its a.mark is there: put the files back')
  })

  it('is asked for where this is a copy', () => {
    copied()
    expect(() => start()).toThrow(
      'b.db is a copy of the file that was started last: if the original may run again, start with --as-copy',
    )
  })

  it.each<[() => unknown, GuardOptions, boolean, boolean]>([
    [lost, { consent: 'accept-loss' }, false, true],
    [lost, { consent: 'as-copy' }, true, true],
    [copied, { consent: 'accept-loss' }, false, true],
    [copied, { consent: 'as-copy' }, true, true],
    [run, { consent: 'accept-loss' }, false, false],
    [run, { consent: 'as-copy' }, true, true],
    [copied, { consent: 'as-copy', resume: true }, false, true],
  ])('makes it another database that is held or not: %#', (make, options, isHeld, isAnother) => {
    make()
    const before = readMark(file.replace('.db', '.mark')) as Mark
    expect(run(options)).toBe(isHeld)
    const { identity, resourceVersion } = lookInto(file) as Exclude<ReturnType<typeof lookInto>, 'in use' | undefined>
    expect(identity?.database !== before.database).toBe(isAnother)
    expect(identity?.isHeld).toBe(isHeld)
    expect(resourceVersion).toBe(isAnother ? 1_000_000_001 : 1)
    expect(run()).toBe(isHeld)
    expect(run({ resume: true })).toBe(false)
    expect(run()).toBe(false)
  })

  it('loses what others know of it, and keeps what is present', async () => {
    const first = start()
    first.follow(await write(first, 'a'))
    first.close()
    raw(
      "INSERT INTO changes SELECT 1, 99, kind, at_ms, NULL, written, 'removed', touched, engine, doc, sum FROM changes",
    )
    writeFileSync(at('a.mark'), readFileSync(at('a.mark')).fill('x'))
    expect(() => start()).toThrow('a.mark is damaged')
    run({ consent: 'accept-loss' })
    expect(raw('SELECT rv FROM changes')).toEqual([{ rv: 2 }])
    expect(raw('SELECT rv FROM horizon')).toEqual([{ rv: 1_000_000_002 }])
  })

  it('that is refused leaves the files as they are', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const running = start()
    running.follow(() => 50)
    vi.advanceTimersByTime(1_000)
    const names = ['a.db', 'a.db-wal', 'a.mark']
    const contents = (): Buffer[] => names.map((name) => readFileSync(at(name)))
    const killed = contents()
    running.close()
    for (const [i, name] of names.entries()) writeFileSync(at(name), killed[i] ?? '')
    expect(() => start()).toThrow('a.db ends at resourceVersion 1, and 50 was written')
    expect(readdirSync(directory.path).toSorted()).toEqual(names)
    expect(contents()).toEqual(killed)
  })

  it('goes on above what the mark knows of', async () => {
    const first = start()
    first.follow(() => 50)
    first.close()
    expect(() => start()).toThrow('a.db ends at resourceVersion 1, and 50 was written')
    run({ consent: 'accept-loss' })
    expect(lookInto(file)).toMatchObject({ resourceVersion: 1_000_000_050 })
  })
})

it.each([
  [undefined, true, 1_000_000_001],
  [1_000, false, 1_000_000_001],
  [1_000_000_000, false, 10_000_000_000],
])(
  'put back from a backup at %s introduces its objects anew, above all others of it',
  (restoredAtMs, stays, version) => {
    openSqliteDatabase(file).close()
    raw("INSERT INTO checkpoints VALUES ('introduced', '1', 0, NULL), ('other', '1', 0, NULL)")
    run({ consent: 'as-copy', restoredAtMs })
    expect(raw('SELECT name FROM checkpoints ORDER BY 1')).toEqual([
      ...(stays ? [{ name: 'introduced' }] : []),
      { name: 'other' },
    ])
    expect(lookInto(file)).toMatchObject({ resourceVersion: version })
  },
)

describe('a start that cannot be written', () => {
  const hinder = (how: 'ABORT' | 'ROLLBACK'): void => {
    run({ secrets })
    raw(`CREATE TRIGGER full BEFORE DELETE ON identity BEGIN SELECT RAISE(${how}, 'full'); END`)
  }

  it.each(['ABORT', 'ROLLBACK'] as const)('reads what is there, and writes when it can again: %s', async (how) => {
    hinder(how)
    const before = markNow()
    const one = start({ secrets })
    expect(markNow()).toEqual(before)
    expect(one.isHeld).toBe(false)
    one.database.prepare('DROP TRIGGER full').run()
    one.follow(await write(one, 'a'))
    one.close()
    expect(markNow()).toMatchObject({ state: 'closed', starts: 1, resourceVersion: 2 })
  })

  it.each<[string, GuardOptions]>([
    ['is another database', { consent: 'as-copy' }],
    ['has another key', { secrets: { keyFile: '' } }],
    ['is held no more', { resume: true }],
  ])('is none where it %s from then on', (_what, options) => {
    run({ secrets, consent: options.resume === true ? 'as-copy' : undefined })
    hinder('ABORT')
    const rotated = options.secrets === undefined ? secrets : { ...secrets, keyFile: secrets.keyFile, rotateKey: true }
    expect(() => start({ ...options, secrets: rotated })).toThrow('full')
    // The file was let go.
    raw('DROP TRIGGER full')
    expect(run({ ...options, secrets })).toBe(options.consent === 'as-copy')
    expect(readKeyRing(secrets.keyFile)).toHaveLength(1)
  })
})

describe('Secrets', () => {
  it('are sealed with a key that the database names from then on', () => {
    expect(start().sealing).toBeUndefined()
    for (const one of opened) one.close()
    const { sealing, close } = start({ secrets })
    close()
    expect(lookInto(file)).toMatchObject({ identity: { keyId: sealing?.keyId } })
    expect(start({ secrets }).sealing?.keyId).toBe(sealing?.keyId)
  })

  it('that cannot be sealed yet hinder the first start, and no later one', () => {
    for (let i = 0; i < 2; i++) {
      expect(() => start({ secrets: { keyFile: at('none/secrets.key') } })).toThrow('cannot write')
      expect(markNow()).toMatchObject({ state: 'new', resourceVersion: 0, starts: 1 })
    }
    expect(run({ secrets })).toBe(false)
  })

  it('without their key speak against a start that would seal', () => {
    run({ secrets })
    rmSync(at('secrets.key'))
    expect(() => start({ secrets })).toThrow('secrets.key is missing: the Secrets cannot be decrypted')
    expect(run()).toBe(false)
  })

  it('that are sealed anew stand in the file whole: the mark says so before, and a kill meanwhile loses nothing', () => {
    run()
    const killed = start()
    for (const end of ['', '-wal']) copyFileSync(file + end, at(`k.db${end}`))
    copyFileSync(at('a.mark'), at('k.mark'))
    killed.close()
    for (const name of ['k.db', 'k.db-wal', 'k.mark']) writeFileSync(at(name.replace('k', 'a')), readFileSync(at(name)))
    expect(markNow().state).toBe('open')
    // The key cannot be written.
    const states: string[] = []
    const missing = {
      get keyFile() {
        states.push(markNow().state)
        return at('none/secrets.key')
      },
    }
    expect(() => start({ secrets: missing })).toThrow('cannot write')
    expect([states[0], states.at(-1)]).toEqual(['open', 'closed'])
    expect(openHere()).toEqual([])
    expect(markNow()).toMatchObject({ state: 'closed', resourceVersion: 1 })
    expect(run({ secrets })).toBe(false)
    expect(openHere()).toEqual([])
  })
})

describe('what is told before it is opened', () => {
  it('is nothing of what is not there, no database, or another program’s', () => {
    expect(lookInto(file)).toBeUndefined()
    writeFileSync(file, 'no database'.repeat(100))
    expect(lookInto(file)).toBeUndefined()
    rmSync(file)
    raw('CREATE TABLE identity (x)')
    expect(lookInto(file)).toBeUndefined()
  })

  it('is that a process has it', () => {
    start()
    expect(lookInto(file)).toBe('in use')
  })

  it('is what an earlier layout could not, once it is opened', () => {
    run()
    raw(
      'DROP TABLE identity; ALTER TABLE changes DROP COLUMN sum; ALTER TABLE checkpoints DROP COLUMN sum; PRAGMA user_version = 3',
    )
    expect(lookInto(file)).toBeUndefined()
    for (let i = 0; i < 2; i++) expect(() => start()).toThrow('a.db is another database than the one that a.mark is of')
    expect(filesOf('')).toEqual(['a.db', 'a.mark'])
    // An empty log that was there stays so.
    writeFileSync(at('a.db-wal'), '')
    expect(() => start()).toThrow('a.db is another database')
    expect(statSync(at('a.db-wal')).size).toBe(0)
    const unsealed = { consent: 'accept-loss', secrets: { keyFile: at('none/secrets.key') } } as const
    expect(raw('SELECT user_version FROM pragma_user_version')).toEqual([{ user_version: 3 }])
    expect(() => start(unsealed)).toThrow('cannot write')
    expect(markNow().state).toBe('closed')
    expect(run({ consent: 'accept-loss' })).toBe(false)
    expect(lookInto(file)).toMatchObject({ resourceVersion: 1_000_000_001 })
  })

  it('is what stands in the log of a process that was killed, and leaves no file', async () => {
    const first = start()
    await write(first, 'a')
    for (const end of ['', '-wal']) copyFileSync(file + end, at(`k.db${end}`))
    expect(lookInto(at('k.db'))).toMatchObject({ resourceVersion: 2 })
    expect(filesOf('k.db')).toEqual(['k.db', 'k.db-wal'])
    first.close()
    expect(lookInto(file)).toMatchObject({ resourceVersion: 2 })
    expect(filesOf('a.db')).toEqual(['a.db'])
  })

  it('leaves an index alone that was there', () => {
    run()
    writeFileSync(`${file}-shm`, '')
    readOnly(file, () => {})
    expect(existsSync(`${file}-shm`)).toBe(true)
  })

  it('is read only, and the error where it cannot be read', () => {
    run()
    expect(readOnly(file, (connection) => connection.prepare('SELECT 1 AS one').get())).toEqual({ one: 1 })
    const error = readOnly(file, (connection) => connection.exec('DELETE FROM identity'))
    expect(error).toMatchObject({ message: 'attempt to write a readonly database' })
    expect(readOnly(at('none.db'), () => 1)).toMatchObject({ message: 'unable to open database file' })
    // It was let go.
    expect(run()).toBe(false)
  })

  it('does not wait at a pipe, and neither does a start', () => {
    execFileSync('mkfifo', [file])
    const message = `cannot open ${file}: it is no file`
    expect(readOnly(file, () => 1)).toMatchObject({ code: 'UNAVAILABLE', message })
    expect(run).toThrow(message)
  })
})

describe('a refusal after a kill', () => {
  const names = ['a.db', 'a.db-wal', 'a.mark'] as const
  const contents = (): Buffer[] => names.map((name) => readFileSync(at(name)))

  /** Of a process that wrote an object, and did this. */
  async function kill(statements: readonly string[], options: GuardOptions = {}): Promise<void> {
    run(options)
    const killed = start()
    await write(killed, 'a')
    for (const statement of statements) killed.database.prepare(statement).run()
    const left = contents()
    killed.close()
    for (const [i, name] of names.entries()) writeFileSync(at(name), left[i] ?? '')
    expect(markNow().state).toBe('open')
  }

  it.each([
    ['PRAGMA user_version = 99', 'a.db has layout 99, this version knows layout 5: start a newer version'],
    ['PRAGMA application_id = 7', 'a.db is damaged in its head: put back a copy of it'],
  ])('of what this version does not know leaves the files as they are: %s', async (sql, says) => {
    await kill([sql])
    const left = contents()
    for (const consent of [undefined, 'accept-loss', undefined] as const) expect(() => start({ consent })).toThrow(says)
    expect(contents()).toEqual(left)
    expect(filesOf('')).toEqual(names)
  })

  it('for damage that is found once it is opened leaves the files as they are, and loses nothing', async () => {
    await kill(['ALTER TABLE checkpoints RENAME COLUMN keeps_changes TO other'])
    const left = contents()
    for (const consent of [undefined, 'accept-loss', undefined] as const)
      expect(() => start({ consent })).toThrow('it is damaged')
    expect(contents()).toEqual(left)
    expect(filesOf('')).toEqual(names)
    expect(lookInto(file)).toMatchObject({ resourceVersion: 2 })
  })

  it('in the middle of which a crash comes leaves a database that is found again', async () => {
    await kill([])
    renameSync(file, `${file}.refused`)
    expect(run()).toBe(false)
    expect(filesOf('')).toEqual(['a.db', 'a.mark'])
    expect(lookInto(file)).toMatchObject({ resourceVersion: 2 })
  })

  it('behind a start that cannot be written notes that the log was put away', async () => {
    const full = "CREATE TRIGGER full BEFORE DELETE ON identity BEGIN SELECT RAISE(ABORT, 'full'); END"
    await kill([full], { consent: 'as-copy' })
    const { database, resourceVersion } = markNow()
    for (let i = 0; i < 2; i++) expect(() => start({ resume: true })).toThrow('full')
    expect(markNow()).toMatchObject({ database, state: 'closed', resourceVersion: resourceVersion + 1 })
    raw('DROP TRIGGER full')
    expect(run({ resume: true })).toBe(false)
    expect(lookInto(file)).toMatchObject({ identity: { database }, resourceVersion: resourceVersion + 1 })
  })

  it('behind a start as a copy that cannot be written is none of the next', async () => {
    await kill(["CREATE TRIGGER full BEFORE DELETE ON identity BEGIN SELECT RAISE(ABORT, 'full'); END"])
    expect(() => start({ consent: 'as-copy' })).toThrow('full')
    raw('DROP TRIGGER full')
    expect(run()).toBe(false)
  })

  it('for a lost log is one again where the start that was to go on cannot be written', async () => {
    const full = "CREATE TRIGGER full BEFORE UPDATE ON horizon BEGIN SELECT RAISE(ABORT, 'full'); END"
    await kill([full, 'PRAGMA wal_checkpoint'])
    rmSync(at('a.db-wal'))
    expect(() => start({ consent: 'accept-loss' })).toThrow('full')
    expect(() => start()).toThrow('a.db-wal is missing or empty')
  })

  describe('for a loss that is seen once it is opened', () => {
    const another = 'a.db is another database than the one that a.mark is of'
    const sums = ['changes', 'checkpoints'].map((table) => `ALTER TABLE ${table} DROP COLUMN sum`)
    const earlier = ['DROP TABLE identity', ...sums, 'PRAGMA user_version = 3']

    it('notes nothing, and is one again', async () => {
      await kill(earlier)
      const left = contents()
      for (let i = 0; i < 2; i++) expect(() => start()).toThrow(another)
      expect(contents()).toEqual(left)
    })

    it('is one again where the start that was to go on cannot be written', async () => {
      await kill([...earlier, "CREATE TRIGGER full BEFORE UPDATE ON horizon BEGIN SELECT RAISE(ABORT, 'full'); END"])
      const before = markNow()
      expect(() => start({ consent: 'accept-loss' })).toThrow('full')
      expect(markNow()).toEqual(before)
    })

    it('is told where something stands in the way of leaving the files as they are', async () => {
      await kill(earlier)
      mkdirSync(at('a.db.refused'))
      for (let i = 0; i < 2; i++) expect(() => start()).toThrow(`cannot use ${directory.path}: `)
      expect(openHere()).toEqual([])
    })

    it('names a log that is left', async () => {
      await kill(earlier)
      writeMark({ state: 'closed' })
      expect(() => start()).toThrow(`cannot use ${directory.path}: ${another}; a.db-wal is there, though a.mark says`)
    })
  })

  describe('behind a start that cannot be written', () => {
    beforeEach(() => kill(["CREATE TRIGGER full BEFORE DELETE ON identity BEGIN SELECT RAISE(ABORT, 'full'); END"]))

    it.each<[string, () => void]>([
      ['closed it', () => writeMark({ state: 'closed', resourceVersion: 77 })],
      ['left no mark that can be read', () => writeFileSync(at('a.mark'), 'x')],
    ])('leaves the mark alone of another process that has %s meanwhile', (_what, act) => {
      let mark: Buffer | undefined
      const options: GuardOptions = {
        consent: 'as-copy',
        get resume() {
          if (mark === undefined && !existsSync(at('a.db-wal'))) {
            act()
            mark = readFileSync(at('a.mark'))
          }
          return false
        },
      }
      expect(() => start(options)).toThrow('full')
      expect(mark).toBeDefined()
      expect(readFileSync(at('a.mark'))).toEqual(mark)
    })

    it.each<[string, (log: Buffer) => void]>([
      ['its log stays', (log) => writeFileSync(at('a.db-wal'), log)],
      ['its file goes', () => rmSync(file)],
    ])('says why, and notes nothing, where %s with the close', (_what, act) => {
      const log = readFileSync(at('a.db-wal'))
      const before = markNow()
      const { close } = DatabaseSync.prototype
      const spy = vi.spyOn(DatabaseSync.prototype, 'close').mockImplementation(function (this: DatabaseSync) {
        close.call(this)
        if (!existsSync(at('a.db-wal')) && existsSync(file)) act(log)
      })
      expect(() => start({ consent: 'as-copy' })).toThrow('full')
      spy.mockRestore()
      expect(markNow()).toEqual(before)
    })
  })

  it.each([
    [1_060_000, false],
    [1_060_001, true],
  ])('says that the mark is older, if more than a minute lies beyond it: to %d that is %s', async (atMs, isOlder) => {
    await kill([
      'UPDATE changes SET at_ms = 1000000',
      `INSERT INTO changes SELECT 3, object_id, kind, ${atMs}, 2, written, 'modified', touched, engine, doc, sum FROM changes`,
      'UPDATE heads SET rv = 3',
    ])
    if (isOlder) expect(() => start()).toThrow('a.mark is older than a.db')
    else expect(run()).toBe(false)
  })

  it('of a newer version says so first, whatever else speaks against the files', async () => {
    await kill(['PRAGMA user_version = 99'])
    rmSync(at('a.mark'))
    expect(() => start()).toThrow('a.db has layout 99, this version knows layout 5: start a newer version')
  })

  it.each([
    ['names a log that is left', 'closed', 'it is damaged; a.db-wal is there, though a.mark says that it was put away'],
    ['names no log that belongs to it', 'open', 'it is damaged: put back a copy of it'],
  ] as const)('for damage %s', async (_what, state, says) => {
    await kill(['ALTER TABLE checkpoints RENAME COLUMN keeps_changes TO other'])
    writeMark({ state, resourceVersion: 2 })
    expect(() => start()).toThrow(`cannot open ${file}: ${says}`)
  })

  it('for damage of the states of a large file says what helps', async () => {
    await kill([])
    raw('PRAGMA wal_checkpoint')
    const [row] = raw("SELECT rootpage FROM sqlite_schema WHERE name = 'changes'") as [{ readonly rootpage: number }]
    writeMark({ state: 'closed', resourceVersion: 2 })
    const bytes = readFileSync(file)
    const from = (row.rootpage - 1) * 4_096
    bytes.fill(0x5a, from, from + 4_096)
    // Pages that hold nothing: the file is as large as its head says, and not every page is looked at.
    bytes.writeUInt32BE(30_000, 28)
    writeFileSync(file, bytes)
    truncateSync(file, 30_000 * 4_096)
    expect(() => start()).toThrow(`cannot open ${file}: database disk image is malformed: put back a copy of it`)
  })
})

it('a copy that has forgotten that it is one is refused, until somebody resumes it', () => {
  run({ consent: 'as-copy' })
  raw('UPDATE identity SET held = 0')
  expect(() => start()).toThrow('a.db says that it is no copy, and a.mark that it is one')
  expect(run({ resume: true })).toBe(false)
})

it('a copy whose first start without being one is killed asks nothing of the next', () => {
  run({ consent: 'as-copy' })
  raw("CREATE TRIGGER full BEFORE DELETE ON identity BEGIN SELECT RAISE(ABORT, 'full'); END")
  expect(() => start({ resume: true })).toThrow('full')
  expect(run()).toBe(true)
  expect(() => start({ resume: true })).toThrow('full')
  // As if the commit had been the last that the process did.
  raw('DROP TRIGGER full')
  raw('UPDATE identity SET held = 0')
  expect(run()).toBe(false)
})

describe('a database behind a symbolic link', () => {
  const named = ['real/r.db', 'real/r.db-wal', 'a.mark'] as const

  /** Where it was killed after a write. */
  async function kill(): Promise<void> {
    run()
    mkdirSync(at('real'))
    renameSync(file, at('real/r.db'))
    symlinkSync(at('real/r.db'), file)
    const killed = start()
    await write(killed, 'a')
    const contents = named.map((name) => [at(name), readFileSync(at(name))] as const)
    killed.close()
    for (const [path, bytes] of contents) writeFileSync(path, bytes)
  }

  it('goes on after a kill with what is in the log beside the file itself', async () => {
    await kill()
    expect(lookInto(file)).toMatchObject({ resourceVersion: 2 })
    expect(filesOf('')).toEqual(['a.db', 'a.mark', 'real'])
    expect(readdirSync(at('real')).toSorted()).toEqual(['r.db', 'r.db-wal'])
    run()
    expect(raw('SELECT max(rv) AS rv FROM changes')).toEqual([{ rv: 2 }])
  })

  it('that is damaged stays as it is, and so does its log', async () => {
    await kill()
    const path = at('real/r.db')
    const row = readOnly(path, (one) =>
      one.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'refs_by_referrer'").get(),
    ) as { readonly rootpage: number }
    const from = (row.rootpage - 1) * 4_096
    writeFileSync(path, readFileSync(path).fill(0x5a, from, from + 64))
    const contents = () => named.map((name) => readFileSync(at(name)))
    const before = contents()
    expect(() => start()).toThrow('it is damaged: put back a copy of it')
    expect(contents()).toEqual(before)
    expect([filesOf(''), readdirSync(at('real')).toSorted()]).toEqual([
      ['a.db', 'a.mark', 'real'],
      ['r.db', 'r.db-wal'],
    ])
  })

  it.each([
    ['', (target: string) => target],
    ['that says where it leads from its directory', () => 'real/r.db'],
    [
      'that leads to another link, through a link to its directory',
      (target: string) => {
        symlinkSync(`../${relative(directory.path, target)}`, at('real/other.db'))
        mkdirSync(at('elsewhere'))
        symlinkSync(at('real'), at('elsewhere/linked'))
        return 'elsewhere/linked/other.db'
      },
    ],
  ])('is found again behind a crash in the middle of a refusal %s', async (_what, linkTo) => {
    await kill()
    const target = linkTo(at('real/r.db'))
    rmSync(file)
    symlinkSync(target, file)
    renameSync(at('real/r.db'), at('real/r.db.refused'))
    expect(run()).toBe(false)
    expect(existsSync(at('real/r.db.refused'))).toBe(false)
    expect(lookInto(file)).toMatchObject({ resourceVersion: 2 })
  })

  it.each([
    ['nothing', 'none.db', 'a.db is missing, though its a.mark is there'],
    ['itself', 'a.db', 'too many symbolic links'],
  ])('that leads to %s is refused', async (_what, target, says) => {
    await kill()
    rmSync(file)
    symlinkSync(target, file)
    expect(() => start()).toThrow(says)
  })

  it('is refused without its log', async () => {
    await kill()
    rmSync(at('real/r.db-wal'))
    expect(() => start()).toThrow('a.db-wal is missing or empty')
  })

  it('is known to be in use, and its log to be taken away', async () => {
    await kill()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const running = start()
    running.follow(() => 1)
    expect([isHeldByProcess(file), lookInto(file)]).toEqual([true, 'in use'])
    renameSync(at('real/r.db-wal'), at('away'))
    expect([isHeldByProcess(file), lookInto(file, markNow())]).toEqual([true, 'in use'])
    vi.advanceTimersByTime(1_000)
    await expect(write(running, 'refused')).rejects.toThrow('a.db-wal is not in its place')
    renameSync(at('away'), at('real/r.db-wal'))
  })

  it('is the same through a link to its directory', () => {
    run()
    symlinkSync(directory.path, at('linked'))
    const path = at('linked/a.db')
    const running = start({}, path)
    expect([isHeldByProcess(file), isHeldByProcess(path)]).toEqual([true, true])
    running.close()
    expect(run({}, path)).toBe(false)
    expect(run()).toBe(false)
  })
})

describe('a log', () => {
  it('of a process that takes its lock meanwhile is not removed by who asks for that', () => {
    const guard = start()
    renameSync(at('a.db-wal'), at('elsewhere'))
    const { open } = DatabaseSync.prototype
    const spy = vi.spyOn(DatabaseSync.prototype, 'open').mockImplementation(function (this: DatabaseSync) {
      open.call(this)
      // As the process makes it.
      writeFileSync(at('a.db-wal'), '')
    })
    const isHeld = isHeldByProcess(file)
    spy.mockRestore()
    expect([isHeld, existsSync(at('a.db-wal'))]).toEqual([true, true])
    renameSync(at('elsewhere'), at('a.db-wal'))
    guard.close()
  })

  it('is not removed by who asks whether it is in use, if it was there or holds something', () => {
    run()
    writeFileSync(at('a.db-wal'), '')
    expect([isHeldByProcess(file), filesOf('a.db')]).toEqual([false, ['a.db', 'a.db-wal']])
    rmSync(at('a.db-wal'))
    const { open } = DatabaseSync.prototype
    const spy = vi.spyOn(DatabaseSync.prototype, 'open').mockImplementation(function (this: DatabaseSync) {
      open.call(this)
      writeFileSync(at('a.db-wal'), 'of another program')
    })
    expect([isHeldByProcess(file), filesOf('a.db')]).toEqual([false, ['a.db', 'a.db-wal']])
    spy.mockRestore()
    rmSync(at('a.db-wal'))
  })

  it('that is gone once the database is open has the start refused, and nothing is lost', () => {
    run({ secrets })
    const removing = {
      get keyFile() {
        rmSync(at('a.db-wal'), { force: true })
        return secrets.keyFile
      },
    }
    for (let i = 0; i < 3; i++) expect(() => start({ secrets: removing })).toThrow('a.db-wal was removed while')
    expect(markNow().state).toBe('closed')
    expect(run({ secrets })).toBe(false)
    expect(lookInto(file)).toMatchObject({ identity: { starts: 5 } })
    // It is another database already, whose loss was accepted.
    writeMark({ resourceVersion: 50 })
    expect(() => start({ secrets: removing, consent: 'accept-loss' })).toThrow('a.db-wal was removed while')
    expect(markNow()).toMatchObject({ state: 'closed', resourceVersion: 1_000_000_050 })
    expect(run({ secrets })).toBe(false)
  })
})

it.each<[number, GuardOptions]>([
  [1, {}],
  [1, { consent: 'accept-loss' }],
  [2, {}],
])('a start while another process stops, at look %d into its database, loses nothing: %o', async (look, options) => {
  const running = start()
  running.follow(await write(running, 'a'))
  const { database } = markNow()
  const { open } = DatabaseSync.prototype
  let looks = 0
  const spy = vi.spyOn(DatabaseSync.prototype, 'open').mockImplementation(function (this: DatabaseSync) {
    if (++looks === look) running.close()
    open.call(this)
  })
  const next = start(options)
  spy.mockRestore()
  expect(next.accepted).toEqual([])
  expect(markNow()).toMatchObject({ database, starts: 2 })
  next.close()
  expect(lookInto(file)).toMatchObject({ resourceVersion: 2 })
})

describe('a file that is taken away from a running process', () => {
  const tick = (): unknown => vi.advanceTimersByTime(1_000)
  const log = 'put it back, or stop with SIGTERM, which loses nothing; kill -9 loses the last changes'
  const database = 'put it back before the process ends, which loses everything else'

  it.each([
    ['a.db', 'nothing', database],
    ['a.db-wal', 'nothing', log],
    ['a.db', 'a copy', database],
    ['a.db-wal', 'a copy', log],
  ])('%s, with %s in its place, has writes refused until it is there again', async (name, inItsPlace, advice) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const guard = start()
    guard.follow(() => 1)
    await write(guard, 'before')
    tick()
    await write(guard, 'still')
    renameSync(at(name), at('elsewhere'))
    if (inItsPlace === 'a copy') copyFileSync(at('elsewhere'), at(name))
    for (let i = 0; i < 3; i++) tick()
    const why = `${name} is not in its place: ${advice}`
    await expect(write(guard, 'refused')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: `cannot write to ${file}: ${why}`,
    })
    expect(() => guard.database.writeNow(() => guard.database.prepare('DELETE FROM horizon').run())).toThrow(why)
    expect(guard.database.whyRefused()).toBe(why)
    const told: FileNews[] = []
    guard.listen((news) => told.push(news))
    expect(told).toEqual([{ level: 'error', says: `nothing can be written: ${why}` }])
    renameSync(at('elsewhere'), at(name))
    for (let i = 0; i < 3; i++) tick()
    await write(guard, 'after')
    expect(guard.database.whyRefused()).toBeUndefined()
    expect(told.slice(1)).toEqual([{ level: 'info', says: 'the files are in their place again: writes are taken' }])
  })

  it('that is its log loses nothing if the process is stopped', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const guard = start()
    guard.follow(await write(guard, 'a'))
    rmSync(at('a.db-wal'))
    tick()
    guard.close()
    expect(run()).toBe(false)
    expect(lookInto(file)).toMatchObject({ resourceVersion: 2 })
  })

  describe('with the key of the Secrets', () => {
    let guard: GuardedDatabase
    let told: FileNews[]
    let key: string
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
      guard = start({ secrets })
      guard.follow(() => 1)
      told = []
      guard.listen((news) => told.push(news))
      key = readFileSync(secrets.keyFile, 'utf8')
      tick()
    })

    it.each([
      ['missing', () => rmSync(secrets.keyFile)],
      ['damaged', () => writeFileSync(secrets.keyFile, '')],
    ])('writes a key that is %s again, and says so', async (what, take) => {
      take()
      for (let i = 0; i < 3; i++) tick()
      expect(readFileSync(secrets.keyFile, 'utf8')).toBe(key)
      expect(statSync(secrets.keyFile).mode & 0o777).toBe(0o600)
      expect(told).toEqual([
        { level: 'warn', says: `secrets.key was ${what} while the process ran: it was written again` },
      ])
      await write(guard, 'a')
    })

    it('writes it again when it ends, too', () => {
      rmSync(secrets.keyFile)
      guard.close()
      expect(readFileSync(secrets.keyFile, 'utf8')).toBe(key)
      expect(run({ secrets })).toBe(false)
    })

    it('refuses writes while another key stands there, which it leaves alone', async () => {
      const other = `${Buffer.alloc(32).toString('base64')}\n`
      writeFileSync(secrets.keyFile, other)
      tick()
      const why = 'secrets.key holds another key than the one of the Secrets: remove it, and the key is written again'
      await expect(write(guard, 'a')).rejects.toThrow(why)
      expect(readFileSync(secrets.keyFile, 'utf8')).toBe(other)
      rmSync(secrets.keyFile)
      tick()
      await write(guard, 'a')
    })

    it('refuses writes where it cannot be written again', async () => {
      rmSync(secrets.keyFile)
      mkdirSync(secrets.keyFile)
      tick()
      await expect(write(guard, 'a')).rejects.toThrow('the key of the Secrets is lost when the process ends: cannot')
      rmSync(secrets.keyFile, { recursive: true })
      tick()
      await write(guard, 'a')
      expect(told.map(({ level }) => level)).toEqual(['error', 'warn', 'info'])
    })
  })
})
