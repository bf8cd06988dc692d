import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { writeKubeconfig } from '../../../../shared/adapters/local/https/kubeconfig.ts'
import { openGuardedDatabase } from '../../../../shared/adapters/local/sqlite/guard/guarded-database.ts'
import { createSqliteChangeLog } from '../../../../shared/adapters/local/sqlite/sqlite-change-log.ts'
import { createSqliteStore } from '../../../../shared/adapters/local/sqlite/sqlite-store.ts'
import { backUp } from '../../../../shared/runtime/local/backup.ts'
import { isInUse } from '../../../../shared/runtime/local/check.ts'
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
