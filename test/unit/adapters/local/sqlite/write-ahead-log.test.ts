import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readLogState } from '../../../../../shared/adapters/local/sqlite/guard/write-ahead-log.ts'
import { temporaryDirectory, type TemporaryDirectory } from '../../../../support/temporary-directory.ts'

/** A log as SQLite writes it: the head, a page for each of three commits, and behind them those of an earlier use. */
let log: Buffer
let directory: TemporaryDirectory
const headBytes = 32
const frameBytes = 24 + 4_096
const commits = 3
const frameAt = (nth: number): number => headBytes + nth * frameBytes

beforeAll(() => {
  directory = temporaryDirectory('log')
  const file = join(directory.path, 'a.db')
  const database = new DatabaseSync(file)
  database.exec('PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; CREATE TABLE t (x)')
  const write = (count: number): void => {
    for (let i = 0; i < count; i++) database.exec(`INSERT INTO t VALUES (${i})`)
  }
  write(commits + 2)
  database.exec('PRAGMA wal_checkpoint(RESTART)')
  write(commits)
  log = readFileSync(`${file}-wal`)
  database.close()
})
afterAll(() => directory[Symbol.dispose]())

function stateOf(bytes: Buffer): string {
  const file = join(directory.path, 'b.db-wal')
  writeFileSync(file, bytes)
  return readLogState(file)
}

/** The log with another byte at a place. */
function damaged(at: number): Buffer {
  const bytes = Buffer.from(log)
  bytes[at] = (bytes[at] ?? 0) ^ 0xff
  return bytes
}

it('holds more than it is used for', () => expect(log.length).toBeGreaterThan(frameAt(commits)))

it('is whole as SQLite leaves it', () => expect(stateOf(log)).toBe('whole'))

it('is whole up to a commit that was not finished', () => {
  expect(stateOf(log.subarray(0, frameAt(2) + 100))).toBe('whole')
})

it('is none where there is no file, or an empty one', () => {
  expect(readLogState(join(directory.path, 'nothing'))).toBe('none')
  expect(stateOf(Buffer.alloc(0))).toBe('none')
})

it.each([
  ['its mark', 0],
  ['the size of its pages', 9],
  ['its salt', 17],
  ['its checksum', 25],
])('is unreadable without its head: %s', (_, at) => {
  expect(stateOf(damaged(at))).toBe('unreadable')
  expect(stateOf(log.subarray(0, headBytes - 1))).toBe('unreadable')
})

it.each([
  ['the number of the page', 2],
  ['the salt', 10],
  ['the checksum', 17],
  ['the page', 24 + 4_000],
])('is broken where commits that were on disk lie behind damage: %s', (_, within) => {
  expect(stateOf(damaged(frameAt(0) + within))).toBe('broken')
})

it('of its last commit nobody can tell', () => {
  expect(stateOf(damaged(frameAt(commits - 1) + 2_000))).toBe('whole')
})

it('frames of an earlier use are none of it', () => {
  expect(stateOf(damaged(frameAt(commits) + 2_000))).toBe('whole')
})

it('is broken where its very last commit lies behind damage', () => {
  const bytes = damaged(frameAt(1) + 2_000)
  expect(stateOf(bytes.subarray(0, frameAt(commits)))).toBe('broken')
  expect(stateOf(bytes.subarray(0, frameAt(commits) - 1))).toBe('whole')
})

it('is whole with a head alone', () => expect(stateOf(log.subarray(0, headBytes))).toBe('whole'))

it('of a commit of several pages nobody can tell, where one of them is damaged', () => {
  const file = join(directory.path, 'c.db')
  const database = new DatabaseSync(file)
  database.exec('PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; CREATE TABLE t (x)')
  const before = readFileSync(`${file}-wal`).length
  database.exec('INSERT INTO t VALUES (zeroblob(20000))')
  const bytes = readFileSync(`${file}-wal`)
  expect((bytes.length - before) / frameBytes).toBeGreaterThan(2)
  bytes[before + 2_000] = 1
  expect(stateOf(bytes)).toBe('whole')
  database.exec('INSERT INTO t VALUES (1)')
  const longer = readFileSync(`${file}-wal`)
  longer[before + 2_000] = 1
  expect(stateOf(longer)).toBe('broken')
  database.close()
})

/** The same log, with its sums made anew as they are under this mark. */
function summedAs(magic: number): Buffer {
  const bytes = Buffer.from(log.subarray(0, frameAt(commits)))
  bytes.writeUInt32BE(magic)
  let sum: readonly number[] = [0, 0]
  const addUp = (from: number, to: number): void => {
    let [one = 0, other = 0] = sum
    for (let at = from; at < to; at += 8) {
      const [x, y] = [at, at + 4].map((place) =>
        magic % 2 === 1 ? bytes.readUInt32BE(place) : bytes.readUInt32LE(place),
      )
      one = (one + (x ?? 0) + other) % 2 ** 32
      other = (other + (y ?? 0) + one) % 2 ** 32
    }
    sum = [one, other]
  }
  const write = (at: number): void => {
    for (const [i, half] of sum.entries()) bytes.writeUInt32BE(half, at + 4 * i)
  }
  addUp(0, 24)
  write(24)
  for (let at = headBytes; at < bytes.length; at += frameBytes) {
    addUp(at, at + 8)
    addUp(at + 24, at + frameBytes)
    write(at + 16)
  }
  return bytes
}

it.each([
  ['a machine that begins with the low byte', 0x377f0682, 'whole', 'broken'],
  ['a machine that begins with the high byte', 0x377f0683, 'whole', 'broken'],
  ['no version of SQLite', 0x377f0684, 'unreadable', 'unreadable'],
])('of %s is read as it was written', (_what, magic, state, behindDamage) => {
  const bytes = summedAs(magic)
  expect(stateOf(bytes)).toBe(state)
  bytes[frameAt(0) + 2_000] = 7
  expect(stateOf(bytes)).toBe(behindDamage)
})
