import { expect, it } from 'vitest'
import { KonnectControlPlane } from '../../../functions/reconcilers/konnect/kinds.ts'
import type { StructuralSchema } from '../../../shared/model/schema/structural-schema.ts'
import { validate } from '../../../shared/model/schema/validate.ts'
import { conditionIn, KonnectRoute, KonnectService, startKonnectEnv } from './konnect-env.ts'

it('an id that somebody names is one segment of a path, whatever is in it', async () => {
  await using konnectEnv = await startKonnectEnv()
  await konnectEnv.applyControlPlane()
  konnectEnv.newCalls()
  await konnectEnv.applyService({}, { annotations: { 'setpoint.dev/external-id': '../../../users/me' } })
  expect(konnectEnv.newCalls()).toEqual(['GET services/{id}'])
})

it.each(['.', '..'])('an id does not lead out of its segment by being %s', async (id) => {
  await using konnectEnv = await startKonnectEnv()
  await konnectEnv.applyControlPlane()
  konnectEnv.newCalls()
  await konnectEnv.applyService({}, { annotations: { 'setpoint.dev/external-id': id } })
  expect(konnectEnv.newCalls()).toEqual([])
  expect(await conditionIn(konnectEnv.env, KonnectService, ['orders', 'Stalled'])).toMatchObject({
    status: 'True',
    reason: 'PolicyInvalid',
  })
})

it('a server may be named with a slash at its end', async () => {
  await using konnectEnv = await startKonnectEnv()
  const { env, konnect } = konnectEnv
  await konnectEnv.applyControlPlane({ serverURL: `${konnect.url}/` })
  const plain = await env.get(KonnectControlPlane, 'main')
  expect(plain?.status).toMatchObject({ serverURL: konnect.url, organizationID: konnect.organizationID })
  await konnectEnv.applyControlPlane()
  await konnectEnv.applyService()
  expect(konnectEnv.newCalls()).toContain('POST services')
})

const schema = KonnectControlPlane.definition?.spec.versions[0]?.schema?.openAPIV3Schema as StructuralSchema
const isTaken = (serverURL: string): boolean =>
  validate(schema, { spec: { authRef: { name: 'token' }, serverURL } }).length === 0

it.each(['?x=1', '#', '/api?x=1', '/api#x'])('a server is named without %s, or its paths would be none', (end) => {
  expect(isTaken(`https://us.api.konghq.com${end}`)).toBe(false)
  expect(isTaken(`http://127.0.0.1:4711${end}`)).toBe(false)
})

it('a server is named without a user, who would look like a host', () => {
  expect(isTaken('https://us.api.konghq.com@example.com')).toBe(false)
  expect(isTaken('http://localhost/@example.com')).toBe(false)
})

it('a token is not sent in clear, but on this machine', () => {
  expect(isTaken('http://us.api.konghq.com')).toBe(false)
  expect(isTaken('http://localhost.example.com')).toBe(false)
  expect(['https://us.api.konghq.com', 'http://127.0.0.1:4711', 'http://localhost/api'].every(isTaken)).toBe(true)
})

it('an answer that names no entity says nothing of one', async () => {
  await using konnectEnv = await startKonnectEnv()
  const { env, konnect } = konnectEnv
  for (const call of ['GET /v3/', 'POST control-planes', 'GET control-planes', 'GET services'])
    konnect.fault({ call, garbled: true })
  await konnectEnv.applyControlPlane()
  await konnectEnv.applyService()
  await env.advance('10m')
  expect(await conditionIn(env, KonnectService, ['orders', 'Programmed'])).toMatchObject({ status: 'True' })
  expect(konnect.state.all('control-planes')).toHaveLength(1)

  konnect.fault({ call: 'GET services', garbled: true, times: 2 })
  await env.delete(KonnectService, 'orders')
  await env.advance('10m')
  expect(await env.get(KonnectService, 'orders')).toBeUndefined()
  expect(konnect.state.all('services')).toEqual([])

  konnect.fault({ call: 'GET control-planes', garbled: true, times: 2 })
  await env.delete(KonnectControlPlane, 'main')
  await env.advance('10m')
  expect(await env.get(KonnectControlPlane, 'main')).toBeUndefined()
  expect(konnect.state.all('control-planes')).toEqual([])
})

it('what a list says twice is no drift, though Kong keeps it once', async () => {
  await using konnectEnv = await startKonnectEnv()
  const { env } = konnectEnv
  await konnectEnv.applyControlPlane()
  await konnectEnv.applyService({ tags: ['shop', 'shop'] })
  const spec = {
    controlPlaneRef: { name: 'main' },
    paths: ['/a', '/a'],
    hosts: ['a.example', 'a.example'],
    methods: ['GET', 'GET'],
    protocols: ['http' as const, 'http' as const],
  }
  await env.apply(KonnectRoute, { metadata: { name: 'orders' }, spec })
  await env.settle()
  expect(await conditionIn(env, KonnectRoute, ['orders', 'Programmed'])).toMatchObject({ status: 'True' })
  await env.advance('5m')
  expect(await env.page('/metrics')).not.toMatch(/^setpoint_drift_found_total\{.* [1-9]/m)
})

it('a description that has gone from the spec goes from the control plane, too', async () => {
  await using konnectEnv = await startKonnectEnv()
  const { konnect } = konnectEnv
  await konnectEnv.applyControlPlane({ description: 'of the shop' })
  expect(konnect.state.all('control-planes')).toMatchObject([{ description: 'of the shop' }])
  await konnectEnv.applyControlPlane()
  expect(konnect.state.all('control-planes')).toMatchObject([{ description: '' }])
})
