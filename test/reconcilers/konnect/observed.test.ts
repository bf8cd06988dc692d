import { expect, it } from 'vitest'
import { Secret } from '../../../shared/index.ts'
import { KonnectService, startKonnectEnv } from './konnect-env.ts'

it('what is only observed goes without the Secret: its entity stays, and nobody is called', async () => {
  await using world = await startKonnectEnv()
  const { env, konnect } = world
  await world.applyControlPlane()
  await world.applyService()
  await env.patch(KonnectService, 'orders', { metadata: { annotations: { 'setpoint.dev/manage': 'observe' } } })
  await env.settle()
  await env.delete(Secret, 'konnect')
  await env.settle()
  world.newCalls()
  await env.delete(KonnectService, 'orders')
  await env.settle()
  expect(await env.get(KonnectService, 'orders')).toBeUndefined()
  expect([konnect.state.all('services').length, world.newCalls()]).toEqual([1, []])
})
