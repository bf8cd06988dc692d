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
