import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkBackup, copyDatabase, restoreDatabase } from '../../../../../shared/adapters/local/sqlite/guard/backup.ts'
import { checkDatabase, checkInside } from '../../../../../shared/adapters/local/sqlite/guard/check.ts'
import { lookInto } from '../../../../../shared/adapters/local/sqlite/guard/guarded-database.ts'
import { openMarkFile, type Mark } from '../../../../../shared/adapters/local/sqlite/guard/mark-file.ts'
import { createKey, writeKeyRing } from '../../../../../shared/adapters/local/secrets/key-ring.ts'
import { systemClock } from '../../../../../shared/adapters/node/system-clock.ts'
import { keyOf } from '../../../../../shared/model/object-key.ts'
import type { StoredObject } from '../../../../../shared/model/stored-object.ts'
import { openGuardedPorts } from '../../../../../shared/runtime/local/ports.ts'
import { storedWidget, withSpec } from '../../../../support/stored-object.ts'
import { openFilesIn } from '../../../../support/open-files.ts'
import { temporaryDirectory, type TemporaryDirectory } from '../../../../support/temporary-directory.ts'

/** Nothing here is about the disk, and each write into it takes milliseconds. */
const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

let directory: TemporaryDirectory
let file: string
const at = (name: string): string => join(directory.path, name)
const keyFile = (): string => at('secrets.key')

beforeEach(() => {
  directory = temporaryDirectory('check', parent)
  file = at('a.db')
})
afterEach(() => directory[Symbol.dispose]())

function secret(): StoredObject {
  const { spec: _, ...rest } = storedWidget('s').object
  return { object: { ...rest, apiVersion: 'v1', kind: 'Secret', data: { a: 'YQ==' } }, engine: {} }
}

/** A control plane that wrote a widget twice and, sealed or not, a Secret, and was stopped. */
async function written({ isSealed = true, hasSecret = true } = {}): Promise<void> {
  const ports = openGuardedPorts(file, systemClock, isSealed ? { secrets: { keyFile: keyFile() } } : {})
  const widget = await ports.store.create(storedWidget('w'))
  await ports.store.replace(withSpec(widget, { size: 2 }), ['spec'])
  if (hasSecret) await ports.store.create(secret())
  ports.close()
}

function raw(sql: string): void {
  using database = new DatabaseSync(file)
  database.exec(sql)
}

const said = (secrets = { keyFile: keyFile() }): readonly string[] =>
  checkInside(file, secrets).flatMap(({ what, problems }) => problems.map((problem) => `${what}: ${problem}`))

const insideWithoutKey = (secrets?: { readonly keyFile: string }) => checkInside(file, secrets)

describe('a check', () => {
  it('says what it looked at, and that nothing is wrong', async () => {
    await written()
    const inside = ['pages', '3 states', 'references', 'checkpoints', '1 Secrets'].map((what) => ({
      what,
      problems: [],
    }))
    expect(checkDatabase(file, { secrets: { keyFile: keyFile() } })).toEqual([
      { what: 'files and mark', problems: [] },
      ...inside,
    ])
    expect(insideWithoutKey()).toEqual(inside.slice(0, 4))
  })

  it.each([
    [2, { what: 'layout 2, of an earlier version: start once, and check again', problems: [] }],
    [3, { what: 'layout 3, of an earlier version: start once, and check again', problems: [] }],
    [4, { what: 'layout 4, of an earlier version: start once, and check again', problems: [] }],
    [6, { what: 'database', problems: ['layout 6, this version knows layout 5'] }],
  ])('takes layout %i for no damage, and a newer one for what it cannot look at', async (layout, found) => {
    await written()
    raw(`DROP TABLE heads; PRAGMA user_version = ${layout}`)
    expect(insideWithoutKey({ keyFile: keyFile() })).toEqual([{ what: 'pages', problems: [] }, found])
  })

  it('says how many states have no sum', async () => {
    await written()
    raw('UPDATE changes SET sum = NULL WHERE rv < 4')
    const of = (states: string) => insideWithoutKey()[1]?.what === states
    expect(of('3 states, 2 of them without a checksum, of an earlier version')).toBe(true)
    raw('UPDATE changes SET sum = NULL')
    expect(of('3 states, 3 of them without a checksum, of an earlier version')).toBe(true)
  })

  it.each([
    [`UPDATE changes SET sum = sum + 1 WHERE rv = 2`, ['3 states: an old state, change 2 is damaged']],
    [`UPDATE changes SET sum = sum + 1 WHERE rv = 3`, ['3 states: example.com/Widget/default/w is damaged']],
    [
      `UPDATE objects SET uid = 'x' WHERE name = 'w'`,
      ['3 states: example.com/Widget/default/w has the state of default/w'],
    ],
    [
      `UPDATE objects SET name = 'x' WHERE name = 'w'`,
      ['3 states: example.com/Widget/default/x has the state of default/w'],
    ],
    [
      `UPDATE objects SET namespace = 'x' WHERE name = 'w'`,
      ['3 states: example.com/Widget/x/w has the state of default/w'],
    ],
    [
      'DELETE FROM heads WHERE rv = 3',
      ['references: example.com/Widget/default/w has no state', 'references: an object has no head'],
    ],
    [
      "UPDATE objects SET slot = slot + 1, owners = '[]' WHERE name = 'w'",
      ['3 states: example.com/Widget/default/w differs from its state in slot, owners'],
    ],
    [
      'UPDATE heads SET next_run_at_ms = 1 WHERE rv = 3',
      ['3 states: example.com/Widget/default/w differs from its state in next_run_at_ms'],
    ],
    [
      'UPDATE heads SET kind = 3 WHERE rv = 3',
      [
        '3 states: example.com/Widget/default/w differs from its state in number of the kind',
        'references: an object and its head differ',
      ],
    ],
    [
      "UPDATE kinds SET kind = 'Gadget' WHERE kind = 'Widget'",
      [
        '3 states: an old state, change 2 is of another kind',
        '3 states: example.com/Gadget/default/w differs from its state in kind_name',
      ],
    ],
    [
      "INSERT INTO owners VALUES ('u', 1)",
      [
        'references: the table of owners has what no object has',
        'references: the table of owners has not as many as the objects have',
      ],
    ],
    [
      "UPDATE changes SET touched = 'spfc' WHERE rv = 3",
      ['3 states: example.com/Widget/default/w touched what is no part of an object: spfc'],
    ],
    ["UPDATE changes SET type = 'added' WHERE rv = 3", ['references: change 3 is of a type that it cannot be of']],
    ["UPDATE changes SET type = 'remov' WHERE rv = 3", ['references: change 3 is of a type that it cannot be of']],
    ['DELETE FROM changes WHERE rv = 2', ['references: change 3 supersedes 2, which is not of its object']],
    [
      'UPDATE changes SET object_id = 7 WHERE rv = 2',
      ['references: change 3 supersedes 2, which is not of its object'],
    ],
    [
      "UPDATE changes SET type = 'modified', supersedes = 2 WHERE rv = 4; DELETE FROM objects WHERE id = 2; DELETE FROM heads WHERE id = 2",
      ['references: change 4 is of no object', 'references: change 4 supersedes 2, which is not of its object'],
    ],
    [
      "INSERT INTO checkpoints VALUES ('relayed', '1', 0, NULL), ('turned', '1', 0, 7), ('introduced', '[', 0, NULL), ('other', '1', 0, NULL), ('probe', 'x', 0, NULL)",
      ['introduced', 'other', 'relayed', 'turned'].map((name) => `checkpoints: checkpoint ${name} is damaged`),
    ],
    [
      'UPDATE changes SET rv = 9 WHERE rv = 4; UPDATE heads SET rv = 9 WHERE rv = 4',
      ['3 states: /Secret/default/s has the number of another state'],
    ],
    ['UPDATE changes SET supersedes = 3 WHERE rv = 3', ['references: change 3 supersedes 3, which is later']],
    [
      'UPDATE heads SET rv = 2 WHERE rv = 3',
      ['references: example.com/Widget/default/w is at 2, and its newest state is 3'],
    ],
  ])('finds what this did: %s', async (sql, expected) => {
    await written()
    raw(sql)
    expect(said()).toEqual(expected)
  })

  it('finds Secrets that are in clear, and those that cannot be read', async () => {
    await written({ isSealed: false })
    writeKeyRing(keyFile(), [createKey()])
    expect(said()).toEqual(['1 Secrets: /Secret/default/s is not encrypted; a start encrypts it'])
    rmSync(keyFile())
    expect(said()).toEqual(['1 Secrets: /Secret/default/s cannot be decrypted'])
  })

  it('finds Secrets that no key opens, and names a damaged one once', async () => {
    await written()
    writeKeyRing(keyFile(), [createKey()])
    expect(said()).toEqual(['1 Secrets: /Secret/default/s cannot be decrypted'])
    raw(`UPDATE changes SET doc = '{' WHERE rv = 4`)
    expect(said()).toEqual(['3 states: /Secret/default/s is damaged'])
  })

  it('is of a file that is there, or was', () => {
    expect(() => checkDatabase(file, {})).toThrow(`cannot check ${file}: there is none`)
    expect(() => checkDatabase(file, { witnesses: [at('token')] })).toThrow('there is none')
    writeFileSync(at('token'), '')
    expect(checkDatabase(file, { witnesses: [at('other'), at('token')] })).toEqual([
      { what: 'files and mark', problems: ['a.db is missing, though its token is there'] },
    ])
  })

  it('says what SQLite says of what it cannot read, and leaves a process alone', async () => {
    writeFileSync(file, 'no database'.repeat(100))
    expect(insideWithoutKey()).toEqual([{ what: 'database', problems: ['file is not a database'] }])
    rmSync(file)
    const ports = openGuardedPorts(file, systemClock, {})
    expect(() => insideWithoutKey()).toThrow('another process holds it: stop that process first')
    // Its lock tells of it where its log does not.
    renameSync(at('a.db-wal'), at('away'))
    expect(() => checkDatabase(file, {})).toThrow('another process holds it: stop that process first')
    renameSync(at('away'), at('a.db-wal'))
    ports.close()
  })

  it('says what the mark knows that the database does not, with what is wrong inside', async () => {
    await written()
    const marks = openMarkFile(at('a.mark'))
    marks.write({ ...(marks.mark as Mark), resourceVersion: 50 })
    marks.close()
    rmSync(keyFile())
    expect(checkDatabase(file, { secrets: { keyFile: keyFile() } })).toMatchObject([
      {
        problems: [
          'a.db ends at resourceVersion 4, and 50 was written',
          'secrets.key is missing: the Secrets cannot be decrypted',
        ],
      },
      { what: 'pages' },
      { what: '3 states' },
      { what: 'references' },
      { what: 'checkpoints' },
      { problems: ['/Secret/default/s cannot be decrypted'] },
    ])
  })
})

describe('a backup', () => {
  it.each([
    { what: 'with its key', lacksKey: false, checks: 5 },
    { what: 'without its key', lose: () => rmSync(keyFile()), lacksKey: true, checks: 4 },
    { what: 'with another key', lose: () => writeKeyRing(keyFile(), [createKey()]), lacksKey: true, checks: 4 },
    {
      what: 'without its key and without Secrets',
      hasSecret: false,
      lose: () => rmSync(keyFile()),
      lacksKey: false,
      checks: 4,
    },
  ])('$what says what it is', async ({ hasSecret = true, lose, lacksKey, checks }) => {
    await written({ hasSecret })
    lose?.()
    const { checked, ...rest } = checkBackup(file, keyFile())
    expect([checked.length, checked.flatMap(({ problems }) => problems)]).toEqual([checks, []])
    expect(rest).toEqual({ lacksKey, resourceVersion: hasSecret ? 4 : 3 })
  })

  it('is none that is not there, that a process has, or that is another file', () => {
    const none = `${file} is no backup of a control plane: setpoint backup writes one`
    expect(() => checkBackup(file, keyFile())).toThrow(none)
    const ports = openGuardedPorts(file, systemClock, {})
    expect(() => checkBackup(file, keyFile())).toThrow(`${file} is in use by another process`)
    ports.close()
    writeFileSync(at('b.db'), 'text')
    expect(() => checkBackup(at('b.db'), keyFile())).toThrow('is no backup')
  })

  it('is a copy of what no process has, with what is in its log', async () => {
    const ports = openGuardedPorts(file, systemClock, {})
    await ports.store.create(storedWidget('w'))
    for (const end of ['', '-wal']) copyFileSync(file + end, at(`k.db${end}`))
    const isHeld = `cannot copy ${file}: another process holds it`
    expect(() => copyDatabase(file, at('copy.db'))).toThrow(isHeld)
    // Its lock tells of it where its log does not.
    renameSync(at('a.db-wal'), at('away'))
    expect(() => copyDatabase(file, at('copy.db'))).toThrow(isHeld)
    renameSync(at('away'), at('a.db-wal'))
    ports.close()
    copyDatabase(at('k.db'), at('copy.db'))
    expect([lookInto(at('copy.db')), existsSync(at('copy.db-wal'))]).toMatchObject([{ resourceVersion: 2 }, false])
    expect(() => copyDatabase(at('none'), at('other.db'))).toThrow(/cannot copy .*none: unable to open database file/)
  })

  it.each([
    ['whole', () => {}, []],
    ['damaged at its head', (log: Buffer) => log.fill(0xff, 0, 8), ['k.db-wal is damaged at its head']],
    [
      'damaged in its middle',
      (log: Buffer) => log.fill(0xff, 60, 80),
      ['k.db-wal is damaged: what was written behind'],
    ],
  ])('that is the database of a process that was killed says whether its log is %s', async (_what, harm, problems) => {
    await written()
    const killed = openGuardedPorts(file, systemClock, { secrets: { keyFile: keyFile() } })
    for (const name of ['a', 'b', 'c']) await killed.store.create(storedWidget(name))
    for (const end of ['', '-wal']) copyFileSync(file + end, at(`k.db${end}`))
    killed.close()
    const log = readFileSync(at('k.db-wal'))
    harm(log)
    writeFileSync(at('k.db-wal'), log)
    const found = checkBackup(at('k.db'), keyFile()).checked.flatMap((one) => one.problems)
    expect(found).toEqual(problems.map((problem) => expect.stringContaining(problem)))
  })

  it('that is the database of a process that was killed is put back with what is in its log', async () => {
    const killed = openGuardedPorts(file, systemClock, {})
    const widget = await killed.store.create(storedWidget('w'))
    for (const end of ['', '-wal']) copyFileSync(file + end, at(`k.db${end}`))
    killed.close()
    mkdirSync(at('new'))
    const restored = at('new/a.db')
    restoreDatabase({ backup: at('k.db'), file: restored, keyFile: keyFile(), nowMs: 0, asCopy: false })
    const ports = openGuardedPorts(restored, systemClock, { secrets: { keyFile: keyFile() } })
    expect(await ports.store.get(keyOf(widget.object))).toEqual(widget)
    ports.close()
    expect((statSync(restored).mode & 0o777).toString(8)).toBe('600')
  })

  it('that is put back in part is refused by a start, and is none that is new', () => {
    mkdirSync(at('new'))
    const restored = at('new/a.db')
    const restore = () =>
      restoreDatabase({ backup: at('none'), file: restored, keyFile: keyFile(), nowMs: 0, asCopy: false })
    expect(restore).toThrow('cannot copy')
    expect(openFilesIn(directory.path)).toEqual([])
    expect(() => openGuardedPorts(restored, systemClock, {})).toThrow(
      'a restore into this directory has not ended: empty it, and restore again',
    )
  })

  it.each([true, false])('is put back as another database, for its owner alone; as a copy: %s', async (asCopy) => {
    await written()
    chmodSync(file, 0o644)
    mkdirSync(at('new'))
    const restored = at('new/a.db')
    restoreDatabase({ backup: file, file: restored, keyFile: keyFile(), nowMs: 1_000_000_000, asCopy })
    const [before, after] = [lookInto(file), lookInto(restored)]
    expect(after).toMatchObject({ identity: { isHeld: asCopy, starts: 2 }, resourceVersion: 10_000_000_000 })
    expect(before).toMatchObject({ identity: { starts: 1 }, resourceVersion: 4 })
    expect((statSync(restored).mode & 0o777).toString(8)).toBe('600')
    expect(existsSync(at('new/a.mark'))).toBe(true)
    const ports = openGuardedPorts(restored, systemClock, { secrets: { keyFile: keyFile() } })
    expect(ports.isHeld).toBe(asCopy)
    ports.close()
  })
})
