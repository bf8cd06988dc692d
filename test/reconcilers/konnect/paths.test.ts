import { expect, it } from 'vitest'
import { startKonnectEnv } from './konnect-env.ts'

it('an id that somebody names is one segment of a path, whatever is in it', async () => {
  await using konnectEnv = await startKonnectEnv()
  await konnectEnv.applyControlPlane()
  konnectEnv.newCalls()
  await konnectEnv.applyService({}, { annotations: { 'setpoint.dev/external-id': '../../../users/me' } })
  expect(konnectEnv.newCalls()).toEqual(['GET services/{id}'])
})
