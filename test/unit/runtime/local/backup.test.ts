import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  utimesSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, it, vi } from 'vitest'
import { writeKubeconfig } from '../../../../shared/adapters/local/https/kubeconfig.ts'
import { openGuardedDatabase } from '../../../../shared/adapters/local/sqlite/guard/guarded-database.ts'
import { createSqliteChangeLog } from '../../../../shared/adapters/local/sqlite/sqlite-change-log.ts'
import { createSqliteStore } from '../../../../shared/adapters/local/sqlite/sqlite-store.ts'
import { backUp } from '../../../../shared/runtime/local/backup.ts'
import { checkDataDirectory, isInUse } from '../../../../shared/runtime/local/check.ts'
import { restore } from '../../../../shared/runtime/local/restore.ts'
import { storedWidget } from '../../../support/stored-object.ts'
import { temporaryDirectory } from '../../../support/temporary-directory.ts'
import { systemClock } from '../../../../shared/adapters/node/system-clock.ts'
import { ok, useServers } from '../../adapters/local/https/server-harness.ts'

const directory = temporaryDirectory('backed-up')
afterAll(() => directory[Symbol.dispose]())
const { serve, authority, otherCredentials } = useServers('lean')

it.each(['another authority', 'the same certificate'])(
  'is made of the files where the control plane has ended, and one of %s has its port now',
  async (whose) => {
    const path = join(directory.path, whose)
    mkdirSync(path)
    const tls = whose === 'another authority' ? { tls: otherCredentials().tls } : {}
    const { url } = await serve(async () => ({ ...ok('Unauthorized'), status: 401 }), tls)
    writeKubeconfig(join(path, 'kubeconfig'), url, { authority: authority(), token: 't' })
    const { close } = openGuardedDatabase(join(path, 'setpoint.db'))
    // While a process has it, that process is asked.
    await expect(backUp(path, join(path, 'one'))).rejects.toThrow(url)
    close()
    expect(await backUp(path, join(path, 'one'))).toMatchObject({ resourceVersion: 1 })
    expect(existsSync(join(path, 'one'))).toBe(true)
  },
)

/** A directory of a process that was killed after it had written, and noted, two objects. */
async function killed(name: string, hadStart = true): Promise<string> {
  const path = join(directory.path, name)
  mkdirSync(path)
  if (hadStart) openGuardedDatabase(join(path, 'setpoint.db')).close()
  const guard = openGuardedDatabase(join(path, 'setpoint.db'), { markMs: 5 })
  const changeLog = createSqliteChangeLog({ database: guard.database, clock: systemClock })
  guard.follow(changeLog.latest)
  const store = createSqliteStore({ database: guard.database, changeLog })
  for (const one of ['a', 'b']) await store.create(storedWidget(one))
  await expect.poll(() => readFileSync(join(path, 'setpoint.mark'), 'utf8')).toContain('"resourceVersion":3,')
  const contents = readdirSync(path).map((one) => [join(path, one), readFileSync(join(path, one))] as const)
  guard.close()
  for (const [file, bytes] of contents) writeFileSync(file, bytes)
  return path
}

function flipMiddle(file: string): void {
  const bytes = readFileSync(file)
  const at = Math.floor(bytes.length * 0.4)
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
  writeFileSync(file, bytes)
}

it.each<[string, (log: string) => void, string]>([
  ['whole', () => {}, ''],
  ['flipped', flipMiddle, 'setpoint.db-wal is damaged: what was written behind the damage cannot be read'],
  ['gone', rmSync, 'setpoint.db-wal is missing or empty, which holds the last changes'],
])('of a process that was killed tells what a start would of its log, which is %s', async (name, damage, says) => {
  const path = await killed(name)
  damage(join(path, 'setpoint.db-wal'))
  const before = readdirSync(path)
  const { checked } = await backUp(path, join(directory.path, `${name}.backup`))
  const problems = checked.flatMap((one) => one.problems)
  expect(problems).toEqual(says === '' ? [] : [expect.stringContaining(says)])
  expect(checked[0]?.what).toBe('files and mark')
  expect(readdirSync(path)).toEqual(before)
})

it('has what is in the log where the database is a symbolic link', async () => {
  const path = await killed('linked')
  const real = join(directory.path, 'real.db')
  for (const end of ['', '-wal']) renameSync(join(path, `setpoint.db${end}`), `${real}${end}`)
  symlinkSync(real, join(path, 'setpoint.db'))
  const { checked, resourceVersion } = await backUp(path, join(directory.path, 'linked.backup'))
  expect([resourceVersion, ...checked.flatMap(({ problems }) => problems)]).toEqual([3])
})

it('of a process whose first log is gone is none, and says why', async () => {
  const path = await killed('first', false)
  rmSync(join(path, 'setpoint.db-wal'))
  const into = join(directory.path, 'first.backup')
  await expect(backUp(path, into)).rejects.toThrow('nothing to back up: setpoint.db-wal is missing or empty')
  expect(existsSync(into)).toBe(false)
})

it('leaves nothing of a copy for which there is no room', async () => {
  const path = await killed('full')
  const into = join(directory.path, 'full.backup')
  const { prepare } = DatabaseSync.prototype
  const spy = vi.spyOn(DatabaseSync.prototype, 'prepare').mockImplementation(function (this: DatabaseSync, sql) {
    if (!sql.startsWith('VACUUM')) return prepare.call(this, sql)
    const unfinished = readdirSync(directory.path).find((name) => /^full\.backup\..+\.tmp$/.test(name))
    writeFileSync(join(directory.path, `${unfinished}-journal`), 'journal')
    throw new Error('database or disk is full')
  })
  await expect(backUp(path, into)).rejects.toThrow('is full')
  spy.mockRestore()
  expect(readdirSync(directory.path).filter((name) => name.startsWith('full.'))).toEqual([])
})

it('leaves alone what stands beside it', async () => {
  const path = await killed('beside')
  const [into, other] = ['beside.backup', 'beside.backup.tmp'].map((name) => join(directory.path, name)) as [
    string,
    string,
  ]
  writeFileSync(other, 'of somebody else')
  // Of a backup that was killed: no process has so high a number.
  const left = `${into}.4194305.0123abcd.tmp`
  for (const name of [left, `${left}-journal`]) writeFileSync(name, 'half')
  utimesSync(left, 0, 0)
  await backUp(path, into)
  expect(readFileSync(other, 'utf8')).toBe('of somebody else')
  const names = readdirSync(directory.path).filter((name) => name.startsWith('beside.'))
  expect(names.toSorted()).toEqual(['beside.backup', 'beside.backup.tmp'])
})

it('asks the process that has the directory, though its log was taken away', async () => {
  const path = join(directory.path, 'taken')
  mkdirSync(path)
  const { url } = await serve(async () => ({ ...ok('busy'), status: 500 }))
  const file = join(path, 'setpoint.db')
  const { close } = openGuardedDatabase(file)
  try {
    for (const end of ['-wal', '.mark'])
      renameSync(end === '-wal' ? `${file}-wal` : join(path, 'setpoint.mark'), join(path, `away${end}`))
    const before = readdirSync(path)
    expect(isInUse(path)).toBe(true)
    // Nobody can be asked, and what the file has is not all.
    await expect(backUp(path, join(path, 'one'))).rejects.toThrow('another process holds it')
    writeKubeconfig(join(path, 'kubeconfig'), url, { authority: authority(), token: 't' })
    await expect(backUp(path, join(path, 'one'))).rejects.toThrow(url)
    expect(readdirSync(path)).toEqual([...before, 'kubeconfig'].toSorted())
  } finally {
    close()
  }
  expect(isInUse(path)).toBe(false)
})

it('and a check and a restore, of what can only be read say that it can be looked at elsewhere', async () => {
  const path = await killed('read-only')
  // SQLite reads the log with an index, which it cannot make here.
  symlinkSync(join(path, 'setpoint.mark'), join(path, 'setpoint.db-shm'))
  const advice =
    'SQLite cannot read it where nothing may be written: copy setpoint.db, setpoint.db-wal and setpoint.mark elsewhere, and look there'
  expect(() => checkDataDirectory(path)).toThrow(`cannot check ${join(path, 'setpoint.db')}: ${advice}`)
  await expect(backUp(path, join(directory.path, 'read-only.backup'))).rejects.toThrow(advice)
  const into = join(directory.path, 'read-only.restored')
  const options = { backup: join(path, 'setpoint.db'), directory: into, asCopy: false, acceptLoss: true }
  expect(() => restore(options)).toThrow(advice)
  rmSync(join(path, 'setpoint.db-shm'))
  expect(restore(options).isWhole).toBe(true)
})

it('that cannot be written is not said to be of what can only be read', async () => {
  const path = await killed('no-place')
  const error = await backUp(path, join(directory.path, 'no', 'place')).catch((one: unknown) => one)
  expect(error).toMatchObject({ message: expect.not.stringContaining('elsewhere') })
})

it('is none while a process has the database', async () => {
  const path = join(directory.path, 'running')
  mkdirSync(path)
  const backup = join(path, 'setpoint.db')
  const { close } = openGuardedDatabase(backup)
  const options = { backup, directory: join(directory.path, 'never'), asCopy: false, acceptLoss: true }
  expect(() => restore(options)).toThrow(`${backup} is in use by another process: name a backup (setpoint backup)`)
  close()
})

it('that was put back in part is refused until it is put back whole', async () => {
  const path = await killed('whole-one')
  const backup = join(directory.path, 'whole-one.backup')
  await backUp(path, backup)
  const into = join(directory.path, 'half')
  const options = { backup, directory: into, asCopy: false, acceptLoss: true }
  mkdirSync(into)
  const file = join(into, 'setpoint.db')
  // As it is after a kill in the middle.
  const { exec } = DatabaseSync.prototype
  const spy = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(() => {
    cpSync(into, `${into}-killed`, { recursive: true })
    throw new Error('killed')
  })
  expect(() => restore(options)).toThrow('killed')
  spy.mockRestore()
  expect(DatabaseSync.prototype.exec).toBe(exec)
  expect(readdirSync(into)).toEqual([])
  cpSync(`${into}-killed`, into, { recursive: true })
  const before = readdirSync(into).map((name) => readFileSync(join(into, name)))
  for (const consent of [undefined, 'accept-loss', 'as-copy'] as const)
    expect(() => openGuardedDatabase(file, { consent })).toThrow(
      new RegExp(`^cannot use ${into}: a restore into this directory has not ended: empty it, and restore again$`),
    )
  expect(readdirSync(into).map((name) => readFileSync(join(into, name)))).toEqual(before)
  expect(checkDataDirectory(into).report).toContain('a restore into this directory has not ended')
  for (const name of readdirSync(into)) rmSync(join(into, name))
  expect(restore(options).isWhole).toBe(true)
})
