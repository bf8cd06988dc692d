import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApiClient, type ApiClient } from '../support/api-client.ts'
import { root } from '../support/control-plane-process.ts'
import { findKubectls, noKubectl } from '../support/kubectl.ts'
import { setpointIn, type StartedPlane } from '../support/setpoint-command.ts'
import { isLong } from '../support/strength.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const directory = temporaryDirectory('observe')
const cwd = directory.path
const { call: setpoint, start: startEntry } = setpointIn(cwd)
afterAll(() => directory[Symbol.dispose]())

/** Says things, fails once it is told to, and runs for as long as it is told. */
const reconcilers = `
import * as z from 'zod'
import { defineKind, defineReconciler, done, Secret } from 'setpoint'

const Talker = defineKind({
  group: 'example.dev', version: 'v1', kind: 'Talker',
  spec: z.object({ says: z.string(), fails: z.boolean().default(false), sleepMs: z.number().int().default(0) }),
  status: z.object({}),
})

export const talkers = defineReconciler(Talker, {
  grants: [{ kind: Secret, access: 'read' }],
  async reconcile({ spec }, ctx) {
    const secret = await ctx.get(Secret, 'pass')
    const word = Buffer.from(secret?.data?.word ?? '', 'base64').toString()
    if (spec.says !== '') ctx.log.info(spec.says, { word: 'is ' + word })
    await new Promise((resolve) => setTimeout(resolve, spec.sleepMs))
    if (spec.fails) throw new Error('cannot say ' + word)
    return done()
  },
})
`

const talkers = '/apis/example.dev/v1/namespaces/default/talkers'
const lacksKubectl = isLong && (await findKubectls()).length === 0

describe.skipIf(lacksKubectl)('what runs did', { meta: { skipped: noKubectl } }, () => {
  let plane: StartedPlane
  let client: ApiClient
  const start = async (): Promise<void> => {
    plane = await startEntry('.')
    client = openApiClient(join(cwd, '.setpoint/kubeconfig'))
  }
  const talk = (name: string, spec: object) =>
    client.send(`POST ${talkers}`, {
      body: { apiVersion: 'example.dev/v1', kind: 'Talker', metadata: { name }, spec },
    })
  const runsOf = async (name: string) => (await client.send(`GET ${talkers}/${name}/runs`)).body.items
  const requestRun = (name: string) =>
    client.send(`PATCH ${talkers}/${name}`, {
      contentType: 'application/merge-patch+json',
      body: { metadata: { annotations: { 'setpoint.dev/reconcile-requested-at': String(Math.random()) } } },
    })

  beforeAll(async () => {
    mkdirSync(join(cwd, 'node_modules'))
    symlinkSync(root, join(cwd, 'node_modules/setpoint'))
    symlinkSync(join(root, 'node_modules/zod'), join(cwd, 'node_modules/zod'))
    writeFileSync(join(cwd, 'reconcilers.ts'), reconcilers)
    await start()
    const secret = { metadata: { name: 'pass' }, data: { word: Buffer.from('hidden words').toString('base64') } }
    await client.send('POST /api/v1/namespaces/default/secrets', { body: secret })
  })
  afterAll(async () => {
    client[Symbol.dispose]()
    await plane[Symbol.asyncDispose]()
  })

  it('is a subresource of the object, and a table and lines of the command', async () => {
    await talk('a', { says: 'good morning' })
    await expect.poll(() => runsOf('a')).toHaveLength(1)
    expect(await runsOf('a')).toMatchObject([
      {
        outcome: 'done',
        generation: 1,
        causes: [expect.stringMatching(/^created/)],
        log: [{ message: 'good morning' }],
      },
    ])
    expect((await setpoint('runs', 'talker/a')).stdout).toMatch(/^STARTED .*\n\S+Z +\d+ ms +done .* created/)
    expect((await setpoint('logs', 'talker/a')).stdout).toMatch(/^\S+Z good morning word=is \*\*\*\n$/)
    expect(JSON.parse((await setpoint('runs', 'talker/a', '-o', 'json')).stdout)).toMatchObject({ items: [{}] })
  })

  it('has failures with their words, and no value of a Secret', async () => {
    await talk('failing', { says: 'x', fails: true })
    await expect.poll(() => runsOf('failing')).not.toHaveLength(0)
    const runs = await runsOf('failing')
    expect(runs[0]).toMatchObject({ outcome: 'failed', reason: 'ReconcileFailed', message: 'cannot say ***' })
    expect(JSON.stringify(runs)).not.toContain('hidden words')
  })

  it('tells runs that had nothing to do as one', async () => {
    await talk('quiet', { says: '' })
    await expect.poll(() => runsOf('quiet')).toHaveLength(1)
    for (let i = 1; i <= 3; i++) {
      await requestRun('quiet')
      const last = async () => (await runsOf('quiet')).at(-1)?.times
      await expect.poll(last, { timeout: 60_000 }).toBe(i)
    }
    expect(await runsOf('quiet')).toHaveLength(2)
  })

  it('shows who is in a queue', async () => {
    await talk('sleeper', { says: '', sleepMs: 20_000 })
    const queue = async (): Promise<string> => (await setpoint('get-queue')).stdout
    await expect
      .poll(queue, { timeout: 60_000 })
      .toMatch(/^default +talker\.sleeper +talker\/sleeper +running +\d+s +urgent +created/m)
    await client.send(`DELETE ${talkers}/sleeper`)
  })

  it('shows timers, and what bounds the runs', async () => {
    await talk('hopeless', { says: '', fails: true })
    const timers = async (): Promise<string> => (await setpoint('get-timers')).stdout
    await expect
      .poll(timers, { timeout: 60_000 })
      .toMatch(/^default +talker\.hopeless +talker\/hopeless +(in \d+s|\d+s ago) +Backoff +cannot say/m)
    expect(await timers()).not.toContain('hidden words')
    await client.send(`DELETE ${talkers}/hopeless`)
    expect((await setpoint('get-budgets')).stdout).toMatch(/^retries +Retries +10\/s, 100 at once +\d+$/m)
  })

  it('changes the log level while it runs, and shows requests then', async () => {
    expect(await setpoint('log-level')).toMatchObject({ code: 0, stdout: 'info\n' })
    expect(plane.stderr).not.toContain('"message":"request"')
    expect(await setpoint('log-level', 'debug')).toMatchObject({ code: 0, stdout: 'debug\n' })
    await client.send(`GET ${talkers}/a`)
    await expect.poll(() => plane.stderr).toMatch(/"message":"request","method":"GET","path":"[^"]*talkers\/a"/)
    await setpoint('log-level', 'info')
    const { code, stderr } = await setpoint('log-level', 'loud')
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no log level: give one of debug, info, warn, error'),
    })
  })

  it('is kept over a kill', async () => {
    await expect.poll(() => runsOf('a')).toHaveLength(1)
    const before = await runsOf('a')
    client[Symbol.dispose]()
    await plane.stop('SIGKILL')
    await start()
    expect((await runsOf('a')).slice(0, 1)).toEqual(before)
  })

  it('refuses in a line what it does not know', async () => {
    for (const [args, message] of [
      [['runs'], 'type setpoint runs KIND/NAME'],
      [['runs', 'talker/nobody'], 'not found'],
      [['runs', 'talker/a', '-o', 'yaml'], 'type -o json'],
      [['get-queue', 'now'], 'type setpoint get-queue, and nothing after it'],
    ] as const) {
      const { code, stderr } = await setpoint(...args)
      expect(code).toBe(1)
      expect(stderr).toContain(message)
      expect(stderr.trim().split('\n')).toHaveLength(1)
    }
  })
})
