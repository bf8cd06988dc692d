import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { openMarkFile, readMark, type Mark } from '../../../../../shared/adapters/local/sqlite/guard/mark-file.ts'
import { temporaryDirectory } from '../../../../support/temporary-directory.ts'

const { readFileSync, statSync, writeFileSync } = fs
const mark: Mark = { database: 'd', inode: '1', bornNs: '2', resourceVersion: 0, starts: 1, state: 'open' }

/** What is read after so many writes, when the place of the last one, or of the one before it, is damaged. */
function readAfter(writes: number, damaged: 'last' | 'before' | 'none'): unknown {
  using directory = temporaryDirectory('mark')
  const path = join(directory.path, 'mark')
  const file = openMarkFile(path)
  for (let i = 1; i <= writes; i++) file.write({ ...mark, resourceVersion: i })
  const told = file.mark?.resourceVersion
  file.close()
  const bytes = readFileSync(path)
  const place = (writes + (damaged === 'last' ? 0 : 1)) % 2
  if (damaged !== 'none') bytes[place * 512 + 20] = (bytes[place * 512 + 20] ?? 0) ^ 1
  writeFileSync(path, bytes)
  const read = readMark(path)
  return [told, bytes.length, typeof read === 'string' ? read : read.resourceVersion]
}

it.each([
  [1, 'none', 1],
  [2, 'none', 2],
  [3, 'none', 3],
  [7, 'none', 7],
  [1, 'last', 'damaged'],
  [2, 'last', 1],
  [3, 'last', 2],
  [6, 'last', 5],
  [3, 'before', 3],
  [6, 'before', 6],
] as const)(
  'after %d writes, with the place of the write that is %s damaged, the mark is %s',
  (writes, damaged, is) => {
    expect(readAfter(writes, damaged)).toEqual([writes, 1_024, is])
  },
)

it('goes on from what is there', () => {
  using directory = temporaryDirectory('mark')
  const path = join(directory.path, 'mark')
  expect(readMark(path)).toBe('missing')
  for (let i = 1; i <= 5; i++) {
    const file = openMarkFile(path)
    expect(file.mark?.resourceVersion).toBe(i === 1 ? undefined : i - 1)
    file.write({ ...mark, resourceVersion: i })
    file.close()
  }
  expect(readMark(path)).toMatchObject({ resourceVersion: 5 })
})

it('is for its owner alone, and says that it cannot be read', () => {
  using directory = temporaryDirectory('mark')
  const path = join(directory.path, 'mark')
  const file = openMarkFile(path)
  file.close()
  expect((statSync(path).mode & 0o777).toString(8)).toBe('600')
  expect(readMark(path)).toBe('damaged')
  const unreadable = { code: 'UNAVAILABLE', message: expect.stringContaining(`cannot read ${directory.path}: EISDIR`) }
  expect(() => readMark(directory.path)).toThrow(expect.objectContaining(unreadable))
  expect(() => openMarkFile(join(path, 'none'))).toThrow(`cannot open ${join(path, 'none')}: ENOTDIR`)
})

it('touches nothing once it is closed: its descriptor may be another file’s', () => {
  using directory = temporaryDirectory('mark')
  const file = openMarkFile(join(directory.path, 'mark'))
  file.write(mark)
  file.close()
  const other = fs.openSync(join(directory.path, 'other'), 'w+')
  expect(() => file.write(mark)).toThrow(
    expect.objectContaining({ code: 'UNAVAILABLE', message: expect.stringContaining('mark: it is closed') }),
  )
  file.close()
  expect(fs.fstatSync(other).size).toBe(0)
  fs.closeSync(other)
})

it('has room for both places from its first write on, whatever stood there', () => {
  using directory = temporaryDirectory('mark')
  const path = join(directory.path, 'mark')
  for (const before of ['', 'x'.repeat(100)]) {
    writeFileSync(path, before)
    const file = openMarkFile(path)
    file.write(mark)
    file.close()
    expect(readFileSync(path, 'utf8').slice(before.length, 512)).toBe(' '.repeat(512 - before.length))
    expect(readMark(path)).toEqual(mark)
  }
})

it('is on disk when it is written, its name too when it is new, and lets go what it opens', () => {
  using directory = temporaryDirectory('mark')
  const path = join(directory.path, 'mark')
  const opened = new Map<number, string>()
  const did: string[] = []
  const { openSync, closeSync, fsyncSync, fdatasyncSync } = fs
  const nameOf = (descriptor: number): string => String(opened.get(descriptor)).replace(directory.path, '')
  vi.spyOn(fs, 'openSync').mockImplementation((name, ...more) => {
    const descriptor = openSync(name, ...more)
    opened.set(descriptor, String(name))
    return descriptor
  })
  vi.spyOn(fs, 'closeSync').mockImplementation((descriptor) => {
    opened.delete(descriptor)
    closeSync(descriptor)
  })
  vi.spyOn(fs, 'fsyncSync').mockImplementation((descriptor) => {
    did.push(`sync ${nameOf(descriptor)}`)
    fsyncSync(descriptor)
  })
  vi.spyOn(fs, 'fdatasyncSync').mockImplementation((descriptor) => {
    did.push(`sync ${nameOf(descriptor)}`)
    fdatasyncSync(descriptor)
  })
  syncBuiltinESMExports()
  try {
    const file = openMarkFile(path)
    for (let i = 0; i < 2; i++) file.write(mark)
    expect([...opened.values()]).toEqual([path])
    file.close()
  } finally {
    vi.restoreAllMocks()
    syncBuiltinESMExports()
  }
  expect(did).toEqual(['sync ', 'sync /mark', 'sync /mark'])
  expect(opened.size).toBe(0)
})
