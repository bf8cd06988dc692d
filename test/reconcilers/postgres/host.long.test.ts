/** Where PostgreSQL may run: accounts, and data and binaries that the account cannot reach where they lie. */
import { chmod, chown, cp, lstat, mkdir, readdir, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chooseAccount } from '../../../functions/reconcilers/postgres/server/account.ts'
import { findBinaries } from '../../../functions/reconcilers/postgres/server/binaries.ts'
import { runCommand } from '../../../functions/reconcilers/postgres/server/command.ts'
import { configure } from '../../../functions/reconcilers/postgres/server/configure.ts'
import { destroy } from '../../../functions/reconcilers/postgres/server/destroy.ts'
import { type HostOptions, prepareHost } from '../../../functions/reconcilers/postgres/server/host.ts'
import { initialise } from '../../../functions/reconcilers/postgres/server/initialise.ts'
import { start, stopServer } from '../../../functions/reconcilers/postgres/server/lifecycle.ts'
import { observe } from '../../../functions/reconcilers/postgres/server/observe.ts'
import { claimRefuge } from '../../../functions/reconcilers/postgres/server/refuge.ts'
import { findAll } from './find-all.ts'
import { asRoot, deadline, openWorkbench, superuser, type Workbench } from './temporary-server.ts'

let bench: Workbench

beforeAll(async () => {
  bench = await openWorkbench()
})

afterAll(() => bench[Symbol.asyncDispose]())

describe.skipIf(!asRoot)('as root', { meta: { skipped: 'only root lends accounts to servers' } }, () => {
  it('takes the account it is told, and refuses one that is none, is root, or is no name', async () => {
    expect(await chooseAccount('nobody', deadline())).toMatchObject({ name: 'nobody', uid: expect.any(Number) })
    for (const name of ['root', 'no-such-account', '-u', 'a b', '']) {
      const refused = { kind: 'terminal', reason: 'AccountUnusable' }
      await expect(chooseAccount(name, deadline())).rejects.toMatchObject(refused)
    }
  })

  it('takes an unprivileged account by itself', async () => {
    const account = await chooseAccount(undefined, deadline())
    expect(['postgres', 'nobody']).toContain(account?.name)
  })

  it('shelters data that the account cannot reach, links to it from the wanted place, and removes both', async () => {
    const home = join(bench.directory, 'private')
    await mkdir(home, { mode: 0o700 })
    const server = bench.server('private/server')
    await initialise(server, superuser, deadline())
    const shelter = await readlink(server.directory)
    expect(shelter.startsWith(join(bench.directory, 'refuge', 'servers', 'server-'))).toBe(true)
    const { uid, mode } = await stat(join(server.directory, 'data'))
    expect({ uid, mode: mode & 0o777 }).toEqual({ uid: bench.host.account?.uid, mode: 0o700 })
    expect((await stat(server.directory)).uid).toBe(0)

    await configure(server, {}, deadline())
    const started = await start(server, deadline())
    expect((await stat(`/proc/${started.pid}`)).uid).toBe(bench.host.account?.uid)
    // The data stays where it was made, whatever can be reached today and whichever account is chosen.
    await chmod(home, 0o755)
    const nobody = { ...server, host: await prepareHost({ user: 'nobody' }, deadline()) }
    expect((await observe(nobody, deadline())).running).toEqual(started)

    await destroy(server, deadline())
    await expect(lstat(server.directory)).rejects.toThrow('ENOENT')
    expect(await readdir(join(bench.directory, 'refuge', 'servers'))).toEqual([])
  })

  it('trusts no refuge that others could have put programs in', async () => {
    const account = bench.host.account ?? { name: '', uid: 0, gid: 0 }
    const [open, theirs] = [join(bench.directory, 'open'), join(bench.directory, 'theirs')]
    await mkdir(open)
    await chmod(open, 0o777)
    await mkdir(theirs)
    await chown(theirs, account.uid, account.gid)
    for (const directory of [open, theirs, '/proc/1/fdinfo/none']) {
      const refused = { kind: 'terminal', reason: 'DirectoryUnusable' }
      await expect(claimRefuge(account, directory, deadline())).rejects.toMatchObject(refused)
    }
  })
})

describe('binaries', () => {
  it('run from a copy where npm put them out of reach or left out their links, made once', async () => {
    const npm = (await findAll(''))[0]
    const { root, label } = npm ?? expect.fail('npm has installed no binaries')
    const home = join(bench.directory, 'no-entry')
    const away = join(home, 'native')
    await mkdir(home, { mode: 0o700 })
    await cp(root, away, { recursive: true, filter: async (path) => !(await lstat(path)).isSymbolicLink() })
    const cache = join(bench.directory, 'cache')
    const search = {
      installation: { root: away, label, name: 'away', mayBeCopied: true },
      account: bench.host.account,
      cache: () => Promise.resolve(cache),
    }
    const binaries = await findBinaries(search, deadline())
    expect(binaries.postgres.startsWith(join(cache, label))).toBe(true)
    const made = (await stat(join(cache, label))).mtimeMs
    expect(await findBinaries(search, deadline())).toEqual(binaries)
    expect((await stat(join(cache, label))).mtimeMs).toBe(made)
    expect(await readdir(cache)).toEqual([label])
    const { code } = await runCommand(binaries.initdb, ['--version'], {
      account: bench.host.account,
      signal: deadline(),
    })
    expect(code).toBe(0)
    await rm(cache, { recursive: true })
  })

  it('are reported as unusable where they cannot run at all', async () => {
    const empty = join(bench.directory, 'empty')
    await mkdir(empty)
    const search = {
      installation: { root: empty, label: 'empty-1', name: 'empty', mayBeCopied: true },
      account: bench.host.account,
      cache: () => Promise.resolve(join(bench.directory, 'cache')),
    }
    await expect(findBinaries(search, deadline())).rejects.toMatchObject({
      kind: 'terminal',
      reason: 'BinariesUnusable',
    })
  })

  it('are those of an installed server where there is one, for data of their version; else npm has some', async () => {
    const npm = (await findAll(''))[0] ?? expect.fail('npm has installed no binaries')
    const shelf = join(bench.directory, 'shelf')
    await chmod(bench.directory, 0o755)
    await cp(npm.root, join(shelf, 'pg-18'), { recursive: true })
    await mkdir(join(shelf, 'pg-19', 'bin'), { recursive: true })
    await writeFile(join(shelf, 'pg-19', 'bin', 'postgres'), '#!/bin/sh\necho "postgres (PostgreSQL) 19.1"\n', {
      mode: 0o755,
    })
    const here = { path: '', shelves: [{ directory: shelf, prefix: 'pg-' }], refuge: bench.host.refuge }
    const chosen = async (more: HostOptions): Promise<readonly string[]> => {
      const { binaries } = await prepareHost({ ...here, ...more }, deadline())
      return [binaries.version, binaries.name.replace(bench.directory, '')]
    }
    expect(await chosen({})).toEqual(['19', 'in /shelf/pg-19'])
    expect(await chosen({ version: '18' })).toEqual(['18', 'in /shelf/pg-18'])
    expect(await chosen({ version: '18', shelves: [] })).toEqual(['18', npm.name])
    expect(await chosen({ version: '17' })).toEqual(['19', 'in /shelf/pg-19'])
    expect(await chosen({ home: join(shelf, 'pg-18') })).toEqual(['18', 'in /shelf/pg-18'])
    expect(await chosen({ path: join(shelf, 'pg-18', 'bin') })).toEqual(['18', 'in /shelf/pg-18'])
    await writeFile(join(shelf, 'pg-19', 'bin', 'postgres'), '#!/bin/sh\necho "postgres (PostgreSQL) 15.1"\n')
    expect(await chosen({})).toEqual(['18', 'in /shelf/pg-18'])
    await expect(prepareHost({ home: join(shelf, 'pg-19') }, deadline())).rejects.toMatchObject({
      kind: 'terminal',
      reason: 'BinariesUnusable',
      message: expect.stringMatching(/pg-19 is of version 15: install PostgreSQL 17 or newer/) as string,
    })

    const server = { directory: join(bench.directory, 'installed'), host: await prepareHost(here, deadline()) }
    try {
      await initialise(server, superuser, deadline())
      await configure(server, {}, deadline())
      await start(server, deadline())
      expect(await observe(server, deadline())).toMatchObject({ version: '18', pending: 'none' })
      // Another PostgreSQL of that version goes first now: the server is to run by it.
      const runs = await prepareHost(here, deadline())
      const npms = { ...server, host: await prepareHost({ ...here, shelves: [] }, deadline()) }
      // Not npm's, which something speaks against, while the one that runs is there.
      expect(await observe(npms, deadline())).toMatchObject({ pending: 'none', otherProgram: runs.binaries.postgres })
      const { advice: _, ...binaries } = npms.host.binaries
      const other = { ...npms, host: { ...npms.host, binaries } }
      expect(await observe(other, deadline())).toMatchObject({ pending: 'restart' })
      await stopServer(other, deadline())
      await start(other, deadline())
      expect(await observe(other, deadline())).toMatchObject({ pending: 'none', otherProgram: undefined })
      // One of another version cannot run its data, and does not stop it.
      const newer = { ...other.host, binaries: { ...server.host.binaries, version: '19' } }
      expect(await observe({ ...server, host: newer }, deadline())).toMatchObject({ pending: 'none' })
    } finally {
      await destroy(server, deadline())
    }
  })
})
