import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApiClient } from '../support/api-client.ts'
import { root } from '../support/control-plane-process.ts'
import { findKubectls, noKubectl } from '../support/kubectl.ts'
import { setpointIn, type StartedPlane } from '../support/setpoint-command.ts'
import { isLong } from '../support/strength.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const directory = temporaryDirectory('migrate')
const cwd = directory.path
const { call: setpoint, start } = setpointIn(cwd)
afterAll(() => directory[Symbol.dispose]())

const reconcilers = (spec: string): string => `
import * as z from 'zod'
import { defineKind, defineReconciler, done } from 'setpoint'
const Page = defineKind({
  group: 'example.dev', version: 'v1', kind: 'Page', spec: z.object({ ${spec} }), status: z.object({ html: z.string() }),
})
export const pages = defineReconciler(Page, {
  async reconcile({ spec }) { return done({ status: { html: JSON.stringify(spec) } }) },
})
`
const before = reconcilers('title: z.string()')
const renamed = reconcilers('heading: z.string(), colour: z.string().default("red")')

const pages = '/apis/example.dev/v1/namespaces/default/pages'
const lacksKubectl = isLong && (await findKubectls()).length === 0

describe.skipIf(lacksKubectl)('a renamed field', { meta: { skipped: noKubectl }, timeout: 120_000 }, () => {
  let plane: StartedPlane
  beforeAll(async () => {
    mkdirSync(join(cwd, 'node_modules'))
    symlinkSync(root, join(cwd, 'node_modules/setpoint'))
    symlinkSync(join(root, 'node_modules/zod'), join(cwd, 'node_modules/zod'))
    writeFileSync(join(cwd, 'old.ts'), before)
    writeFileSync(join(cwd, 'new.ts'), renamed)
    plane = await start('old.ts')
    using client = openApiClient(join(cwd, '.setpoint/kubeconfig'))
    const page = { apiVersion: 'example.dev/v1', kind: 'Page', metadata: { name: 'a' }, spec: { title: 'hello' } }
    await client.send(`POST ${pages}`, { body: page })
  }, 120_000)
  afterAll(() => plane[Symbol.asyncDispose]())

  it('is told before it is started, with the objects that would not fit', async () => {
    expect(await setpoint('migrate', '--dry-run', 'old.ts')).toMatchObject({
      code: 0,
      stdout: 'pages.example.dev: unchanged, 1 object\n',
    })
    expect(await setpoint('migrate', '--dry-run', 'new.ts')).toMatchObject({
      code: 1,
      stderr: '',
      stdout: `pages.example.dev: changed, 1 object, of which 1 would not fit
  spec.heading is new and required, and has no default
  spec.colour is new, and "red" where an object has none
  spec.title is gone: the next write of an object drops it; if it is called heading now, set that one in each object before
  default/a: spec.heading: Required value
  these objects stop with SpecInvalid and keep what is stored: patch each so that it fits, or give new fields a default
`,
    })
  })

  it('is told by the start that brings it; the object keeps what it had, and runs when it fits', async () => {
    await plane.stop()
    plane = await start('new.ts')
    expect(plane.stderr).toMatch(/"schema changed: some objects do not fit".*spec\.heading is new and required/)
    using client = openApiClient(join(cwd, '.setpoint/kubeconfig'))
    expect((await client.send(`GET ${pages}/a`)).body.spec).toMatchObject({ title: 'hello' })
    const patch = { body: { spec: { heading: 'hello' } }, contentType: 'application/merge-patch+json' }
    expect(await client.send(`PATCH ${pages}/a`, patch)).toMatchObject({ status: 200 })
    const html = async () => (await client.send(`GET ${pages}/a`)).body.status?.html
    await expect.poll(html, { timeout: 60_000 }).toBe('{"colour":"red","heading":"hello"}')
    const said = plane.stderr.split('schema changed').length
    await plane.stop()
    plane = await start('new.ts')
    expect(said).toBe(2)
    expect(plane.stderr).not.toContain('schema changed')
  })

  it('is refused in a line without --dry-run', async () => {
    const { code, stderr } = await setpoint('migrate')
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'setpoint: type setpoint migrate --dry-run [entry]; a start itself brings the schemas\n',
    })
  })
})
