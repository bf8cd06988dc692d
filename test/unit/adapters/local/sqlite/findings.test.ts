import { mkdirSync, rmSync, statSync, utimesSync, writeFileSync, type BigIntStats } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createKey, writeKeyRing } from '../../../../../shared/adapters/local/secrets/key-ring.ts'
import {
  findInDatabase,
  findInFiles,
  findKey,
  identifyFile,
  nameMarkFile,
  type Identity,
} from '../../../../../shared/adapters/local/sqlite/guard/findings.ts'
import type { Mark, ReadMark } from '../../../../../shared/adapters/local/sqlite/guard/mark-file.ts'
import { temporaryDirectory, type TemporaryDirectory } from '../../../../support/temporary-directory.ts'

let directory: TemporaryDirectory
let file: string
beforeEach(() => {
  directory = temporaryDirectory('findings')
  file = join(directory.path, 'a.db')
})
afterEach(() => directory[Symbol.dispose]())

const base: Mark = { database: 'd', inode: '1', bornNs: '2', resourceVersion: 7, starts: 3, state: 'closed' }

const unended: Mark = { ...base, inode: '0', starts: 0, state: 'open' }

/** The mark of the file that is there. */
function markOf(state: Mark['state'], more: Partial<Mark> = {}): Mark {
  return { ...base, ...identifyFile(statSync(file, { bigint: true })), state, ...more }
}

/** Until the file was changed later than it was born. False where the file system tells no birth. */
function changeLater(): boolean {
  const endMs = performance.now() + 1_000
  while (performance.now() < endMs) {
    utimesSync(file, 1, 1)
    if (markOf('closed').bornNs !== '0') return true
  }
  return false
}

describe('the files', () => {
  const witness = (): string => join(directory.path, 'token')

  it.each<[string, () => void, ReadMark, string | undefined]>([
    ['nothing', () => {}, 'missing', undefined],
    ['a witness', () => writeFileSync(witness(), ''), 'missing', 'a.db is missing, though its token is there'],
    ['a directory for a witness', () => mkdirSync(witness()), 'missing', undefined],
    ['a mark', () => {}, base, 'a.db is missing, though its a.mark is there'],
    ['a mark of a beginning', () => {}, { ...base, state: 'new' }, undefined],
    ['a mark that is damaged', () => {}, 'damaged', 'a.db is missing, though its a.mark is there'],
    ['an empty file', () => writeFileSync(file, ''), 'missing', undefined],
    ['an empty file and a mark', () => writeFileSync(file, ''), base, 'a.db is empty, though its a.mark is there'],
    ['an empty file and a mark of a beginning', () => writeFileSync(file, ''), { ...base, state: 'new' }, undefined],
    ['a file', () => writeFileSync(file, 'x'), 'missing', undefined],
    [
      'a file and a mark that is damaged',
      () => writeFileSync(file, 'x'),
      'damaged',
      'a.mark is damaged: whether changes are lost cannot be told',
    ],
    ['a mark of a restore', () => {}, unended, 'a restore into this directory has not ended'],
    [
      'a file and a mark of a restore',
      () => writeFileSync(file, 'x'),
      unended,
      'a restore into this directory has not ended',
    ],
    [
      'a mark of a file without a number',
      () => {},
      { ...unended, starts: 3 },
      'a.db is missing, though its a.mark is there',
    ],
    ['a mark of no start', () => {}, { ...unended, inode: '1' }, 'a.db is missing, though its a.mark is there'],
    ['another file', () => writeFileSync(file, 'x'), base, 'a.db is a copy of the file that was started last'],
    ['another file and a mark of a beginning', () => writeFileSync(file, 'x'), { ...base, state: 'new' }, undefined],
  ])('%s alone say what speaks against it: %#', (_what, make, mark, says) => {
    make()
    const findings = findInFiles(file, mark, [join(directory.path, 'none'), witness()])
    expect(findings).toEqual(says === undefined ? [] : [{ what: says.includes('copy') ? 'copy' : 'loss', says }])
  })

  it.each<[string, () => Mark, boolean, boolean?]>([
    ['itself', () => markOf('closed'), false],
    ['itself, where no birth is told', () => markOf('closed', { bornNs: '0' }), false],
    ['a file with another number', () => markOf('closed', { inode: '1' }), true],
    ['a file with another number, where no birth is told', () => markOf('closed', { inode: '1', bornNs: '0' }), true],
    ['a file of another birth', () => markOf('closed', { bornNs: '1' }), true, true],
  ])('a file beside the mark of %s is a copy: %#', (_what, mark, isCopy, needsBirth = false) => {
    writeFileSync(file, 'x')
    const isTold = changeLater()
    expect(findInFiles(file, mark(), []).map(({ what }) => what)).toEqual(
      isCopy && (isTold || !needsBirth) ? ['copy'] : [],
    )
  })

  it.each<[string, (log: string) => void, string | undefined]>([
    ['is whole', () => {}, undefined],
    ['is gone', (log) => rmSync(log), 'a.db-wal is missing or empty, which holds the last changes unless'],
    ['is empty', (log) => writeFileSync(log, ''), 'a.db-wal is missing or empty, which holds the last changes unless'],
    [
      'is another text',
      (log) => writeFileSync(log, 'x'),
      'a.db-wal is damaged at its head, and holds the last changes',
    ],
  ])('a log that %s speaks against a file that was open, and against no other', (_what, damage, says) => {
    const database = new DatabaseSync(file)
    database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (x)')
    try {
      damage(`${file}-wal`)
      const found = findInFiles(file, markOf('open'), [])
      expect(found).toEqual(says === undefined ? [] : [{ what: 'loss', says: expect.stringContaining(says) }])
      expect(findInFiles(file, markOf('closed'), [])).toEqual([])
    } finally {
      database.close()
    }
  })
})

describe('a database', () => {
  const identity: Identity = { database: 'd', starts: 3, isHeld: false, keyId: undefined }
  const missing = 'a.mark is missing: whether changes are lost cannot be told'

  const older = 'a.mark is older than a.db: whether changes are lost cannot be told'
  const open: Mark = { ...base, state: 'open' }

  it.each<[ReadMark, Identity | undefined, number, string | undefined]>([
    [base, identity, 7, undefined],
    [base, identity, 8, older],
    [open, identity, 8, undefined],
    [open, { ...identity, starts: 4 }, 8, undefined],
    [open, { ...identity, starts: 5 }, 7, older],
    [base, identity, 6, 'a.db ends at resourceVersion 6, and 7 was written'],
    [base, { ...identity, starts: 2 }, 7, 'a.db is of start 2, not 3'],
    [base, { ...identity, starts: 4 }, 7, undefined],
    [base, { ...identity, database: 'e' }, 7, 'a.db is another database than the one that a.mark is of'],
    [base, undefined, 7, 'a.db is another database than the one that a.mark is of'],
    [{ ...base, state: 'new' }, undefined, 1, undefined],
    [{ ...base, state: 'new' }, { ...identity, database: 'e', starts: 1 }, 1, undefined],
    [{ ...base, state: 'new' }, { ...identity, database: 'e', starts: 2 }, 1, older],
    ['missing', identity, 7, missing],
    ['missing', undefined, 7, undefined],
    ['damaged', identity, 7, undefined],
    ['damaged', undefined, 7, undefined],
  ])('beside the mark %j that says %j and ends at %d has lost something: %s', (mark, told, resourceVersion, says) => {
    const findings = findInDatabase(file, mark, { identity: told, resourceVersion })
    expect(findings).toEqual(says === undefined ? [] : [{ what: 'loss', says }])
  })

  it.each([
    [60_000, 0],
    [60_001, 1],
  ])('with changes of %d ms that an open mark does not know of has so many findings: %d', (aheadMs, count) => {
    expect(findInDatabase(file, open, { identity, resourceVersion: 5_000, aheadMs })).toHaveLength(count)
    expect(findInDatabase(file, base, { identity, resourceVersion: 7, aheadMs })).toEqual([])
  })

  it('whose Secrets are sealed needs its key', () => {
    const keyFile = join(directory.path, 'secrets.key')
    const [key, other] = [createKey(), createKey()]
    const says = (keyId?: string) => {
      const told = { identity: { ...identity, keyId }, resourceVersion: 7 }
      return findKey(keyFile, told).map((one) => `${one.what}: ${one.says}`)
    }
    expect([says(), says('k')]).toEqual([[], ['loss: secrets.key is missing: the Secrets cannot be decrypted']])
    expect(findKey(keyFile, { identity: undefined, resourceVersion: 7 })).toEqual([])
    writeFileSync(keyFile, 'x\n')
    expect(says('k')).toEqual(['loss: secrets.key is damaged: the Secrets cannot be decrypted'])
    writeKeyRing(keyFile, [other, key])
    expect([says(key.id), says(other.id)]).toEqual([[], []])
    expect(says('k')).toEqual(['loss: secrets.key holds another key than the one of the Secrets'])
  })
})

it.each([
  [5n, 5n, '0'],
  [4n, 5n, '4'],
])('a file born at %d and changed at %d was born at %s', (birthtimeNs, ctimeNs, bornNs) => {
  expect(identifyFile({ ino: 9n, birthtimeNs, ctimeNs } as BigIntStats)).toEqual({ inode: '9', bornNs })
})

it.each([
  ['/d/setpoint.db', '/d/setpoint.mark'],
  ['/d/setpoint', '/d/setpoint.mark'],
  ['/d.db/x', '/d.db/x.mark'],
])('the mark of %s is %s', (name, mark) => expect(nameMarkFile(name)).toBe(mark))
