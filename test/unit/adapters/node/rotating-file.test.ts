import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openRotatingFile } from '../../../../shared/adapters/node/rotating-file.ts'
import { temporaryDirectory } from '../../../support/temporary-directory.ts'

let directory: ReturnType<typeof temporaryDirectory>
let file: string
beforeEach(() => {
  vi.useFakeTimers()
  directory = temporaryDirectory('rotating')
  file = join(directory.path, 'audit.log')
})
afterEach(() => {
  vi.useRealTimers()
  directory[Symbol.dispose]()
})

/** What was appended before is written with the end of it. */
const rest = () => vi.advanceTimersByTime(20)

const reports: unknown[] = []
const open = (bytesMax = 1_000) =>
  openRotatingFile({ file, bytesMax, kept: 2, report: (error) => void reports.push(error) })

describe('a file of lines', () => {
  it('has them in order, for its owner only, and goes on where it was', () => {
    const lines = open()
    lines.append('one\n')
    lines.append('two\n')
    rest()
    expect(readFileSync(file, 'utf8')).toBe('one\ntwo\n')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    lines.append('three\n')
    lines.close()
    const again = open()
    again.append('four\n')
    again.close()
    expect(readFileSync(file, 'utf8')).toBe('one\ntwo\nthree\nfour\n')
  })

  it('is put aside when it is full, and only so many are kept', () => {
    const lines = open(10)
    for (const line of ['aaaaaa\n', 'bbbbbb\n', 'cccccc\n', 'dddddd\n', 'eeeeee\n']) {
      lines.append(line)
      rest()
    }
    lines.close()
    expect(readdirSync(directory.path).toSorted()).toEqual(['audit.log', 'audit.log.1', 'audit.log.2'])
    expect(['', '.1', '.2'].map((end) => readFileSync(`${file}${end}`, 'utf8'))).toEqual([
      'eeeeee\n',
      'dddddd\n',
      'cccccc\n',
    ])
  })

  it('that cannot be written loses lines, says so once, and goes on when it can', () => {
    reports.length = 0
    mkdirSync(file)
    const lines = open()
    for (const line of ['lost\n', 'lost\n']) {
      lines.append(line)
      rest()
    }
    expect(reports).toHaveLength(1)
    rmSync(file, { recursive: true })
    lines.append('kept\n')
    lines.close()
    expect(readFileSync(file, 'utf8')).toBe('kept\n')
  })
})
