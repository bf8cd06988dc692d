import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  openSqliteRunHistory,
  type SqliteRunHistory,
  type SqliteRunHistoryOptions,
} from '../../../../../shared/adapters/local/history/sqlite-run-history.ts'
import { keptRuns, type PastRun } from '../../../../../shared/ports/run-history.ts'
import { openFilesIn } from '../../../../support/open-files.ts'
import { temporaryDirectory, type TemporaryDirectory } from '../../../../support/temporary-directory.ts'

let directory: TemporaryDirectory
let file: string
let histories: SqliteRunHistory[]
const told: unknown[] = []

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  directory = temporaryDirectory('history', existsSync('/dev/shm') ? '/dev/shm' : tmpdir())
  file = join(directory.path, 'runs.db')
  histories = []
  told.length = 0
})
afterEach(() => {
  for (const history of histories) history.close()
  vi.useRealTimers()
  directory[Symbol.dispose]()
})

function open(options: Partial<SqliteRunHistoryOptions> = {}): SqliteRunHistory {
  const history = openSqliteRunHistory({ file, report: (error) => told.push(error), ...options })
  const close = (): void => {
    histories = histories.filter((one) => one.close !== close)
    history.close()
  }
  histories.push({ ...history, close })
  return { ...history, close }
}

const run = (atMs: number): PastRun => ({ atMs, ms: 1, causes: ['created'], outcome: 'done' })

/** As another process sees it. */
function raw(sql: string): readonly unknown[] {
  using database = new DatabaseSync(file)
  return sql.startsWith('SELECT') ? database.prepare(sql).all() : [database.exec(sql)]
}
const rows = (): number => (raw('SELECT count(*) AS count FROM runs')[0] as { readonly count: number }).count

describe('runs', () => {
  it.each([
    [undefined, 1_000],
    [50, 50],
  ])('are written together after %s ms, and not before', (flushMs, ms) => {
    const history = open(flushMs === undefined ? {} : { flushMs })
    history.note('a', run(1))
    history.note('b', run(2))
    vi.advanceTimersByTime(ms - 1)
    expect(rows()).toBe(0)
    vi.advanceTimersByTime(1)
    expect(rows()).toBe(2)
    history.note('a', run(3))
    vi.advanceTimersByTime(ms)
    expect(rows()).toBe(3)
  })

  it('are written when it is closed, and never again', () => {
    const history = open()
    history.note('a', run(1))
    history.close()
    expect([rows(), vi.getTimerCount()]).toEqual([1, 0])
    expect(existsSync(`${file}-wal`)).toBe(false)
  })

  it('are a thousand in one write at most', () => {
    const history = open()
    for (let i = 0; i < 1_001; i++) history.note(`object-${i}`, run(i))
    history.flush()
    expect(rows()).toBe(1_000)
  })

  it(`are ${keptRuns} of each object`, () => {
    const history = open()
    for (let i = 0; i < keptRuns + 5; i++) history.note('a', run(i))
    history.note('b', run(0))
    history.flush()
    expect(rows()).toBe(keptRuns + 1)
  })

  it('are read as they are, the waiting ones too, and the quiet ones behind them', async () => {
    const history = open()
    for (let i = 0; i < keptRuns; i++) history.note('a', run(i))
    history.flush()
    expect((await history.read('a')).map(({ atMs }) => atMs)).toEqual(Array.from({ length: keptRuns }, (_, i) => i))
    history.note('a', run(100))
    history.noteQuiet('a', { atMs: 200, ms: 1, causes: ['resync'] })
    const read = await history.read('a')
    expect([read.length, read[0]?.atMs, read.at(-1)]).toEqual([
      keptRuns,
      2,
      { atMs: 200, ms: 1, causes: ['resync'], outcome: 'done', times: 1 },
    ])
    history.note('a', run(300))
    history.flush()
    expect((await history.read('a')).slice(-2).map(({ atMs }) => atMs)).toEqual([200, 300])
  })
})

describe('a history', () => {
  const sizeNow = (): number => {
    const sql =
      'SELECT (page_count - freelist_count) * page_size AS bytes FROM pragma_page_count, pragma_freelist_count, pragma_page_size'
    return (raw(sql)[0] as { readonly bytes: number }).bytes
  }
  const fill = (count: number): void => {
    open().close()
    using database = new DatabaseSync(file)
    const insert = database.prepare("INSERT INTO runs (uid, doc) VALUES (?, '{}')")
    database.exec('BEGIN')
    for (let i = 0; i < count; i++) insert.run(`o${i}`)
    database.exec('COMMIT')
  }

  it.each([
    [0, 2_501],
    [-1, 501],
  ])('that is larger than it may be by %d bytes loses its oldest two thousand', async (by, left) => {
    fill(2_500)
    const history = open({ bytesMax: sizeNow() + by })
    history.note('new', run(1))
    history.flush()
    expect(rows()).toBe(left)
    expect(await history.read('new')).toHaveLength(1)
  })

  it('loses nothing where nothing is written, however large it is', () => {
    fill(2_500)
    open({ bytesMax: sizeNow() - 1 }).flush()
    expect(rows()).toBe(2_500)
  })

  it('is for its owner alone, with the files beside it, whoever could read them before', () => {
    for (let i = 0; i < 2; i++) {
      const history = open()
      const modes = ['', '-wal', '-shm'].map((end) => (statSync(file + end).mode & 0o777).toString(8))
      expect(modes).toEqual(['600', '600', '600'])
      history.close()
      chmodSync(file, 0o644)
    }
  })

  it.each([
    [1_024, 2],
    [1_025, 0],
  ])('may have 64 MiB and no more: with %d pages of 64 KiB it has %d runs', (pages, left) => {
    raw('PRAGMA page_size = 65536; VACUUM')
    const first = open()
    first.note('old', run(1))
    first.close()
    // Pages that hold nothing: the file is as large as its head says.
    truncateSync(file, pages * 65_536)
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(pages)
    const descriptor = openSync(file, 'r+')
    writeSync(descriptor, bytes, 0, 4, 28)
    closeSync(descriptor)
    const history = open()
    history.note('new', run(2))
    history.flush()
    expect(rows()).toBe(left)
  })

  it.each(['ABORT', 'ROLLBACK'] as const)(
    'that cannot be written says so once, and goes on when it can: %s',
    async (how) => {
      open().close()
      raw(`CREATE TRIGGER full BEFORE INSERT ON runs WHEN new.uid = 'bad' BEGIN SELECT RAISE(${how}, 'full'); END`)
      const history = open()
      const write = (uid: string): void => {
        history.note('good', run(1))
        history.note(uid, run(1))
        expect(() => history.flush()).not.toThrow()
      }
      write('bad')
      write('bad')
      expect(told).toMatchObject([{ message: 'full' }])
      expect(rows()).toBe(0)
      write('fine')
      expect([rows(), told.length]).toEqual([2, 1])
      write('bad')
      expect([rows(), told.length]).toEqual([2, 2])
      expect(await history.read('good')).toHaveLength(1)
    },
  )

  it('that holds what nobody can read says which file may go', async () => {
    const history = open()
    history.note('a', run(1))
    history.flush()
    raw("UPDATE runs SET doc = '{'")
    await expect(history.read('a')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/^cannot read .*runs\.db: .*; it may be deleted$/),
    })
  })

  it('that is none is begun anew, with what lies beside it', async () => {
    for (const end of ['', '-wal', '-shm']) writeFileSync(file + end, 'nothing of ours'.repeat(1_000))
    const history = open()
    history.note('a', run(1))
    expect(await history.read('a')).toEqual([run(1)])
    expect(readFileSync(`${file}-wal`, 'latin1')).not.toContain('nothing of ours')
    history.close()
    expect(openFilesIn(directory.path)).toEqual([])
  })
})
