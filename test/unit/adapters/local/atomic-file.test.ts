import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { writeAtomically } from '../../../../shared/adapters/local/atomic-file.ts'
import { temporaryDirectory } from '../../../support/temporary-directory.ts'

it('leaves nothing unfinished behind when the file cannot be written', () => {
  using directory = temporaryDirectory('atomic')
  mkdirSync(join(directory.path, 'taken'))
  expect(() => writeAtomically(join(directory.path, 'taken'), 'x')).toThrow(/^cannot write .*taken: EISDIR/)
  expect(readdirSync(directory.path)).toEqual(['taken'])
})

it('takes away what a crash left unfinished', () => {
  using directory = temporaryDirectory('atomic')
  const file = join(directory.path, 'token')
  writeFileSync(`${file}.tmp`, 'half of something longer')
  writeAtomically(file, 'whole')
  expect([readdirSync(directory.path), readFileSync(file, 'utf8')]).toEqual([['token'], 'whole'])
})
