import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { createKey, readKeyRing, writeKeyRing } from '../../../../../shared/adapters/local/secrets/key-ring.ts'
import { prepareSecrets } from '../../../../../shared/adapters/local/secrets/prepare-secrets.ts'
import { reseal } from '../../../../../shared/adapters/local/secrets/reseal.ts'
import { createSealing } from '../../../../../shared/adapters/local/secrets/sealing.ts'
import { temporaryDirectory } from '../../../../support/temporary-directory.ts'

/** A file with so many Secrets in clear, and what is asked of it. */
function fileWith(secrets: number): { prepare(sql: string): StatementSync; readonly asked: string[] } {
  const database = new DatabaseSync(':memory:')
  database.exec(`
    CREATE TABLE kinds (id INTEGER PRIMARY KEY, api_group TEXT, kind TEXT);
    CREATE TABLE changes (rv INTEGER PRIMARY KEY, kind INTEGER, engine TEXT, doc TEXT, sum TEXT);
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
      return database.prepare(sql)
    },
    asked,
  }
}

it('seals every Secret, however many commits that takes, and makes the file anew', () => {
  const file = fileWith(450)
  expect(reseal(file, createSealing([createKey()]))).toBe(450)
  const left = file.prepare(`SELECT kind FROM changes WHERE doc LIKE '%bmVlZGxl%'`).all()
  expect(left).toEqual([{ kind: 2 }])
  expect(file.asked).toContain('VACUUM')
})

it('does no more than look where all are sealed with this key, and leaves the connection as it was', () => {
  const file = fileWith(3)
  const sealing = createSealing([createKey()])
  reseal(file, sealing)
  file.asked.length = 0
  expect(reseal(file, sealing)).toBe(0)
  expect(file.asked).not.toContain('VACUUM')
  expect(file.prepare('PRAGMA secure_delete').all()).toEqual([{ secure_delete: 0 }])
})

it('asks the file nothing at a start with the one key that it had', () => {
  using directory = temporaryDirectory('keys')
  const keyFile = join(directory.path, 'secrets.key')
  const key = createKey()
  writeKeyRing(keyFile, [key])
  const file = fileWith(1)
  expect(prepareSecrets(file, { keyFile }, key.id).keyId).toBe(key.id)
  expect(file.asked).toEqual([])
  expect(prepareSecrets(file, { keyFile, rotateKey: true }, key.id).keyId).not.toBe(key.id)
  expect(readKeyRing(keyFile)).toHaveLength(1)
  expect(readKeyRing(keyFile)).not.toEqual([key])
})
