import { expect, it } from 'vitest'
import {
  isBusy,
  isDamaged,
  isNoError,
  isStorageFailure,
  leavesFateOpen,
  translateError,
} from '../../../../../shared/adapters/local/sqlite/sqlite-errors.ts'
import { OperatingError } from '../../../../../shared/model/errors.ts'

const errorOf = (errcode: unknown) => Object.assign(new Error(`code ${String(errcode)}`), { errcode })
const tests = { storage: isStorageFailure, busy: isBusy, none: isNoError, damaged: isDamaged, open: leavesFateOpen }

it.each<[string, unknown, readonly (keyof typeof tests)[]]>([
  ['a constraint', errorOf(19), []],
  ['a database that others hold', errorOf(5), ['storage', 'busy']],
  ['a table that others hold', errorOf(6), ['storage']],
  ['no memory', errorOf(7), ['storage']],
  ['a file that may not be written', errorOf(8), ['storage']],
  ['a disk that fails', errorOf(10), ['storage', 'open']],
  ['a disk that fails to sync', errorOf(10 | (4 << 8)), ['storage', 'open']],
  ['a disk that refuses a write', errorOf(10 | (3 << 8)), ['storage']],
  ['a disk that is full', errorOf(13), ['storage']],
  ['a file that cannot be opened', errorOf(14), ['storage']],
  ['a lock that fails', errorOf(15), ['storage']],
  ['a file that is damaged', errorOf(11), ['storage', 'damaged']],
  ['a file that is damaged in its index', errorOf(11 | (1 << 8)), ['storage', 'damaged']],
  ['a file that is no database', errorOf(26), ['storage', 'damaged']],
  ['an error that is none', errorOf(0), ['none']],
  ['an error of the program', new TypeError('a slip'), []],
  ['a code that is a text', errorOf('5'), []],
  ['what is no error', { errcode: 5 }, []],
])('%s', (_what, error, kinds) => {
  const found = (Object.keys(tests) as (keyof typeof tests)[]).filter((name) => tests[name](error))
  expect(found).toEqual(kinds)
  const translated = translateError(error, 'write')
  if (!kinds.includes('storage')) return expect(translated).toBe(error)
  expect(translated).toBeInstanceOf(OperatingError)
  expect(translated).toMatchObject({
    code: 'UNAVAILABLE',
    message: `cannot write: ${(error as Error).message}`,
    cause: error,
  })
})
