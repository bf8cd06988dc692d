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

describe.skipIf(lacksKubectl)('a renamed field', { meta: { skipped: noKubectl } }, () => {
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
  })
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
    expect(await setpoint('migrate', '--dry-run', 'new.ts')).toMatchObject({
      code: 1,
      stdout: `pages.example.dev: unchanged, 1 object, of which 1 does not fit
  default/a: spec.heading: Required value
  these objects stop with SpecInvalid and keep what is stored: patch each so that it fits, or give new fields a default
`,
    })
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

  it('has nothing to migrate', async () => {
    expect(await setpoint('migrate')).toMatchObject({
      code: 0,
      stdout: 'every kind is stored in its present version\n',
    })
  })
})

const disks = (version: string, spec: string, older = ''): string => `
import * as z from 'zod'
import { defineKind, defineReconciler, done } from 'setpoint'
const Disk = defineKind({ group: 'example.dev', version: '${version}', kind: 'Disk', spec: z.object({ ${spec} }), ${older} })
export const disks = defineReconciler(Disk, { async reconcile() { return done() } })
`
const older = `olderVersions: (older) => [older('v1alpha1', {
  spec: z.object({ size: z.string() }),
  upgrade: ({ spec }) => ({ spec: { gigabytes: Number(spec.size) } }),
  downgrade: ({ spec }) => ({ spec: { size: String(spec.gigabytes) } }),
})]`

describe.skipIf(lacksKubectl)('an older version', { meta: { skipped: noKubectl } }, () => {
  const path = '/apis/example.dev/v1/namespaces/default/disks'
  let plane: StartedPlane
  let told: Awaited<ReturnType<typeof setpoint>>
  beforeAll(async () => {
    writeFileSync(join(cwd, 'first.ts'), disks('v1alpha1', 'size: z.string()'))
    writeFileSync(join(cwd, 'both.ts'), disks('v1', 'gigabytes: z.number()', older))
    writeFileSync(join(cwd, 'last.ts'), disks('v1', 'gigabytes: z.number()'))
    plane = await start('first.ts')
    using client = openApiClient(join(cwd, '.setpoint/kubeconfig'))
    for (const [name, size] of Object.entries({ a: '1', b: 'much', c: '3' }))
      await client.send(`POST ${path.replace('v1', 'v1alpha1')}`, {
        body: { apiVersion: 'example.dev/v1alpha1', kind: 'Disk', metadata: { name }, spec: { size } },
      })
    told = await setpoint('migrate', '--dry-run', 'both.ts')
    await plane.stop()
    plane = await start('both.ts')
  })
  afterAll(() => plane[Symbol.asyncDispose]())

  it('is told of ahead, as what is converted, with what cannot be', () => {
    expect(told).toMatchObject({
      code: 1,
      stdout: `disks.example.dev: changed, 3 objects, of which 1 would not fit
  v1alpha1 is converted to v1
  default/b: Disk.example.dev "default/b" cannot be converted from v1alpha1 to v1: spec.gigabytes is NaN; JSON has strings, numbers, booleans, null, lists and plain objects
  these objects stop with SpecInvalid and keep what is stored: patch each so that it fits, or give new fields a default
`,
    })
  })

  it('is migrated but for what cannot be converted, and goes once all is', async () => {
    expect(await setpoint('migrate')).toMatchObject({
      code: 1,
      stdout: `disks.example.dev default/b: Disk.example.dev "default/b" cannot be converted from v1alpha1 to v1: spec.gigabytes is NaN; JSON has strings, numbers, booleans, null, lists and plain objects
disks.example.dev: 2 of 3 objects written in v1; 1 stay as they are: mend them, and run this again
`,
    })
    using client = openApiClient(join(cwd, '.setpoint/kubeconfig'))
    const patch = { body: { spec: { gigabytes: 2 } }, contentType: 'application/merge-patch+json' }
    expect(await client.send(`PATCH ${path}/b`, patch)).toMatchObject({ status: 200 })
    expect(await setpoint('migrate', 'disks.example.dev')).toMatchObject({
      code: 0,
      stdout: 'disks.example.dev: 0 of 3 objects written in v1; no other version is stored\n',
    })
    const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/disks.example.dev'
    expect((await client.send(`GET ${definition}`)).body.status.storedVersions).toEqual(['v1'])
    await plane.stop()
    plane = await start('last.ts')
    using later = openApiClient(join(cwd, '.setpoint/kubeconfig'))
    const { body } = await later.send(`GET ${path}`)
    expect(body.items.map(({ spec }: { spec: object }) => spec)).toEqual([1, 2, 3].map((gigabytes) => ({ gigabytes })))
  })

  it('is none of a definition that is not there', async () => {
    expect(await setpoint('migrate', 'nothing.example.dev')).toMatchObject({
      code: 1,
      stderr: 'setpoint: there is no definition nothing.example.dev\n',
    })
  })
})
