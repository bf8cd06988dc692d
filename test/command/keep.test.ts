import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, writeKeyRing } from '../../shared/adapters/local/secrets/key-ring.ts'
import { openSqliteDatabase } from '../../shared/adapters/local/sqlite/sqlite-database.ts'
import { openApiClient } from '../support/api-client.ts'
import { root } from '../support/control-plane-process.ts'
import { setpointIn, type StartedPlane } from '../support/setpoint-command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** What keeps a control plane on one machine: backups, and who may use it. */
const directory = temporaryDirectory('keep')
const cwd = directory.path
const { call: setpoint, start: startEntry } = setpointIn(cwd)
const at = (name: string): string => join(cwd, name)
afterAll(() => directory[Symbol.dispose]())

const start = (dataDirectory: string): Promise<StartedPlane> =>
  startEntry(join(root, 'examples/greeting'), '--data-dir', dataDirectory)

const greetings = '/apis/example.dev/v1/namespaces/default/greetings'
const configMaps = '/api/v1/namespaces/default/configmaps'
const greeting = (name: string): object => ({
  apiVersion: 'example.dev/v1',
  kind: 'Greeting',
  metadata: { name },
  spec: { name },
})

const clientOf = (dataDirectory: string) => openApiClient(at(join(dataDirectory, 'kubeconfig')))

async function create(dataDirectory: string, names: readonly string[]): Promise<void> {
  using client = clientOf(dataDirectory)
  for (const name of names)
    expect(await client.send(`POST ${greetings}`, { body: greeting(name) })).toMatchObject({ status: 201 })
}

async function read(dataDirectory: string, path: string) {
  using client = clientOf(dataDirectory)
  return await client.send(`GET ${path}`)
}

async function namesIn(dataDirectory: string): Promise<readonly string[]> {
  const { body } = await read(dataDirectory, greetings)
  return body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
}

async function versionIn(dataDirectory: string): Promise<number> {
  return Number((await read(dataDirectory, greetings)).body.metadata.resourceVersion)
}

async function expectRefusal(args: readonly string[], message: string): Promise<void> {
  const { code, stderr, stdout } = await setpoint(...args)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(message)
  expect(stderr.trim().split('\n')).toHaveLength(1)
}

describe('a backup', () => {
  let plane: StartedPlane
  let written: Awaited<ReturnType<typeof setpoint>>
  beforeAll(async () => {
    plane = await start('data')
    using client = clientOf('data')
    const secret = { metadata: { name: 'pass' }, data: { word: Buffer.from('hidden words').toString('base64') } }
    await client.send('POST /api/v1/namespaces/default/secrets', { body: secret })
    await create('data', ['early'])
    const others = create(
      'data',
      Array.from({ length: 40 }, (_, i) => `during-${i}`),
    )
    written = await setpoint('backup', 'one.backup', '--data-dir', 'data')
    await others
  })
  afterAll(() => plane[Symbol.asyncDispose]())

  it('is written while the control plane works, and is read whole', () => {
    expect({ ...written, log: written.code === 0 ? '' : plane.stderr }).toMatchObject({ code: 0, stderr: '', log: '' })
    expect(written.stdout).toMatch(
      /^ok {7}pages\nok {7}\d+ states\nok {7}references\nok {7}checkpoints\nok {7}1 Secrets\n/,
    )
    expect(written.stdout).toContain('keep data/secrets.key apart from it')
    expect(statSync(at('one.backup')).mode & 0o777).toBe(0o600)
    expect(readFileSync(at('one.backup')).includes('hidden words')).toBe(false)
    expect(existsSync(at('data/backup.tmp'))).toBe(false)
  })

  it('is a control plane of its own when it is restored, whose clients list anew', async () => {
    const restored = await setpoint('restore', 'one.backup', '--data-dir', 'restored', '--keys', 'data')
    expect(restored).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('restored is ready to start: setpoint start --data-dir restored'),
    })
    await using other = await start('restored')
    expect(await namesIn('restored')).toContain('early')
    expect(await versionIn('restored')).toBeGreaterThan((await versionIn('data')) + 1_000_000_000)
    const secret = await read('restored', '/api/v1/namespaces/default/secrets/pass')
    expect(Buffer.from(secret.body.data.word, 'base64').toString()).toBe('hidden words')
    // Of the keys it took the token and the authority, too: the kubeconfigs of before hold.
    expect(readFileSync(at('restored/token'), 'utf8')).toBe(readFileSync(at('data/token'), 'utf8'))
    expect(await other.stop()).toMatchObject({ code: 0 })
    expect(await setpoint('check', '--data-dir', 'restored')).toMatchObject({ code: 0 })
  })

  it('restored twice gives versions that differ', async () => {
    await setpoint('restore', 'one.backup', '--data-dir', 'second', '--keys', 'data')
    const version = (name: string): number => {
      using database = new DatabaseSync(at(`${name}/setpoint.db`), { readOnly: true })
      return Number(database.prepare('SELECT rv FROM horizon').get()?.['rv'])
    }
    expect(version('second')).toBeGreaterThan(version('restored'))
  })

  it('has every object run once more: the world may have moved on', async () => {
    await setpoint('restore', 'one.backup', '--data-dir', 'moved', '--keys', 'data')
    {
      // As if the ConfigMap had never been made.
      using database = new DatabaseSync(at('moved/setpoint.db'))
      const mark = readFileSync(at('moved/setpoint.mark'))
      database.exec(`DELETE FROM heads WHERE id IN (SELECT id FROM objects WHERE name = 'early-greeting');
        DELETE FROM changes WHERE object_id IN (SELECT id FROM objects WHERE name = 'early-greeting');
        DELETE FROM objects WHERE name = 'early-greeting'`)
      writeFileSync(at('moved/setpoint.mark'), mark)
    }
    await using other = await start('moved')
    const status = async () => (await read('moved', `${configMaps}/early`)).status
    await expect.poll(status, { timeout: 60_000 }).toBe(200)
    await other.stop()
  })

  it('is taken from the files after a kill', async () => {
    expect(await setpoint('health', '--data-dir', 'data')).toMatchObject({ code: 0, stdout: 'ok\n' })
    await plane.stop('SIGKILL')
    await expectRefusal(['health', '--data-dir', 'data'], 'no control plane answers at https://127.0.0.1:')
    expect(await setpoint('backup', 'two.backup', '--data-dir', 'data')).toMatchObject({ code: 0, stderr: '' })
    expect(statSync(at('two.backup')).mode & 0o777).toBe(0o600)
    await setpoint('restore', 'two.backup', '--data-dir', 'after', '--keys', 'data', '--as-copy')
    await using held = await start('after')
    expect(held.stdout).toContain('nothing is reconciled')
    expect(await namesIn('after')).toHaveLength(41)
    await held.stop()
    plane = await start('data')
    expect(await namesIn('data')).toHaveLength(41)
  })

  it('of a control plane that hangs is given up', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    mkdirSync(at('hangs'))
    const held = openSqliteDatabase(at('hangs/setpoint.db'))
    const { port } = silent.address() as AddressInfo
    writeFileSync(at('hangs/kubeconfig'), `    server: https://127.0.0.1:${port}\n    token: x\n`)
    await expectRefusal(['backup', 'none.backup', '--data-dir', 'hangs'], 'does not answer: no answer in 5 s')
    expect([existsSync(at('none.backup')), existsSync(at('none.backup.tmp'))]).toEqual([false, false])
    held.close()
    silent.close()
  })

  it('that is damaged is not restored', async () => {
    const bytes = readFileSync(at('one.backup'))
    bytes.fill(0x55, bytes.indexOf('"early"'), bytes.indexOf('"early"') + 5)
    writeFileSync(at('damaged.backup'), bytes)
    const { code, stdout, stderr } = await setpoint('restore', 'damaged.backup', '--data-dir', 'x', '--keys', 'data')
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'setpoint: damaged.backup is damaged: nothing was restored\n',
    })
    expect(stdout).toContain('damaged  ')
    expect(existsSync(at('x'))).toBe(false)
  })

  it.each([
    [['backup'], 'type setpoint backup FILE'],
    [['backup', 'one.backup', '--data-dir', 'data'], 'one.backup is there already: name a file that is not'],
    [['backup', 'x', '--data-dir', 'nowhere'], 'nowhere holds no control plane: name its directory (--data-dir)'],
    [['backup', 'nowhere/x', '--data-dir', 'data'], 'cannot write nowhere/x'],
    [['restore', 'nothing'], 'nothing is not there: name a backup'],
    [['restore', 'plain', '--data-dir', 'x'], 'plain is no backup of a control plane'],
    [['restore', 'one.backup', '--data-dir', 'data'], 'data is not empty: move it away, or name another (--data-dir)'],
    [['restore', 'one.backup', '--data-dir', 'plain'], 'cannot restore into plain: ENOTDIR'],
    [['restore', 'one.backup', '--data-dir', 'x', '--keys', 'nowhere'], 'nowhere has no keys: name the directory that'],
    [['restore', 'one.backup', '--data-dir', 'x'], 'name the directory that has secrets.key (--keys DIRECTORY)'],
    [
      ['restore', 'one.backup', '--data-dir', 'x', '--keys', 'later'],
      'one.backup: its Secrets are encrypted with another key than later/secrets.key has: name the directory that has the',
    ],
  ])('refuses %j in a line', async (args, message) => {
    writeFileSync(at('plain'), 'nothing of ours')
    mkdirSync(at('later'), { recursive: true })
    writeKeyRing(at('later/secrets.key'), [createKey()])
    await expectRefusal(args, message)
    expect(existsSync(at('x'))).toBe(false)
  })

  it('without Secrets asks for no key', async () => {
    await using other = await start('bare')
    await create('bare', ['only'])
    expect(await setpoint('backup', 'bare.backup', '--data-dir', 'bare')).toMatchObject({ code: 0 })
    const restored = await setpoint('restore', 'bare.backup', '--data-dir', 'bare-restored')
    expect(restored).toMatchObject({ code: 0, stderr: '' })
    await other.stop()
    await using again = await start('bare-restored')
    expect(await namesIn('bare-restored')).toEqual(['only'])
    await again.stop()
  })
})

describe('setpoint token', () => {
  let plane: StartedPlane
  beforeAll(async () => {
    mkdirSync(at('shared'), { recursive: true })
    plane = await start('shared')
  })
  afterAll(() => plane[Symbol.asyncDispose]())

  const whoAmI = async (kubeconfig: string) => {
    using client = openApiClient(at(kubeconfig))
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const reply = await client.send('POST /apis/authentication.k8s.io/v1/selfsubjectreviews', { body })
    return reply.status === 201 ? reply.body.status.userInfo : reply.status
  }
  // The server looks at the users file at most once in 50 ms.
  const soon = { timeout: 60_000 }

  it('lets a person in with a kubeconfig of their own, until it is rotated or removed', async () => {
    const added = await setpoint('token', 'add', 'alice', '--groups', 'developers', '--data-dir', 'shared')
    expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining('kubectl create rolebinding alice') })
    expect(statSync(at('alice.kubeconfig')).mode & 0o777).toBe(0o600)
    await expect
      .poll(() => whoAmI('alice.kubeconfig'), soon)
      .toMatchObject({
        username: 'alice',
        groups: expect.arrayContaining(['developers']),
      })

    await setpoint('token', 'rotate', 'alice', '--out', 'new.kubeconfig', '--data-dir', 'shared')
    await expect.poll(() => whoAmI('alice.kubeconfig'), soon).toBe(401)
    await expect.poll(() => whoAmI('new.kubeconfig'), soon).toMatchObject({ username: 'alice' })
    expect((await setpoint('token', 'list', '--data-dir', 'shared')).stdout).toMatch(/^alice {2}developers,/)

    await setpoint('token', 'remove', 'alice', '--data-dir', 'shared')
    await expect.poll(() => whoAmI('new.kubeconfig'), soon).toBe(401)
    expect((await setpoint('token', 'list', '--data-dir', 'shared')).stdout).toMatch(/^nobody but the administrator/)
    // Nobody but the administrator may take a backup.
    await setpoint('token', 'add', 'bob', '--data-dir', 'shared')
    using client = openApiClient(at('bob.kubeconfig'))
    await expect.poll(() => client.send('POST /backup'), soon).toMatchObject({ status: 403 })
  })

  it('changes nothing for a kubeconfig that cannot be written', async () => {
    const list = async () => (await setpoint('token', 'list', '--data-dir', 'shared')).stdout
    await setpoint('token', 'add', 'carol', '--data-dir', 'shared')
    const before = readFileSync(at('shared/users'), 'utf8')
    for (const words of [
      ['add', 'dave'],
      ['rotate', 'carol'],
    ])
      await expectRefusal(
        ['token', ...words, '--out', 'nowhere/x', '--data-dir', 'shared'],
        'cannot write nowhere/x: ENOENT',
      )
    expect(readFileSync(at('shared/users'), 'utf8')).toBe(before)
    expect(await list()).not.toContain('dave')
    await expect.poll(() => whoAmI('carol.kubeconfig'), soon).toMatchObject({ username: 'carol' })
  })

  it.each([
    [['token', 'add'], 'type setpoint token add NAME, rotate NAME, remove NAME, or list'],
    [['token', 'add', 'system:x', '--data-dir', 'shared', '--out', 'y'], 'are not for people'],
    [['token', 'add', 'a b', '--data-dir', 'shared', '--out', 'y'], '"a b" is no name'],
    [['token', 'rotate', 'nobody', '--data-dir', 'shared', '--out', 'y'], 'has nobody called nobody'],
    [['token', 'rotate', 'nobody', '--groups', 'x'], 'token rotate takes no --groups: only token add gives groups'],
    [['token', 'remove', 'nobody', '--groups', 'x'], 'token remove takes no --groups'],
    [['token', 'remove', 'nobody', '--out', 'y'], 'token remove takes no --out: it writes no kubeconfig'],
    [['token', 'list', '--groups', ''], 'token list takes no --groups'],
    [['token', 'list', '--out', 'y'], 'token list takes no --out'],
    [['token', 'add', 'eve', '--data-dir', 'nowhere', '--out', 'y'], 'start its control plane once'],
  ])('refuses %j in a line', async (args, message) => {
    await expectRefusal(args, message)
    expect(existsSync(at('y'))).toBe(false)
  })
})

describe('setpoint dev --reset', () => {
  const reset = (...flags: readonly string[]) => ['dev', join(root, 'examples/greeting'), '--reset', ...flags]

  it('takes no directory from a control plane that runs on it', async () => {
    await using plane = await start('taken')
    await create('taken', ['here'])
    await expectRefusal(reset('--data-dir', 'taken'), '--reset: a control plane runs on taken: stop it first')
    expect(await namesIn('taken')).toEqual(['here'])
    await plane.stop()
  })

  it('takes no directory that holds more than data', async () => {
    writeFileSync(at('setpoint.db'), '')
    await expectRefusal(reset('--data-dir', '.'), '--reset: . holds more than data')
    expect(existsSync(at('setpoint.db'))).toBe(true)
  })
})
