import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { writeAtomically } from '../../../../shared/adapters/node/atomic-file.ts'
import { temporaryDirectory } from '../../../support/temporary-directory.ts'

it('leaves nothing unfinished behind when the file cannot be written', () => {
  using directory = temporaryDirectory('atomic')
  mkdirSync(join(directory.path, 'taken'))
  expect(() => writeAtomically(join(directory.path, 'taken'), 'x')).toThrow(
    /^cannot write .*taken: it is there and is no file$/,
  )
  expect(readdirSync(directory.path)).toEqual(['taken'])
})

it('does not put a file where a device or a socket stands', async () => {
  using directory = temporaryDirectory('atomic')
  const file = join(directory.path, 'socket')
  const server = createServer().listen(file)
  await once(server, 'listening')
  expect(() => writeAtomically(file, 'x')).toThrow('it is there and is no file')
  expect(statSync(file).isSocket()).toBe(true)
  await new Promise((resolve) => server.close(resolve))
})

it('takes away what a crash left unfinished', () => {
  using directory = temporaryDirectory('atomic')
  const file = join(directory.path, 'token')
  writeFileSync(`${file}.tmp`, 'half of something longer')
  writeAtomically(file, 'whole')
  expect([readdirSync(directory.path), readFileSync(file, 'utf8')]).toEqual([['token'], 'whole'])
})

it('writes through no link that somebody put in its way, and takes over nobody else’s mode', () => {
  using directory = temporaryDirectory('atomic')
  const [file, target, open] = ['token', 'target', 'open'].map((name) => join(directory.path, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(target, 'another file')
  symlinkSync(target, `${file}.tmp`)
  writeFileSync(`${open}.tmp`, '')
  chmodSync(`${open}.tmp`, 0o666)
  for (const one of [file, open]) writeAtomically(one, 'secret')
  expect(readFileSync(target, 'utf8')).toBe('another file')
  expect([file, open].map((one) => statSync(one).mode & 0o777)).toEqual([0o600, 0o600])
})
