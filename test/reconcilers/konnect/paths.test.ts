import { expect, it } from 'vitest'
import { KonnectControlPlane } from '../../../functions/reconcilers/konnect/kinds.ts'
import type { StructuralSchema } from '../../../shared/model/schema/structural-schema.ts'
import { validate } from '../../../shared/model/schema/validate.ts'
import { startKonnectEnv } from './konnect-env.ts'

it('an id that somebody names is one segment of a path, whatever is in it', async () => {
  await using konnectEnv = await startKonnectEnv()
  await konnectEnv.applyControlPlane()
  konnectEnv.newCalls()
  await konnectEnv.applyService({}, { annotations: { 'setpoint.dev/external-id': '../../../users/me' } })
  expect(konnectEnv.newCalls()).toEqual(['GET services/{id}'])
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

it('a token is not sent in clear, but on this machine', () => {
  const schema = KonnectControlPlane.definition?.spec.versions[0]?.schema?.openAPIV3Schema as StructuralSchema
  const isTaken = (serverURL: string): boolean =>
    validate(schema, { spec: { authRef: { name: 'token' }, serverURL } }).length === 0
  expect(isTaken('http://us.api.konghq.com')).toBe(false)
  expect(isTaken('http://localhost.example.com')).toBe(false)
  expect(['https://us.api.konghq.com', 'http://127.0.0.1:4711', 'http://localhost/api'].every(isTaken)).toBe(true)
})
