import { afterEach, beforeEach, expect, it } from 'vitest'
import { Secret } from '../../../shared/index.ts'
import { KonnectControlPlane, startKonnectEnv, type KonnectEnv } from './konnect-env.ts'

/** A create whose answer was lost, and a person who does something else meanwhile. */

let world: KonnectEnv
beforeEach(async () => {
  world = await startKonnectEnv()
})
afterEach(() => world[Symbol.asyncDispose]())

/** The control plane is made, nobody knows it, and the token is one of another organization by now. */
async function loseAndMove(): Promise<void> {
  const { env, konnect } = world
  konnect.fault({ call: 'POST control-planes', lost: true })
  await world.applyControlPlane()
  expect((await env.get(KonnectControlPlane, 'main'))?.status?.id).toBeUndefined()
  await setToken('other')
}

async function setToken(token: string): Promise<void> {
  await world.env.apply(Secret, { metadata: { name: 'konnect' }, stringData: { token } })
  await world.env.advance('3m')
}

it('is looked for where it was sent, and none is made in another organization', async () => {
  const { env, konnect } = world
  await loseAndMove()
  expect(world.callsOf('POST control-planes').map(({ account, status }) => [account, status])).toEqual([
    ['kpat_test', 201],
  ])
  const { conditions = [] } = (await env.get(KonnectControlPlane, 'main'))?.status ?? {}
  expect(conditions.find(({ type }) => type === 'Stalled')?.message).toMatch(
    /^its create was sent to http.*, and not to /,
  )
  await setToken('kpat_test')
  expect((await env.get(KonnectControlPlane, 'main'))?.status?.id).toBe(konnect.state.all('control-planes')[0]?.id)
})

it('leaves nothing behind when its object is deleted', async () => {
  const { env, konnect } = world
  await loseAndMove()
  await env.delete(KonnectControlPlane, 'main')
  await env.advance('3m')
  expect(await env.get(KonnectControlPlane, 'main')).toBeDefined()
  await setToken('kpat_test')
  expect([await env.get(KonnectControlPlane, 'main'), konnect.state.all('control-planes')]).toEqual([undefined, []])
})

it('does not stand above the entity that a person has named', async () => {
  const { env, konnect } = world
  // The request never arrived.
  konnect.fault({ call: 'POST control-planes', dropped: true })
  await world.applyControlPlane({ name: 'mine' })
  const made = konnect.state.add('control-planes', { name: 'already-there' })
  const annotations = { 'setpoint.dev/external-id': made.id, 'setpoint.dev/adopt': 'override' }
  await env.patch(KonnectControlPlane, 'main', { metadata: { annotations } })
  await env.advance('3m')
  expect((await env.get(KonnectControlPlane, 'main'))?.status?.id).toBe(made.id)
  expect(konnect.state.all('control-planes')).toHaveLength(1)
})
