import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { writeAtomically } from '../../../../shared/adapters/node/atomic-file.ts'
import { recordDiskCalls } from '../../../support/disk-calls.ts'
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
  const { pid: gone } = spawnSync(process.execPath, ['--version'])
  for (const pid of [gone, process.pid])
    for (const name of [`${file}.${pid}.tmp`, `${file}.${pid}.0123abcd.tmp`]) {
      writeFileSync(name, 'half of something longer')
      utimesSync(name, 1, 1)
    }
  writeAtomically(file, 'whole')
  expect([readdirSync(directory.path), readFileSync(file, 'utf8')]).toEqual([['token'], 'whole'])
})

it('leaves alone what another process has not finished, and what is no such file', () => {
  using directory = temporaryDirectory('atomic')
  const file = join(directory.path, 'token')
  const others = ['token.1.tmp', `token.${process.ppid}.tmp`, 'token.backup.tmp', 'token..tmp', 'other.tmp']
  for (const name of others) {
    writeFileSync(join(directory.path, name), 'half')
    utimesSync(join(directory.path, name), 1, 1)
  }
  writeAtomically(file, 'whole')
  expect(readdirSync(directory.path).toSorted()).toEqual(['token', ...others].toSorted())
})

it('leaves alone what a process of the same number writes in another container', () => {
  using directory = temporaryDirectory('atomic')
  const file = join(directory.path, 'token')
  const { pid: unknown } = spawnSync(process.execPath, ['--version'])
  const others = [process.pid, unknown].map((pid) => `token.${pid}.0123abcd.tmp`)
  for (const name of others) writeFileSync(join(directory.path, name), 'half')
  const names = new Set<string>()
  for (let i = 0; i < 3; i++) {
    const { did } = recordDiskCalls(directory.path, () => writeAtomically(file, 'whole'))
    names.add(did[0] ?? '')
  }
  expect(names.size).toBe(3)
  expect(readdirSync(directory.path).toSorted()).toEqual(['token', ...others].toSorted())
})

it('puts nothing in place that another process has not finished', async () => {
  using directory = temporaryDirectory('atomic')
  const file = join(directory.path, 'token')
  const writer = import.meta.resolve('../../../../shared/adapters/node/atomic-file.ts')
  const exits = ['a', 'b', 'c'].map(async (letter) => {
    const code = `import { writeAtomically } from ${JSON.stringify(writer)}
      for (let i = 0; i < 30; i++) writeAtomically(${JSON.stringify(file)}, '${letter}'.repeat(100_000))`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: 'inherit' })
    return (await once(child, 'exit')) as unknown
  })
  expect(await Promise.all(exits)).toEqual(exits.map(() => [0, null]))
  expect(readFileSync(file, 'utf8')).toMatch(/^(a{100000}|b{100000}|c{100000})$/)
  expect(readdirSync(directory.path)).toEqual(['token'])
})

it('writes through no link that somebody put in its way, and into no file of another mode', () => {
  using directory = temporaryDirectory('atomic')
  const at = (name: string): string => join(directory.path, name)
  writeFileSync(at('target'), 'another file')
  // Nobody can know this name: here it is the same each time.
  vi.spyOn(crypto, 'randomBytes').mockImplementation(() => Buffer.from('01234567', 'hex'))
  syncBuiltinESMExports()
  symlinkSync(at('target'), at(`token.${process.pid}.01234567.tmp`))
  writeFileSync(at(`open.${process.pid}.01234567.tmp`), '', { mode: 0o666 })
  for (const name of ['token', 'open']) expect(() => writeAtomically(at(name), 'secret')).toThrow('EEXIST')
  vi.restoreAllMocks()
  syncBuiltinESMExports()
  for (const name of ['token', 'open']) writeAtomically(at(name), 'secret')
  expect(readFileSync(at('target'), 'utf8')).toBe('another file')
  expect(['token', 'open'].map((name) => statSync(at(name)).mode & 0o777)).toEqual([0o600, 0o600])
})

it('is on disk when it is written, its name too, and after it', () => {
  using directory = temporaryDirectory('atomic')
  const { did } = recordDiskCalls(directory.path, () =>
    writeAtomically(join(directory.path, 'token'), Uint8Array.of(97)),
  )
  expect(did).toEqual([expect.stringMatching(`^sync /token\\.${process.pid}\\.[0-9a-f]{8}\\.tmp$`), 'rename', 'sync '])
  expect(readFileSync(join(directory.path, 'token'), 'utf8')).toBe('a')
})
