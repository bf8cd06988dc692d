import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { startLocalControlPlane } from '../../../../shared/runtime/local/control-plane.ts'
import { findOpenFiles } from '../../../../shared/runtime/local/own-files.ts'
import { temporaryDirectory } from '../../../support/temporary-directory.ts'

const directory = temporaryDirectory('own-files')
const at = (name: string): string => join(directory.path, name)
afterAll(() => directory[Symbol.dispose]())

const start = () => startLocalControlPlane({ port: 0, dataDirectory: directory.path, controllers: () => [] })

it('a start makes files that other accounts cannot read, and warns of secret ones that they can', async () => {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const logged = (): string => written.mock.calls.map(([text]) => String(text)).join('')
  await (await start()).stop(0)
  expect(logged()).not.toContain('other accounts')
  for (const name of ['secrets.key', 'setpoint.db']) chmodSync(at(name), 0o644)
  await (await start()).stop(0)
  const line = logged()
    .split('\n')
    .find((one) => one.includes('other accounts'))
  expect(JSON.parse(line ?? '{}')).toMatchObject({
    level: 'warn',
    message: 'other accounts can read files that hold secrets: chmod o= these',
    files: ['secrets.key', 'setpoint.db'],
  })
})

it.each([
  { name: 'token', mode: 0o604, isOpen: true },
  // As a volume of Kubernetes gives files to the group of a pod.
  { name: 'token', mode: 0o660, isOpen: false },
  // It has digests of tokens.
  { name: 'users', mode: 0o644, isOpen: false },
])('$name with mode $mode is open to others: $isOpen', ({ name, mode, isOpen }) => {
  using other = temporaryDirectory('own-files')
  const file = join(other.path, name)
  writeFileSync(file, '')
  chmodSync(file, mode)
  expect(findOpenFiles(other.path)).toEqual(isOpen ? [name] : [])
})
