import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { connect } from 'node:tls'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { httpServerNames } from '../../shared/adapters/local/https/http-server.ts'
import { openApiClient } from '../support/api-client.ts'
import {
  localProgram,
  root,
  startControlPlane,
  startLocalProgram,
  type ControlPlaneProcess,
} from '../support/control-plane-process.ts'
import { eventually } from '../support/eventually.ts'
import { startProgram } from '../support/program.ts'
import { canMount, smallDisk } from '../support/small-disk.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { underLoad } from '../support/under-load.ts'

const map = (name: string) => ({ metadata: { name }, data: { a: '1' } })
const maps = '/api/v1/namespaces/default/configmaps'

const wrongProgram = join(root, 'test/e2e/wrong-definitions.ts')
const slowProgram = join(root, 'test/e2e/slow-control-plane.ts')
const gadget = { apiVersion: 'test.setpoint.dev/v1', kind: 'Gadget', metadata: { name: 'slow' }, spec: {} }
const gadgets = '/apis/test.setpoint.dev/v1/namespaces/default/gadgets'

describe('the process behind npm start', () => {
  const directory = temporaryDirectory('process')
  afterAll(() => directory[Symbol.dispose]())
  const fresh = (name: string): string => join(directory.path, name)

  it('keeps what is secret to its owner', async () => {
    await using plane = await startControlPlane({ dataDirectory: fresh('secret') })
    const modeOf = (name: string): string => (statSync(join(plane.dataDirectory, name)).mode & 0o777).toString(8)
    expect(modeOf('.')).toBe('711')
    for (const name of [
      'kubeconfig',
      'token',
      'authority.pem',
      'server.pem',
      'setpoint.db',
      'setpoint.mark',
      'secrets.key',
    ])
      expect([name, modeOf(name)]).toEqual([name, '600'])
  })

  it('answers who asks while it starts, as soon as it is ready', async () => {
    const dataDirectory = fresh('early')
    const env = { LOADS_MS: '1000' }
    await using program = await startLocalProgram({ program: slowProgram, dataDirectory, env })
    const client = await eventually(async () => openApiClient(join(dataDirectory, 'kubeconfig')))
    using _ = client
    expect(program.stdout).toBe('')
    expect(await client.send(`POST ${maps}`, { body: map('x') })).toMatchObject({ status: 201 })
    expect(program.stdout).toMatch(/^setpoint is ready at /)
  })

  it('goes on, and says so, when a reconcile function lets go of a promise that is rejected', async () => {
    await using plane = await startControlPlane({ program: slowProgram, dataDirectory: fresh('careless') })
    using client = openApiClient(plane.kubeconfig)
    expect(await client.send(`POST ${gadgets}`, { body: gadget })).toMatchObject({ status: 201 })
    await eventually(async () => expect(plane.process.stderr).toMatch(/an await is missing.*slow-control-plane/))
    expect(await client.send('GET /readyz')).toMatchObject({ status: 200 })
    expect(await plane.stop()).toMatchObject({ code: 0 })
  })

  it('renews its certificate while it runs', async () => {
    const dataDirectory = fresh('renewed')
    const first = await startControlPlane({ dataDirectory })
    const endMs = await endOfCertificate(first)
    await first.stop()
    const inAYear = `const { now } = Date, later = setTimeout, day = 86_400_000
      globalThis.setTimeout = (run, ms, ...given) => later(run, ms === 3_600_000 ? 10 : ms, ...given)
      Date.now = () => now() + (process.uptime() < 2 ? 0 : 340 * day)`
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(inAYear)}` }
    await using plane = await startControlPlane({ dataDirectory, env })
    await eventually(async () => expect(await endOfCertificate(plane)).toBeGreaterThan(endMs + 300 * 86_400_000))
  })

  it('answers nobody without its token', async () => {
    await using plane = await startControlPlane({ dataDirectory: fresh('token') })
    using client = openApiClient(plane.kubeconfig)
    const lines = [
      ...['/api', '/apis', '/version', '/openapi/v3', '/openapi/v2', '/nowhere', '/', maps, `${maps}/x`].map(
        (path) => `GET ${path}`,
      ),
      `POST ${maps}`,
      `DELETE ${maps}`,
      'POST /apis/authentication.k8s.io/v1/selfsubjectreviews',
    ]
    for (const token of ['', 'wrong', 'x'.repeat(44)]) {
      for (const line of lines) {
        const refused = await client.send(line, { token, ...(line.startsWith('GET') ? {} : { body: map('x') }) })
        expect({ line, ...refused }).toMatchObject({
          line,
          status: 401,
          body: { kind: 'Status', reason: 'Unauthorized', code: 401 },
        })
      }
    }
    expect(await client.send(`GET ${maps}`)).toMatchObject({ status: 200, body: { items: [] } })
    expect(await client.send('GET /healthz', { token: '' })).toEqual({ status: 200, body: 'ok' })
  })

  it('works in a directory with spaces and other letters in its path', async () => {
    await using plane = await startControlPlane({ dataDirectory: fresh("my data, d'été & 100%") })
    using client = openApiClient(plane.kubeconfig)
    expect(await client.send(`POST ${maps}`, { body: map('x') })).toMatchObject({ status: 201 })
  })

  it('starts by npm, with the data directory of the environment', async () => {
    const dataDirectory = fresh('by-npm')
    const npm = await startProgram('npm', ['start', '--silent', '--', '--port', '0'], {
      cwd: root,
      env: { SETPOINT_DATA_DIR: dataDirectory },
    })
    await using _ = npm
    await npm.says(/setpoint is ready at/)
    expect(statSync(join(dataDirectory, 'kubeconfig')).isFile()).toBe(true)
    expect(await npm.stop('SIGTERM')).toMatchObject({ code: 0 })
    await using plane = await startControlPlane({ dataDirectory })
    expect(plane.process.stderr).toBe('')
  })

  it('ends with npm, though that is killed and can tell nobody', async () => {
    const dataDirectory = fresh('by-killed-npm')
    const env = { SETPOINT_DATA_DIR: dataDirectory }
    await using npm = await startProgram('npm', ['start', '--silent', '--', '--port', '0'], { cwd: root, env })
    await npm.says(/setpoint is ready at/)
    await npm.stop('SIGKILL')
    // The process finds out by itself, stops as it would by the signal, and lets everything go.
    await using plane = await eventually(() => startControlPlane({ dataDirectory }))
    expect(plane.process.stderr).toBe('')
  })

  describe.each(httpServerNames)('with the server %s, when told to stop', { concurrent: true }, (name) => {
    const env = { SETPOINT_HTTP: name }
    it.each([
      { signal: 'SIGTERM', because: 'a supervisor says so' },
      { signal: 'SIGINT', because: 'somebody pressed Ctrl-C' },
      { signal: 'SIGHUP', because: 'the terminal was closed' },
      { signal: 'SIGINT', again: 'SIGINT', because: 'the terminal and npm both pass Ctrl-C on' },
      { signal: 'SIGTERM', again: 'SIGHUP', because: 'a supervisor is in a hurry' },
    ] as const)('ends with 0 within ten seconds on $signal $again, whatever runs', async ({ signal, again }) => {
      const dataDirectory = fresh(`slow-${name}-${signal}-${again}`)
      await using plane = await startControlPlane({ program: slowProgram, dataDirectory, env })
      using client = openApiClient(plane.kubeconfig)
      expect(await client.send(`POST ${gadgets}`, { body: gadget })).toMatchObject({ status: 201 })
      await plane.process.says(/reconcile of slow begins/)
      await client.watch(maps)
      await sendHalf(plane)
      const startMs = performance.now()
      const ended = plane.stop(signal)
      if (again !== undefined) setTimeout(() => void plane.stop(again), 100)
      expect(await ended).toMatchObject({ code: 0 })
      const tookMs = performance.now() - startMs
      console.log(
        `stopped by ${signal} while a reconcile, a watch and half a request were open: ${Math.round(tookMs)} ms`,
      )
      expect(tookMs).toBeLessThan(underLoad(10_000))
    })

    it('takes no new requests, and finishes those it has', async () => {
      await using plane = await startControlPlane({ dataDirectory: fresh(`finishing-${name}`), env })
      using client = openApiClient(plane.kubeconfig)
      await client.send(`GET ${maps}`)
      const writes = Array.from({ length: 20 }, (_, i) => client.send(`POST ${maps}`, { body: map(`m${i}`) }))
      const ended = plane.stop()
      const results = await Promise.allSettled(writes)
      expect(await ended).toMatchObject({ code: 0 })
      for (const result of results) if (result.status === 'fulfilled') expect([201, 503]).toContain(result.value.status)
      await expect(client.send(`GET ${maps}`)).rejects.toThrow(/ECONNREFUSED|socket hang up/)
    })
  })

  describe('when told to stop', { concurrent: true }, () => {
    it('ends with 0 at the very moment when it is ready, and when it is about to be', async () => {
      const ready = await startControlPlane({ dataDirectory: fresh('ready') })
      expect(await ready.stop()).toMatchObject({ code: 0 })
      const starting = await startLocalProgram({ dataDirectory: ready.dataDirectory })
      await using _ = starting
      await eventually(async () => expect(existsSync(join(ready.dataDirectory, 'setpoint.db-wal'))).toBe(true))
      expect(await starting.stop()).toMatchObject({ code: 0 })
    })

    it('ends with 0 within ten seconds while it starts, though that does not come to an end', async () => {
      const options = { program: slowProgram, dataDirectory: fresh('endless'), env: { LOADS_MS: '60000' } }
      await using program = await startLocalProgram(options)
      await eventually(async () => expect(existsSync(join(options.dataDirectory, 'kubeconfig'))).toBe(true))
      const startMs = performance.now()
      expect(await program.stop()).toMatchObject({ code: 0 })
      expect(performance.now() - startMs).toBeLessThan(underLoad(10_000))
    })

    it('ends with 0 though nobody reads what it says any more, and not before', async () => {
      const plane = await startControlPlane({ dataDirectory: fresh('unread'), env: { SETPOINT_LOG: 'debug' } })
      await using _ = plane
      using client = openApiClient(plane.kubeconfig)
      plane.process.turnAway()
      for (const name of ['a', 'b'])
        expect(await client.send(`POST /api/v1/namespaces`, { body: { metadata: { name } } })).toMatchObject({
          status: 201,
        })
      await sleep(500)
      expect(await client.send('GET /healthz')).toMatchObject({ status: 200 })
      expect(await plane.stop()).toMatchObject({ code: 0 })
    })

    it('runs again what it gave up', async () => {
      const dataDirectory = fresh('given-up')
      const before = await startControlPlane({ program: slowProgram, dataDirectory })
      using client = openApiClient(before.kubeconfig)
      await client.send(`POST ${gadgets}`, { body: gadget })
      await before.process.says(/reconcile of slow begins/)
      await before.stop()
      await using plane = await startControlPlane({ program: slowProgram, dataDirectory })
      await expect(plane.process.says(/reconcile of slow begins/)).resolves.toBeDefined()
    })
  })

  it('says how it is used, and ends with 0', async () => {
    const program = await startProgram(process.execPath, [localProgram, '--help'])
    expect(await program.ended).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^usage: npm start -- \[--port 8443\] \[--data-dir \.setpoint\] .*\n/),
      stderr: '',
    })
  })

  describe('is refused with a clear message and 1', { concurrent: true }, () => {
    const refused = async (options: Parameters<typeof startLocalProgram>[0]): Promise<string> => {
      const program = await startLocalProgram(options)
      await using _ = program
      expect(await program.ended).toMatchObject({ code: 1, stdout: '' })
      expect(program.stderr).not.toMatch(/\n {4}at /)
      return program.stderr
    }

    it('by a process that has the data directory', async () => {
      await using plane = await startControlPlane({ dataDirectory: fresh('held') })
      expect(await refused({ dataDirectory: plane.dataDirectory })).toMatch(
        /^setpoint: cannot open .*held\/setpoint\.db: another process holds it: stop that process, or choose another .*\n$/,
      )
      using client = openApiClient(plane.kubeconfig)
      expect(await client.send(`GET ${maps}`)).toMatchObject({ status: 200 })
    })

    it('by another program on the port, before a definition is so much as loaded', async () => {
      const server = createServer().listen(0, '127.0.0.1')
      await new Promise((resolve) => server.once('listening', resolve))
      const { port } = server.address() as AddressInfo
      const program = { program: wrongProgram, env: { WRONG: 'bug' } }
      try {
        expect(await refused({ dataDirectory: fresh('port'), port, ...program })).toBe(
          `setpoint: cannot listen on 127.0.0.1:${port}: the port is in use; stop what has it, or choose another (--port)\n`,
        )
      } finally {
        server.close()
      }
    })

    it.each(['http', '-1', '65536', '80.5', ''])('for the port %j', async (port) => {
      const program = await startProgram(process.execPath, [
        localProgram,
        `--port=${port}`,
        `--data-dir=${fresh('never')}`,
      ])
      expect(await program.ended).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^setpoint: --port: .* is not a port/),
      })
    })

    it('for a server it does not know, or a switch of it', async () => {
      expect(await refused({ dataDirectory: fresh('server'), env: { SETPOINT_HTTP: 'nginx' } })).toBe(
        'setpoint: SETPOINT_HTTP: "nginx" is not known; give one of lean, node\n',
      )
      expect(await refused({ dataDirectory: fresh('http2'), env: { SETPOINT_HTTP2: 'no' } })).toBe(
        'setpoint: SETPOINT_HTTP2: "no" is not known; give one of on, off\n',
      )
    })

    it('for a data directory that is named by nothing', async () => {
      const program = await startProgram(process.execPath, [localProgram, '--port=0', '--data-dir='])
      expect(await program.ended).toMatchObject({
        code: 1,
        stdout: '',
        stderr: 'setpoint: --data-dir: no directory is named; leave it out for .setpoint\n',
      })
    })

    it.skipIf(!existsSync('/proc/self'))(
      'for a data directory where the system lets nobody make one',
      { meta: { skipped: 'this system has no /proc' } },
      async () => {
        expect(await refused({ dataDirectory: '/proc/setpoint/data' })).toBe(
          "setpoint: cannot use the data directory: ENOENT: no such file or directory, mkdir '/proc/setpoint'; choose another (--data-dir)\n",
        )
      },
    )

    it.each(['token', 'kubeconfig', 'authority.pem'])('where %s is a directory', async (name) => {
      const dataDirectory = fresh(`odd-${name}`)
      mkdirSync(join(dataDirectory, name), { recursive: true })
      expect(await refused({ dataDirectory })).toMatch(
        new RegExp(`^setpoint: cannot read .*/${name}: EISDIR: illegal operation on a directory, read\n$`),
      )
    })

    it.each([
      { WRONG: 'twice', says: 'one and other are both for Gadget.test.setpoint.dev: a kind has one controller' },
      { WRONG: 'concurrency', says: 'one: concurrency must be a whole number from 1, not 0' },
    ])('for definitions that cannot work: $WRONG', async ({ WRONG, says }) => {
      const dataDirectory = fresh(`wrong-${WRONG}`)
      expect(await refused({ dataDirectory, program: wrongProgram, env: { WRONG } })).toBe(`setpoint: ${says}\n`)
      // Nothing of them is kept.
      await using plane = await startControlPlane({ dataDirectory })
      using client = openApiClient(plane.kubeconfig)
      const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.test.setpoint.dev'
      expect(await client.send(`GET ${definition}`)).toMatchObject({ status: 404 })
    })

    it('and a bug with its stack', async () => {
      const options = { dataDirectory: fresh('bug'), program: wrongProgram, env: { WRONG: 'bug' } }
      await using program = await startLocalProgram(options)
      expect(await program.ended).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(
          /^setpoint: cannot start: TypeError: nobody has thought of this\n {4}at .*wrong-definitions/,
        ),
      })
    })

    it('and a module that is no program with its place', async () => {
      writeFileSync(fresh('typo.ts'), 'export default [\n  one two\n]\n')
      const runtime = join(root, 'shared/runtime/local/process.ts')
      const text = `import { runLocalProcess } from '${runtime}'\nawait runLocalProcess(() => import('./typo.ts'))\n`
      writeFileSync(fresh('start.ts'), text)
      await using program = await startLocalProgram({ dataDirectory: fresh('typo'), program: fresh('start.ts') })
      expect(await program.ended).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^setpoint: cannot start: .*typo\.ts:2\n(.*\n)* *one two\n *\^\^\^\n/),
      })
    })

    it('where the data directory cannot be made', async () => {
      const file = fresh('file')
      writeFileSync(file, '')
      expect(await refused({ dataDirectory: join(file, 'data') })).toMatch(/^setpoint: .*file/)
    })

    it('where the database is none', async () => {
      const dataDirectory = fresh('broken')
      mkdirSync(dataDirectory)
      writeFileSync(
        join(dataDirectory, 'setpoint.db'),
        'not a database, and long enough to be told from one'.repeat(100),
      )
      expect(await refused({ dataDirectory })).toMatch(
        /^setpoint: cannot open .*setpoint\.db: file is not a database: put back a copy of it, or choose another file\n$/,
      )
    })

    it('for an archive of dumps that is neither a bucket nor a directory', async () => {
      expect(await refused({ dataDirectory: fresh('archive'), env: { BACKUP_ARCHIVE: 's3:/dumps' } })).toBe(
        'setpoint: s3:/dumps is not a place for dumps: give s3://bucket/prefix, or a directory (BACKUP_ARCHIVE)\n',
      )
    })

    it('where the clock is behind', async () => {
      const plane = await startControlPlane({ dataDirectory: fresh('behind') })
      await plane.stop()
      const nodeOptions = `--import=data:text/javascript,Date.now=()=>${Date.parse('2026-02-01T00:00:00Z')}`
      expect(await refused({ dataDirectory: plane.dataDirectory, env: { NODE_OPTIONS: nodeOptions } })).toMatch(
        /^setpoint: the clock says 2026-02-01T00:00:00\.000Z, .*authority\.pem is of 20.*: set the clock, or remove that file\n$/,
      )
    })

    it.skipIf(!canBeAnybody)(
      'where it may not write',
      { meta: { skipped: 'only root may run it as somebody else' } },
      async () => {
        const dataDirectory = fresh('sealed')
        mkdirSync(dataDirectory)
        for (const path of [directory.path, dataDirectory]) chmodSync(path, 0o755)
        expect(await refused({ dataDirectory, env: { NODE_OPTIONS: asNobody } })).toBe(
          `setpoint: cannot use the data directory: EACCES: permission denied, access '${dataDirectory}'; choose another (--data-dir)\n`,
        )
      },
    )

    it.skipIf(!canBeAnybody)(
      'where somebody else could have put a token of theirs',
      { meta: { skipped: 'only root may give a directory away' } },
      async () => {
        const dataDirectory = fresh('theirs')
        mkdirSync(dataDirectory)
        chownSync(dataDirectory, 65_534, 65_534)
        expect(await refused({ dataDirectory })).toBe(
          `setpoint: cannot use the data directory: ${dataDirectory} belongs to another account; choose another (--data-dir)\n`,
        )
      },
    )

    it.skipIf(!canMount)('where the disk is full', { meta: { skipped: 'only root may mount one' } }, async () => {
      using disk = smallDisk(128)
      const dataDirectory = join(disk.path, 'data')
      expect(await refused({ dataDirectory })).toMatch(
        /^(\{.*"runs are not kept".*\}\n)?setpoint: cannot .*data\/\S+: (database or disk is full|ENOSPC: no space left on device, write)\n$/,
      )
      expect(readdirSync(dataDirectory).filter((name) => name.endsWith('.tmp'))).toEqual([])
    })
  })
})

async function endOfCertificate({ url }: ControlPlaneProcess): Promise<number> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { valid_to: end } = socket.getPeerCertificate()
  socket.destroy()
  return Date.parse(end)
}

/** Opens a connection, and says the beginning of a request. */
async function sendHalf({ url, dataDirectory }: ControlPlaneProcess): Promise<void> {
  const { hostname, port } = new URL(url)
  const token = readFileSync(join(dataDirectory, 'token'), 'utf8').trim()
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false })
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  const headers = [`Host: ${hostname}`, `Authorization: Bearer ${token}`, 'Content-Type: application/json']
  socket.write([`POST ${maps} HTTP/1.1`, ...headers, 'Content-Length: 100', '', '{'].join('\r\n'))
}

const canBeAnybody = process.getuid?.() === 0
const asNobody = '--import=data:text/javascript,process.setgroups([]),process.setgid(65534),process.setuid(65534)'
