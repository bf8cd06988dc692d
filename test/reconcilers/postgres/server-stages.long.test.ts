/** The stages of a real server: each alone, each again, and each with the process that ran it killed in the middle. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { appendFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { processOptions } from '../../../functions/reconcilers/postgres/server/command.ts'
import { configure } from '../../../functions/reconcilers/postgres/server/configure.ts'
import { destroy } from '../../../functions/reconcilers/postgres/server/destroy.ts'
import type { Server } from '../../../functions/reconcilers/postgres/server/home.ts'
import { initialise } from '../../../functions/reconcilers/postgres/server/initialise.ts'
import { cutLog, isReady, reload, start, stopServer } from '../../../functions/reconcilers/postgres/server/lifecycle.ts'
import { observe } from '../../../functions/reconcilers/postgres/server/observe.ts'
import { restoreSuperuser } from '../../../functions/reconcilers/postgres/server/superuser.ts'
import { type Endpoint, withConnection } from '../../../functions/reconcilers/postgres/sql/connection.ts'
import { bringUp, deadline, openWorkbench, superuser, type Workbench } from './temporary-server.ts'

let bench: Workbench
/** Configured, and stopped between tests: making one for each would take most of the time. */
let server: Server

beforeAll(async () => {
  bench = await openWorkbench()
  server = bench.server('shared')
  await initialise(server, superuser, deadline())
  await configure(server, {}, deadline())
})

afterAll(() => bench[Symbol.asyncDispose]())

async function pidOf(one: Server): Promise<number> {
  const { running } = await observe(one, deadline())
  if (running === undefined) throw new Error('the server does not run')
  return running.pid
}

async function killServer(): Promise<void> {
  process.kill(await pidOf(server), 'SIGKILL')
  await expect.poll(async () => (await observe(server, deadline())).running).toBeUndefined()
}

function select(endpoint: Endpoint, text: string) {
  return withConnection(endpoint, deadline(), (sql) => sql.query(text))
}

describe('a server', () => {
  it('is nothing, initialised, configured, running, ready, stopped and nothing again, and says so', async () => {
    const fresh = bench.server('stages')
    const seen = async () => {
      const { running, ...rest } = await observe(fresh, deadline())
      return { initialised: rest.initialised, configured: rest.configured, running: running !== undefined }
    }
    expect(await seen()).toEqual({ initialised: false, configured: false, running: false })

    await initialise(fresh, superuser, deadline())
    await initialise(fresh, { user: 'other', password: 'other' }, deadline())
    expect(await seen()).toEqual({ initialised: true, configured: false, running: false })
    await expect(start(fresh, deadline())).rejects.toMatchObject({ kind: 'retryable', reason: 'NotConfigured' })

    const first = await configure(fresh, {}, deadline())
    expect(first).toMatchObject({ written: true, pending: 'none' })
    expect(await configure(fresh, {}, deadline())).toEqual({ ...first, written: false })
    expect(await seen()).toEqual({ initialised: true, configured: true, running: false })

    const started = await start(fresh, deadline())
    expect(await start(fresh, deadline())).toEqual(started)
    expect(started).toMatchObject({ port: first.port, phase: 'ready' })
    expect(Math.abs(started.startedAtMs - Date.now())).toBeLessThan(30_000)
    expect(await isReady(fresh, deadline())).toBe(true)
    const rows = await select(
      { host: '127.0.0.1', port: started.port, database: 'postgres', ...superuser },
      'SELECT 1 AS one',
    )
    expect(rows).toEqual([{ one: 1 }])

    await stopServer(fresh, deadline())
    await stopServer(fresh, deadline())
    expect(await seen()).toEqual({ initialised: true, configured: true, running: false })
    expect(await isReady(fresh, deadline())).toBe(false)

    await destroy(fresh, deadline())
    await destroy(fresh, deadline())
    expect(await seen()).toEqual({ initialised: false, configured: false, running: false })
  })

  it('comes up whenever the process that ran the stages was killed, and outlives it', async () => {
    const program = fileURLToPath(new URL('run-stages.ts', import.meta.url))
    const orphan = bench.server('killed')
    for (const lifeMs of [250, 700]) {
      const runner = spawn(process.execPath, [program, bench.directory, 'killed'], { stdio: 'ignore' })
      await sleep(lifeMs)
      runner.kill('SIGKILL')
      await once(runner, 'exit')
    }
    const runner = spawn(process.execPath, [program, bench.directory, 'killed'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [port] = (await once(runner.stdout.setEncoding('utf8'), 'data')) as [string]
    const pid = await pidOf(orphan)
    runner.kill('SIGKILL')
    await once(runner, 'exit')

    expect(await start(orphan, deadline())).toMatchObject({ pid, port: Number(port) })
    const rows = await select(
      { host: '127.0.0.1', port: Number(port), database: 'postgres', ...superuser },
      'SELECT 1 AS one',
    )
    expect(rows).toEqual([{ one: 1 }])
    expect((await readdir(orphan.directory)).sort()).toEqual(
      ['applied.conf', 'data', 'pg_hba.conf', 'postgresql.conf', 'proven.conf', 'server.log'].sort(),
    )
  })

  it('has its log cut while it runs, and goes on in it', async () => {
    const endpoint = await bringUp(server)
    const complain = () => expect(select(endpoint, 'SELEKT 1')).rejects.toThrow('syntax error')
    const log = join(server.directory, 'server.log')
    await appendFile(log, `${'first '.repeat(1_000)}${'last. '.repeat(100)}`)
    await cutLog(server, 10_000_000)
    expect(existsSync(`${log}.old`)).toBe(false)
    for (let i = 0; i < 2; i++) {
      await complain()
      await cutLog(server, 600)
      expect(await stat(log)).toMatchObject({ size: 0 })
      const { size, mode } = await stat(`${log}.old`)
      expect([size, mode & 0o777]).toEqual([600, 0o600])
      await complain()
      expect(await readFile(log, 'utf8')).toMatch(/^[^\0]*syntax error/)
      await appendFile(log, 'last. '.repeat(100))
    }
    await stopServer(server, deadline())
  })

  it('keeps what was committed when it is killed, and starts again', async () => {
    const endpoint = await bringUp(server)
    await select(endpoint, 'CREATE TABLE public.kept AS SELECT 42 AS answer')
    await killServer()
    expect(await isReady(server, deadline())).toBe(false)
    await expect(select(endpoint, 'SELECT 1')).rejects.toMatchObject({ kind: 'retryable', reason: 'ConnectionLost' })

    await start(server, deadline())
    expect(await select(endpoint, 'SELECT answer FROM public.kept')).toEqual([{ answer: 42 }])
    await stopServer(server, deadline())
  })
})

describe('initialise', () => {
  it('leaves nothing but the empty home when it is stopped in the middle', async () => {
    const fresh = bench.server('interrupted')
    const interrupted = AbortSignal.any([AbortSignal.timeout(150), deadline()])
    await expect(initialise(fresh, superuser, interrupted)).rejects.toMatchObject({ name: 'TimeoutError' })
    // On a machine that others use the home may not be there yet.
    expect(existsSync(fresh.directory) ? await readdir(fresh.directory) : []).toEqual([])
    expect((await observe(fresh, deadline())).initialised).toBe(false)
  })

  it('clears what a killed one left', async () => {
    const before = await readdir(server.directory)
    await mkdir(join(server.directory, 'staging-1', 'data'), { recursive: true })
    await initialise(server, superuser, deadline())
    expect(await readdir(server.directory)).toEqual(before)
  })
})

describe('start', () => {
  const cases = [
    {
      lock: (pid: number) => `${pid}\n/elsewhere\n1700000000\n5432\n\n\n\nready\n`,
      because: 'another program has its id',
    },
    { lock: () => '999999999\n/elsewhere\n1700000000\n5432\n\n\n\nready\n', because: 'no process has its id' },
    { lock: () => '', because: 'a crash left it empty' },
  ]

  it.each(cases)('sees through a stale lock file: $because', async ({ lock }) => {
    // Of the server's own account, since the server itself ignores processes of others.
    const other = spawn('/bin/sleep', ['60'], { ...processOptions('/bin/sleep', bench.host.account), stdio: 'ignore' })
    try {
      await writeFile(join(server.directory, 'data', 'postmaster.pid'), lock(other.pid ?? 0))
      expect((await observe(server, deadline())).running).toBeUndefined()
      await start(server, deadline())
      expect(await isReady(server, deadline())).toBe(true)
      expect(other.exitCode ?? other.signalCode).toBeNull()
    } finally {
      other.kill()
      await stopServer(server, deadline())
    }
  })

  it('starts anew a server that it finds ending', async () => {
    const endpoint = await bringUp(server)
    const before = await pidOf(server)
    const began = await withConnection(endpoint, deadline(), async (sql) => {
      // Gentle: the server takes no more sessions, and goes with the last one.
      process.kill(before, 'SIGTERM')
      await expect.poll(async () => (await observe(server, deadline())).running?.phase).toBe('stopping')
      const starting = start(server, deadline())
      await sql.query('SELECT pg_sleep(0.1)')
      return { starting }
    })
    expect((await began.starting).pid).not.toBe(before)
    await stopServer(server, deadline())
  })

  it('reports in words why the server ends, and which failure it is', async () => {
    const { port } = await configure(server, {}, deadline())
    const intruder = createServer().listen(port, '127.0.0.1')
    await once(intruder, 'listening')
    try {
      await expect(start(server, deadline())).rejects.toMatchObject({
        kind: 'retryable',
        reason: 'PortInUse',
        message: expect.stringContaining(`port ${port} is in use`) as string,
      })
      const moved = await configure(server, {}, deadline())
      expect(moved.port).not.toBe(port)
      expect(await start(server, deadline())).toMatchObject({ port: moved.port })
    } finally {
      intruder.close()
      await stopServer(server, deadline())
    }
  })

  it('is tried again where there are no settings with which it came up, or those do not help', async () => {
    const fresh = bench.server('never-up')
    await initialise(fresh, superuser, deadline())
    const missing = { settings: { shared_preload_libraries: 'no_such_library' } }
    const failed = { kind: 'retryable', reason: 'StartFailed' }
    await configure(fresh, missing, deadline())
    await expect(start(fresh, deadline())).rejects.toMatchObject(failed)
    await configure(fresh, {}, deadline())
    await start(fresh, deadline())
    await stopServer(fresh, deadline())
    await configure(fresh, missing, deadline())
    const config = await readFile(join(fresh.directory, 'postgresql.conf'), 'utf8')
    await writeFile(join(fresh.directory, 'proven.conf'), `${config}# and nothing else\n`)
    await expect(start(fresh, deadline())).rejects.toMatchObject(failed)
    expect(await readdir(fresh.directory)).not.toContain('refused.conf')
  })

  it('tries settings again that were refused, once others were wanted meanwhile', async () => {
    const again = bench.server('wanted-again')
    await initialise(again, superuser, deadline())
    await configure(again, {}, deadline())
    await start(again, deadline())
    const missing = { settings: { shared_preload_libraries: 'no_such_library' } }
    expect((await configure(again, missing, deadline())).pending).toBe('restart')
    await stopServer(again, deadline())
    await expect(start(again, deadline())).rejects.toMatchObject({ reason: 'ConfigurationInvalid' })
    await expect(configure(again, missing, deadline())).rejects.toMatchObject({ reason: 'ConfigurationInvalid' })
    await configure(again, {}, deadline())
    expect((await configure(again, missing, deadline())).pending).toBe('restart')
    await stopServer(again, deadline())
  })

  it('puts back nothing where the server has taken its settings by a reload', async () => {
    const reloaded = bench.server('reloaded')
    await initialise(reloaded, superuser, deadline())
    await configure(reloaded, {}, deadline())
    await start(reloaded, deadline())
    expect((await configure(reloaded, { settings: { work_mem: '9MB' } }, deadline())).pending).toBe('reload')
    await reload(reloaded, deadline())
    const config = await readFile(join(reloaded.directory, 'postgresql.conf'), 'utf8')
    expect(await readFile(join(reloaded.directory, 'proven.conf'), 'utf8')).toBe(config)
    await stopServer(reloaded, deadline())
  })

  it('refuses the data of another major version for good', async () => {
    const path = join(server.directory, 'data', 'PG_VERSION')
    const version = await readFile(path, 'utf8')
    await writeFile(path, '9\n')
    await expect(start(server, deadline())).rejects.toMatchObject({ kind: 'terminal', reason: 'VersionMismatch' })
    await writeFile(path, version)
  })

  it('does nothing once its signal has fired', async () => {
    await expect(start(server, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late')
    expect((await observe(server, deadline())).running).toBeUndefined()
  })
})

describe('configure', () => {
  let endpoint: Endpoint
  const pending = async () => (await observe(server, deadline())).pending
  const show = async (name: string) => (await select(endpoint, `SHOW ${name}`))[0]?.[name]

  beforeAll(async () => {
    endpoint = await bringUp(server)
  })

  afterAll(() => stopServer(server, deadline()))

  it('keeps its port, and moves when told to', async () => {
    const { port } = endpoint
    expect(await configure(server, {}, deadline())).toEqual({ port, written: false, pending: 'none' })
    expect(await configure(server, { port: port + 1 }, deadline())).toMatchObject({
      port: port + 1,
      pending: 'restart',
    })
    expect(await configure(server, { port }, deadline())).toMatchObject({ port, pending: 'none' })
  })

  it('leaves a running server where it is while another has the port that it is to have', async () => {
    const { port } = endpoint
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const taken = (other.address() as AddressInfo).port
    const files = await readFile(join(server.directory, 'postgresql.conf'), 'utf8')
    await expect(configure(server, { port: taken }, deadline())).rejects.toMatchObject({
      kind: 'retryable',
      reason: 'PortInUse',
      message: expect.stringContaining(`the server stays at ${port}: port ${taken} is in use`),
    })
    expect(await readFile(join(server.directory, 'postgresql.conf'), 'utf8')).toBe(files)
    other.close()
    await once(other, 'close')
    expect(await configure(server, { port: taken }, deadline())).toMatchObject({ port: taken, pending: 'restart' })
    expect(await configure(server, { port }, deadline())).toMatchObject({ port, pending: 'none' })
  })

  it('overwrites what was changed by hand, and lets nobody change it by SQL', async () => {
    for (const file of ['postgresql.conf', 'pg_hba.conf']) {
      const path = join(server.directory, file)
      const before = await readFile(path, 'utf8')
      await writeFile(path, 'host all all 0.0.0.0/0 trust\n')
      expect(await configure(server, {}, deadline())).toMatchObject({ written: true, pending: 'none' })
      expect(await readFile(path, 'utf8')).toBe(before)
    }
    await expect(select(endpoint, "ALTER SYSTEM SET work_mem = '1GB'")).rejects.toThrow('is not allowed')
  })

  it('asks for a reload or a restart until it happened', async () => {
    expect(await configure(server, { settings: { work_mem: '8MB' } }, deadline())).toMatchObject({ pending: 'reload' })
    expect(await pending()).toBe('reload')
    await reload(server, deadline())
    expect(await pending()).toBe('none')
    await expect.poll(() => show('work_mem')).toBe('8MB')

    const value = `it's \\ "100%" # not a comment`
    const settings = { work_mem: '9MB', max_connections: 33, cluster_name: value }
    expect(await configure(server, { settings }, deadline())).toMatchObject({ pending: 'restart' })
    await reload(server, deadline())
    expect(await configure(server, { settings }, deadline())).toMatchObject({ written: false, pending: 'restart' })
    await stopServer(server, deadline())
    await start(server, deadline())
    expect(await pending()).toBe('none')
    expect(await show('max_connections')).toBe('33')
    expect(await show('cluster_name')).toBe(value)
  })

  const refused = [
    { settings: { wrok_mem: '8MB' }, message: 'unrecognized configuration parameter "wrok_mem"' },
    { settings: { work_mem: '8 parrots' }, message: 'invalid value for parameter "work_mem": "8 parrots"' },
    { settings: { port: 1 }, message: 'setting "port" is reserved' },
    { settings: { listen_addresses: '*' }, message: 'setting "listen_addresses" is reserved' },
    { settings: { include: '/etc/passwd' }, message: 'setting "include" is reserved' },
    { settings: { "work_mem = '1MB' #": '1' }, message: `"work_mem = '1MB' #" is not the name of a setting` },
    {
      settings: { work_mem: "8MB'\nlisten_addresses='*" },
      message: 'setting "work_mem" has a value of more than one line',
    },
  ]

  it('refuses for good what the server would not start with, and changes no file', async () => {
    const path = join(server.directory, 'postgresql.conf')
    const [before, files] = [await readFile(path, 'utf8'), await readdir(server.directory)]
    for (const { settings, message } of refused) {
      const refusal = configure(server, { settings }, deadline())
      await expect(refusal).rejects.toMatchObject({ kind: 'terminal', reason: 'ConfigurationInvalid', message })
    }
    expect(await readFile(path, 'utf8')).toBe(before)
    expect(await readdir(server.directory)).toEqual(files)
  })
})

describe('restoreSuperuser', () => {
  it('lets the superuser in again when its Secret was lost, and only while the server is stopped', async () => {
    const endpoint = await bringUp(server)
    const lost = { user: 'postgres', password: 'a "new" one: it\'s' }
    const changed = { ...endpoint, ...lost }
    await expect(select(changed, 'SELECT 1')).rejects.toMatchObject({ reason: 'AuthenticationFailed' })
    await expect(restoreSuperuser(server, lost, deadline())).rejects.toMatchObject({ reason: 'ServerRunning' })
    await stopServer(server, deadline())
    await restoreSuperuser(server, lost, deadline())
    await start(server, deadline())
    expect(await select(changed, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    await expect(select(endpoint, 'SELECT 1')).rejects.toMatchObject({ reason: 'AuthenticationFailed' })
    await stopServer(server, deadline())
    await restoreSuperuser(server, superuser, deadline())
  })

  it.each([
    'ALTER ROLE postgres NOLOGIN',
    "ALTER ROLE postgres VALID UNTIL '2001-01-01'",
    'CREATE ROLE other SUPERUSER LOGIN; SET SESSION AUTHORIZATION other; ALTER ROLE postgres RENAME TO retired',
  ])('lets it in again after %s', async (statements) => {
    const endpoint = await bringUp(server)
    await select(endpoint, statements)
    await expect(select(endpoint, 'SELECT 1')).rejects.toMatchObject({ reason: 'AuthenticationFailed' })
    await stopServer(server, deadline())
    await restoreSuperuser(server, superuser, deadline())
    await start(server, deadline())
    expect(await select(endpoint, 'SELECT rolsuper FROM pg_roles WHERE rolname = current_user')).toEqual([
      { rolsuper: true },
    ])
    await stopServer(server, deadline())
  })
})

describe('destroy', () => {
  /** System V segments, by which a server is known: one is named in the lock file. */
  const segments = async () => (await readFile('/proc/sysvipc/shm', 'utf8').catch(() => '')).split('\n')
  const segmentOf = async (line = '') => (await segments()).filter((row) => row.split(/ +/)[2] === line.split(/ +/)[1])

  it('ends a server with open sessions, and leaves neither process, port, file nor memory', async () => {
    const endpoint = await bringUp(server)
    const pid = await pidOf(server)
    const lock = (await readFile(join(server.directory, 'data', 'postmaster.pid'), 'utf8')).split('\n')
    const sleeper = select(endpoint, 'SELECT pg_sleep(60)')
    const ended = sleeper.catch((error: unknown) => error)
    await destroy(server, deadline())
    expect(await ended).toMatchObject({ kind: 'retryable' })
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    await expect(select(endpoint, 'SELECT 1')).rejects.toMatchObject({ reason: 'ConnectionLost' })
    expect(await readdir(bench.directory)).not.toContain(basename(server.directory))
    expect(await segmentOf(lock[6])).toEqual([])
  })

  it('frees the memory of a server that was killed', async () => {
    await bringUp(server)
    const lock = (await readFile(join(server.directory, 'data', 'postmaster.pid'), 'utf8')).split('\n')
    await killServer()
    await destroy(server, deadline())
    expect(await segmentOf(lock[6])).toEqual([])
    expect(await readdir(bench.directory)).not.toContain(basename(server.directory))
  })

  it('finishes what a killed one began', async () => {
    const half = bench.server('half-gone')
    await mkdir(join(half.directory, 'removed-1', 'base'), { recursive: true })
    await destroy(half, deadline())
    expect(await readdir(bench.directory)).not.toContain('half-gone')
  })
})
