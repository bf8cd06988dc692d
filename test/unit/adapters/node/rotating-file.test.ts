import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
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

const late = (text: string) => ({ line: () => text })

/** What was appended before is written with the end of it. */
const rest = () => vi.advanceTimersByTime(200)

const reports: unknown[] = []
const open = (bytesMax = 1_000) =>
  openRotatingFile({ file, bytesMax, kept: 2, report: (error) => void reports.push(error) })

describe('a file of lines', () => {
  it('has them in order, for its owner only, and goes on where it was', () => {
    const lines = open()
    lines.append(late('one'))
    lines.append(late('two'))
    rest()
    expect(readFileSync(file, 'utf8')).toBe('one\ntwo\n')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    lines.append(late('three'))
    lines.close()
    const again = open()
    again.append(late('four'))
    again.close()
    expect(readFileSync(file, 'utf8')).toBe('one\ntwo\nthree\nfour\n')
  })

  it('has lines of any characters and lengths, and many at once', () => {
    const lines = open(10_000_000)
    const texts = [
      'é€\u{1f600}',
      'x'.repeat(100_000),
      '€'.repeat(200_000),
      ...Array.from({ length: 1_200 }, (_, i) => `n${i}`),
    ]
    for (const text of texts) lines.append(late(text))
    lines.close()
    expect(readFileSync(file, 'utf8')).toBe(texts.map((text) => `${text}\n`).join(''))
  })

  it('is put aside when it is full, and only so many are kept', () => {
    const lines = open(10)
    for (const line of ['aaaaaa', 'bbbbbb', 'cccccc', 'dddddd', 'eeeeee']) {
      lines.append(late(line))
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

  it('goes on in a line of its own after one that was cut short, as by a full disk', () => {
    writeFileSync(file, 'one\n{"cut')
    const lines = open()
    lines.append(late('two'))
    lines.close()
    expect(readFileSync(file, 'utf8')).toBe('one\n{"cut\ntwo\n')
  })

  it('that cannot be written loses lines, says so once, and goes on when it can', () => {
    reports.length = 0
    mkdirSync(file)
    const lines = open()
    for (const line of ['lost', 'lost']) {
      lines.append(late(line))
      rest()
    }
    expect(reports).toHaveLength(1)
    rmSync(file, { recursive: true })
    lines.append(late('kept'))
    lines.close()
    expect(readFileSync(file, 'utf8')).toBe('kept\n')
  })
})
