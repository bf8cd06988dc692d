import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openApiClient } from '../support/api-client.ts'
import { localProgram, startControlPlane } from '../support/control-plane-process.ts'
import { runProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const map = (name: string, value = 'as it was written') => ({ metadata: { name }, data: { value } })

/** As a disk does it that forgets a bit. */
function flipIn(file: string, text: string): void {
  const bytes = readFileSync(file)
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1))
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
  writeFileSync(file, bytes)
}

it('one flipped bit in one object is told everywhere, costs no other object anything, and goes with the object', async () => {
  using scratch = temporaryDirectory('flip')
  const dataDirectory = join(scratch.path, 'data')
  const first = await startControlPlane({ dataDirectory })
  using before = openApiClient(first.kubeconfig)
  for (const body of [map('broken', 'needle'), map('whole')])
    expect(await before.send(`POST ${maps}`, { body })).toMatchObject({ status: 201 })
  await first.stop()
  flipIn(join(dataDirectory, 'setpoint.db'), 'needle')

  const check = () => runProgram(process.execPath, [localProgram, '--check', '--data-dir', dataDirectory])
  expect(await check()).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^damaged {2}\d+ states: \/ConfigMap\/default\/broken is damaged$/m),
    stderr: '',
  })

  await using plane = await startControlPlane({ dataDirectory })
  using client = openApiClient(plane.kubeconfig)
  const page = async (name: string) => String((await client.send(`GET /${name}`)).body)
  // Nobody has asked for it.
  await expect.poll(() => page('metrics'), { timeout: 60_000 }).toContain('\nsetpoint_damaged_objects 1\n')
  expect(await page('doctor')).toMatch(/^storage\n {2}look .* \/ConfigMap\/default\/broken$/m)
  const damaged = {
    status: 500,
    body: {
      kind: 'Status',
      reason: 'InternalError',
      message: expect.stringMatching(/^\/ConfigMap\/default\/broken is damaged/),
    },
  }
  for (const verb of ['GET', 'DELETE']) expect(await client.send(`${verb} ${maps}/broken`)).toMatchObject(damaged)
  const listed = await client.send(`GET ${maps}`)
  expect(listed).toMatchObject({
    status: 200,
    body: { items: [map('whole')] },
  })
  const { headers } = (await client.stream(maps)).destroy()
  expect(headers['warning']).toBe('299 - "/ConfigMap/default/broken is damaged and left out: it cannot be read"')
  expect(await page('metrics')).toContain('\nsetpoint_damaged_objects 1\n')
  expect(await page('doctor')).toMatch(/^storage\n {2}look .* \/ConfigMap\/default\/broken$/m)
  expect(await client.send(`POST ${maps}`, { body: map('later') })).toMatchObject({ status: 201 })

  const ignoring = `${maps}/broken?ignoreStoreReadErrorWithClusterBreakingPotential=true`
  expect(await client.send(`DELETE ${ignoring}`)).toMatchObject({ status: 200, body: { status: 'Success' } })
  expect(await client.send(`GET ${maps}/broken`)).toMatchObject({ status: 404 })
  expect(await client.send(`POST ${maps}`, { body: map('broken') })).toMatchObject({ status: 201 })
  expect(await page('metrics')).toContain('\nsetpoint_damaged_objects 0\n')
  expect((await client.send(`GET ${maps}`)).body.items).toHaveLength(3)
  expect(await check()).toMatchObject({ code: 1, stderr: expect.stringMatching(/another process holds it/) })
  expect(await plane.stop()).toMatchObject({ code: 0 })
  // What is deleted stays in the log for an hour.
  expect((await check()).stdout).toMatch(
    /^ok {7}files and mark\nok {7}pages\ndamaged {2}\d+ states: an old state, change \d+ is damaged\nok {7}references\nok {7}checkpoints\nok {7}0 Secrets\nok {7}keys and users\n$/,
  )
})

const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies'
const policy = {
  metadata: { name: 'p' },
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: ['g.dev'], apiVersions: ['v1'], operations: ['*'], resources: ['things'] }],
    },
    validations: [{ expression: 'true', message: 'needle' }],
  },
}

it('while a policy is damaged, writes of users are refused, until it is deleted', async () => {
  using scratch = temporaryDirectory('flip')
  const dataDirectory = join(scratch.path, 'data')
  const first = await startControlPlane({ dataDirectory })
  using before = openApiClient(first.kubeconfig)
  expect(await before.send(`POST ${policies}`, { body: policy })).toMatchObject({ status: 201 })
  await first.stop()
  flipIn(join(dataDirectory, 'setpoint.db'), 'needle')

  await using plane = await startControlPlane({ dataDirectory })
  using client = openApiClient(plane.kubeconfig)
  const message = expect.stringMatching(/^ValidatingAdmissionPolicy "p" is damaged, so that nobody knows/) as unknown
  const refused = { status: 500, body: { reason: 'InternalError', message } }
  expect(await client.send(`POST ${maps}`, { body: map('a') })).toMatchObject(refused)
  expect(await client.send(`DELETE ${maps}/a`)).toMatchObject({ status: 404 })
  expect(await client.send(`GET ${maps}`)).toMatchObject({ status: 200 })
  const ignoring = `${policies}/p?ignoreStoreReadErrorWithClusterBreakingPotential=true`
  expect(await client.send(`DELETE ${ignoring}`)).toMatchObject({ status: 200 })
  expect(await client.send(`POST ${policies}`, { body: policy })).toMatchObject({ status: 201 })
  expect(await client.send(`POST ${maps}`, { body: map('a') })).toMatchObject({ status: 201 })
  expect(await plane.stop()).toMatchObject({ code: 0 })
})

const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/jobs.batch.setpoint.dev'
const account = '/api/v1/namespaces/default/serviceaccounts/default'

it('an account and a definition that a start needs hinder none while they are damaged, and are made again', async () => {
  using scratch = temporaryDirectory('flip')
  const dataDirectory = join(scratch.path, 'data')
  const first = await startControlPlane({ dataDirectory })
  using before = openApiClient(first.kubeconfig)
  for (const path of [account, definition]) {
    const body = { metadata: { annotations: { flipped: 'needle' } } }
    const patch = { contentType: 'application/merge-patch+json', body }
    expect(await before.send(`PATCH ${path}`, patch)).toMatchObject({ status: 200 })
  }
  await first.stop()
  flipIn(join(dataDirectory, 'setpoint.db'), 'needle')

  const plane = await startControlPlane({ dataDirectory })
  using client = openApiClient(plane.kubeconfig)
  for (const path of [account, definition]) {
    expect(await client.send(`GET ${path}`)).toMatchObject({ status: 500 })
    const ignoring = `${path}?ignoreStoreReadErrorWithClusterBreakingPotential=true`
    expect(await client.send(`DELETE ${ignoring}`)).toMatchObject({ status: 200 })
  }
  await expect.poll(() => client.send(`GET ${account}`), { timeout: 10_000 }).toMatchObject({ status: 200 })
  await plane.stop()

  await using again = await startControlPlane({ dataDirectory })
  using later = openApiClient(again.kubeconfig)
  expect(await later.send(`GET ${definition}`)).toMatchObject({ status: 200 })
  expect(await later.send('GET /apis/batch.setpoint.dev/v1alpha1/jobs')).toMatchObject({ status: 200 })
})

it('a quota that leaves no room for the account of the default namespace hinders no start', async () => {
  using scratch = temporaryDirectory('quota')
  const dataDirectory = join(scratch.path, 'data')
  const first = await startControlPlane({ dataDirectory })
  using before = openApiClient(first.kubeconfig)
  const quotas = '/api/v1/namespaces/default/resourcequotas'
  const body = { metadata: { name: 'none' }, spec: { hard: { 'count/serviceaccounts': '0' } } }
  expect(await before.send(`POST ${quotas}`, { body })).toMatchObject({ status: 201 })
  expect(await before.send(`DELETE ${account}`)).toMatchObject({ status: 200 })
  await first.stop()

  await using plane = await startControlPlane({ dataDirectory })
  using client = openApiClient(plane.kubeconfig)
  expect(await client.send(`GET ${account}`)).toMatchObject({ status: 404 })
  expect(await client.send(`DELETE ${quotas}/none`)).toMatchObject({ status: 200 })
  await expect.poll(() => client.send(`GET ${account}`), { timeout: 30_000 }).toMatchObject({ status: 200 })
})
