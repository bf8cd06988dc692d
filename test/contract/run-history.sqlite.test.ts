import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openSqliteRunHistory } from '../../shared/adapters/local/history/sqlite-run-history.ts'
import { processorMs } from '../support/processor-time.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { pastRun, runHistoryContract } from './run-history.contract.ts'

const scratch = temporaryDirectory('history')
afterAll(() => scratch[Symbol.dispose]())
let count = 0
const newFile = (): string => join(scratch.path, `${count++}.db`)
const report = (error: unknown): void => {
  throw error
}
/** Written only when it is read or closed. */
const open = (file: string) => openSqliteRunHistory({ file, report, flushMs: 1e9 })

runHistoryContract('SQLite', () => {
  const file = newFile()
  const history = open(file)
  const opened = [history]
  return {
    history,
    reopen: () => {
      // Its files as a killed process leaves them: the log is not put away.
      const copy = newFile()
      for (const end of ['', '-wal']) writeFileSync(copy + end, readFileSync(file + end))
      opened.push(open(copy))
      return opened.at(-1) ?? history
    },
    close: () => {
      for (const one of opened) one.close()
    },
  }
})

it('a file that is no history is begun anew', async () => {
  const file = newFile()
  writeFileSync(file, 'nothing of ours'.repeat(1_000))
  const history = open(file)
  history.note('a', pastRun(1))
  expect(await history.read('a')).toEqual([pastRun(1)])
  history.close()
})

it.each(['anew', 'as an earlier version left it'])('is readable by its account only: %s', (how) => {
  const file = newFile()
  const files = [file, `${file}-wal`, `${file}-shm`]
  if (how !== 'anew') {
    open(file).close()
    chmodSync(file, 0o644)
  }
  const history = open(file)
  history.note('a', pastRun(1))
  history.flush()
  expect(files.map((name) => (statSync(name).mode & 0o777).toString(8))).toEqual(['600', '600', '600'])
  history.close()
})

it('grows to its size and no further, and loses the oldest first', async () => {
  const file = newFile()
  const bytesMax = 1_000_000
  const history = openSqliteRunHistory({ file, report, flushMs: 1e9, bytesMax })
  for (let i = 0; i < 20_000; i++) {
    history.note(`object-${i}`, pastRun(i, { message: 'x'.repeat(200) }))
    if (i % 500 === 0) history.flush()
  }
  expect(await history.read('object-0')).toEqual([])
  expect(await history.read('object-19999')).toHaveLength(1)
  expect(statSync(file).size).toBeLessThan(3 * bytesMax)
  history.close()
})

it('does not hold the process: of very many at once it keeps some', async () => {
  const history = open(newFile())
  for (let i = 0; i < 50_000; i++) history.note(`object-${i % 5_000}`, pastRun(i))
  expect(processorMs(() => history.flush())).toBeLessThan(400)
  expect(await history.read('object-0')).toHaveLength(1)
  history.close()
})

it('tells once that runs are lost, and goes on when they can be written', async () => {
  const told: unknown[] = []
  const history = openSqliteRunHistory({ file: newFile(), report: (error) => told.push(error), flushMs: 1e9 })
  const broken = { ...pastRun(1), outside: 1n as unknown as Record<string, number> }
  for (let i = 0; i < 3; i++) {
    history.note('a', broken)
    history.flush()
  }
  expect(told).toHaveLength(1)
  history.note('a', pastRun(2))
  expect(await history.read('a')).toEqual([pastRun(2)])
  history.close()
})
