import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import {
  createKey,
  readKeyRing,
  writeKeyRing,
  type SecretKey,
} from '../../../../../shared/adapters/local/secrets/key-ring.ts'
import { forgetOtherKeys, prepareSecrets } from '../../../../../shared/adapters/local/secrets/prepare-secrets.ts'
import { isKeyNeeded, reseal } from '../../../../../shared/adapters/local/secrets/reseal.ts'
import { createSealing } from '../../../../../shared/adapters/local/secrets/sealing.ts'
import { temporaryDirectory } from '../../../../support/temporary-directory.ts'

/** A file with so many Secrets in clear, and what is asked of it. */
function fileWith(secrets: number): { prepare(sql: string): StatementSync; readonly asked: string[] } {
  const database = new DatabaseSync(':memory:')
  database.exec(`
    CREATE TABLE kinds (id INTEGER PRIMARY KEY, api_group TEXT, kind TEXT);
    CREATE TABLE changes (rv INTEGER PRIMARY KEY, kind INTEGER, engine TEXT, doc TEXT, sum INTEGER);
    INSERT INTO kinds VALUES (1, '', 'Secret'), (2, '', 'ConfigMap');`)
  const insert = database.prepare('INSERT INTO changes VALUES (?, ?, NULL, ?, NULL)')
  const metadata = { name: 'n', namespace: 'default', uid: 'u', resourceVersion: '1', generation: 1 }
  const docOf = (kind: string): string => JSON.stringify({ apiVersion: 'v1', kind, metadata, data: { a: 'bmVlZGxl' } })
  for (let rv = 1; rv <= secrets; rv++) insert.run(rv, 1, docOf('Secret'))
  insert.run(secrets + 1, 2, docOf('ConfigMap'))
  const asked: string[] = []
  return {
    prepare: (sql) => {
      asked.push(sql)
      if (sql === 'BEGIN IMMEDIATE')
        expect(database.prepare('PRAGMA secure_delete').get()).toEqual({ secure_delete: 1 })
      return database.prepare(sql)
    },
    asked,
  }
}

const inClear = (file: ReturnType<typeof fileWith>): readonly unknown[] =>
  file.prepare(`SELECT kind FROM changes WHERE doc LIKE '%bmVlZGxl%'`).all()

/** The last commit finds nothing more. */
it.each([
  [1, 2],
  [400, 3],
  [401, 4],
])(
  'seals every Secret, 200 in a commit, overwrites what was there, and makes the file anew: %d',
  (secrets, commits) => {
    const file = fileWith(secrets)
    expect(reseal(file, createSealing([createKey()]))).toEqual({ changed: secrets, left: 0 })
    expect(inClear(file)).toEqual([{ kind: 2 }])
    expect(file.asked.filter((sql) => sql === 'BEGIN IMMEDIATE')).toHaveLength(commits)
    expect(file.asked).toContain('VACUUM')
  },
)

it('changes nothing where all are sealed with this key, and leaves the connection as it was', () => {
  const file = fileWith(3)
  const sealing = createSealing([createKey()])
  reseal(file, sealing)
  file.asked.length = 0
  expect(reseal(file, sealing)).toEqual({ changed: 0, left: 0 })
  expect(file.asked).toContain('VACUUM')
  expect(file.prepare('PRAGMA secure_delete').all()).toEqual([{ secure_delete: 0 }])
})

it('asks the file nothing at a start with the one key that it had', () => {
  using directory = temporaryDirectory('keys')
  const keyFile = join(directory.path, 'secrets.key')
  const key = createKey()
  writeKeyRing(keyFile, [key])
  const file = fileWith(1)
  expect(prepareSecrets(file, { keyFile }, key.id)).toMatchObject({ sealing: { keyId: key.id }, keys: [key], left: 0 })
  expect(file.asked).toEqual([])
  const { sealing, keys } = prepareSecrets(file, { keyFile, rotateKey: true }, key.id)
  expect(sealing.keyId).not.toBe(key.id)
  expect(readKeyRing(keyFile)).toEqual([expect.anything(), key])
  forgetOtherKeys({ keyFile }, keys)
  expect(readKeyRing(keyFile)).toEqual(keys)
  expect(keys.map(({ id }) => id)).toEqual([sealing.keyId])
})

describe('a state that cannot be read', () => {
  const [one, other] = [createKey(), createKey()]
  const rowsOf = (file: ReturnType<typeof fileWith>) => file.prepare('SELECT * FROM changes WHERE kind = 1').all()

  /** Three Secrets that are sealed, one of which is harmed then. */
  function harmed(how: string): ReturnType<typeof fileWith> {
    const file = fileWith(3)
    reseal(file, createSealing([one]))
    file.prepare(`UPDATE changes SET ${how} WHERE rv = 2`).run()
    return file
  }

  it.each([
    ['another checksum', 'sum = sum + 1'],
    ['another text', 'doc = replace(doc, \'"name":"n"\', \'"name":"m"\')'],
    ['a text that is no object', 'doc = substr(doc, 1, length(doc) - 1), sum = NULL'],
    ['a value of another Secret', 'doc = replace(doc, \'"uid":"u"\', \'"uid":"v"\'), sum = NULL'],
  ])('stays as it is, and is counted: %s', (_what, how) => {
    const file = harmed(how)
    const before = rowsOf(file)
    expect(reseal(file, createSealing([other, one]))).toEqual({ changed: 2, left: 1 })
    const after = rowsOf(file)
    expect(after[1]).toEqual(before[1])
    expect(after[0]).not.toEqual(before[0])
  })

  it('keeps the key that it is sealed with in the file, until it is gone', () => {
    using directory = temporaryDirectory('keys')
    const keyFile = join(directory.path, 'secrets.key')
    writeKeyRing(keyFile, [one])
    const file = harmed('sum = sum + 1')
    const start = (known: SecretKey, rotateKey = false) => {
      const prepared = prepareSecrets(file, { keyFile, rotateKey }, known.id)
      forgetOtherKeys({ keyFile }, prepared.keys)
      expect(readKeyRing(keyFile)).toEqual(prepared.keys)
      return prepared
    }
    const rotated = start(one, true)
    const [second] = rotated.keys
    expect(rotated).toMatchObject({ keys: [second, one], left: 1 })
    file.asked.length = 0
    expect(start(second)).toMatchObject({ keys: [second, one], left: 0 })
    expect(file.asked).toEqual([expect.stringMatching(/^SELECT 1 /)])
    const third = start(second, true)
    expect(third).toMatchObject({ keys: [third.keys[0], one], left: 1 })
    // As the process writes them when the file is taken away.
    third.sealing.writeKeys(keyFile)
    expect(readKeyRing(keyFile)).toEqual(third.keys)
    file.prepare('DELETE FROM changes WHERE rv = 2').run()
    expect(start(third.keys[0])).toMatchObject({ keys: [third.keys[0]], left: 0 })
  })

  it.each([
    [11, 'malformed', true],
    [266, 'disk I/O error', true],
    [13, 'database or disk is full', false],
  ])('because its place is damaged may need any key: error %d', (errcode, message, isNeeded) => {
    const get = (): never => {
      throw Object.assign(new Error(message), { errcode })
    }
    const ask = () => isKeyNeeded({ prepare: () => ({ get }) as never }, one.id)
    if (isNeeded) expect(ask()).toBe(true)
    else expect(ask).toThrow(message)
  })
})

describe('a start', () => {
  const [one, other] = [createKey(), createKey()]

  interface Start {
    readonly what: string
    /** What is in the key file. */
    readonly held?: readonly [SecretKey, ...SecretKey[]] | string
    readonly rotateKey?: boolean
    /** Whose key the database names. */
    readonly known?: SecretKey
    readonly meanwhile: readonly string[]
  }

  it.each<Start>([
    { what: 'the first', meanwhile: ['new'] },
    { what: 'the first, with another key asked for', rotateKey: true, meanwhile: ['new'] },
    { what: 'one with a damaged key file', held: 'nothing', known: one, meanwhile: ['new'] },
    { what: 'one whose database was not sealed', held: [one], meanwhile: ['one'] },
    { what: 'one whose database was sealed with another key', held: [one], known: other, meanwhile: ['one'] },
    { what: 'one behind a change that was broken off', held: [one, other], known: other, meanwhile: ['one', 'other'] },
    { what: 'one with another key asked for', held: [one], rotateKey: true, known: one, meanwhile: ['new', 'one'] },
    {
      what: 'one with another key asked for, behind a change that was broken off',
      held: [one, other],
      rotateKey: true,
      known: one,
      meanwhile: ['new', 'one', 'other'],
    },
  ])(
    '$what seals with the first of the keys that the file holds, and keeps that one when the database names it',
    ({ held, rotateKey, known, meanwhile }) => {
      using directory = temporaryDirectory('keys')
      const keyFile = join(directory.path, 'secrets.key')
      if (typeof held === 'string') writeFileSync(keyFile, held)
      else if (held !== undefined) writeKeyRing(keyFile, held)
      const ringNow = (): readonly string[] => {
        const ring = readKeyRing(keyFile)
        if (typeof ring === 'string') return [ring]
        return ring.map(({ id }) => (id === one.id ? 'one' : id === other.id ? 'other' : 'new'))
      }
      const file = fileWith(1)
      const rings: (readonly string[])[] = []
      const watched = {
        prepare: (sql: string) => {
          rings.push(ringNow())
          return file.prepare(sql)
        },
      }
      const { sealing, keys } = prepareSecrets(watched, { keyFile, rotateKey }, known?.id)
      expect(rings[0]).toEqual(meanwhile)
      expect(ringNow()).toEqual(meanwhile)
      forgetOtherKeys({ keyFile }, keys)
      expect(ringNow()).toEqual(meanwhile.slice(0, 1))
      expect(inClear(file)).toEqual([{ kind: 2 }])
      const ring = readKeyRing(keyFile)
      expect(sealing.keyId).toBe(typeof ring === 'string' ? ring : ring[0].id)
      // It opens with what the file holds, and with nothing else.
      const [sealed] = file.prepare('SELECT doc FROM changes WHERE kind = 1').all() as { readonly doc: string }[]
      expect(sealing.open(JSON.parse(sealed?.doc ?? ''))?.['data']).toEqual({ a: 'bmVlZGxl' })
      expect(sealing.open(createSealing([createKey()]).seal(JSON.parse(sealed?.doc ?? '')))).toBeUndefined()
    },
  )

  it('behind a change of which only the file was not told seals nothing, and forgets the key of before', () => {
    using directory = temporaryDirectory('keys')
    const keyFile = join(directory.path, 'secrets.key')
    writeKeyRing(keyFile, [one, other])
    const file = fileWith(1)
    const { keys } = prepareSecrets(file, { keyFile }, one.id)
    expect(file.asked).toEqual([expect.stringMatching(/^SELECT 1 /)])
    expect(readKeyRing(keyFile)).toEqual([one, other])
    forgetOtherKeys({ keyFile }, keys)
    expect(readKeyRing(keyFile)).toEqual([one])
  })

  it('writes the key file no more than it has to', () => {
    using directory = temporaryDirectory('keys')
    const keyFile = join(directory.path, 'secrets.key')
    writeKeyRing(keyFile, [one])
    const { ino } = statSync(keyFile)
    const { keys } = prepareSecrets(fileWith(1), { keyFile }, other.id)
    forgetOtherKeys({ keyFile }, keys)
    expect(statSync(keyFile).ino).toBe(ino)
  })
})
