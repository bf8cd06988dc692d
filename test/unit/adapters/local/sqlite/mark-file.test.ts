import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openMarkFile, readMark, type Mark } from '../../../../../shared/adapters/local/sqlite/guard/mark-file.ts'
import { temporaryDirectory } from '../../../../support/temporary-directory.ts'

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
