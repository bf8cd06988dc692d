import { describe, expect, it } from 'vitest'
import { KonnectControlPlane, KonnectService, seen, startKonnectEnv, type KonnectEnv } from './konnect-env.ts'
import { isLong } from '../../support/strength.ts'

/**
 * The process is killed between every two calls: before and after each HTTP request, and at each write of the store, in
 * a life that has everything in it: made, edited, changed and deleted by others, deleted. Names are no help: Konnect
 * takes two of a name here. There is never a second entity, and none is left behind.
 */

type Kill = (world: KonnectEnv) => void

/** How many HTTP requests and writes of Konnect objects it takes. */
interface Lived {
  readonly requests: number
  readonly writes: number
}

const isKonnectWrite = ([stored]: readonly unknown[]): boolean => {
  const { object } = stored as { readonly object: { readonly kind: string } }
  return object.kind.startsWith('Konnect')
}

async function live(kill: Kill): Promise<Lived> {
  await using world = await startKonnectEnv()
  const { env, konnect } = world
  konnect.state.options.uniqueNames = false
  kill(world)
  await persistently(world, () => world.applyControlPlane())
  await persistently(world, () => world.applyService())
  await converged(world)

  konnect.state.edit(konnect.state.all('services')[0]?.id ?? '', { host: 'edited.example' })
  await persistently(world, () => world.applyService({ port: 8_080 }))
  await converged(world)
  expect(konnect.state.all('services')).toMatchObject([{ host: 'orders.example', port: 8_080 }])

  konnect.state.remove(konnect.state.all('services')[0]?.id ?? '')
  await converged(world)

  await persistently(world, () => env.delete(KonnectService, 'orders'))
  await env.advance('90s')
  await persistently(world, () => env.delete(KonnectControlPlane, 'main'))
  await env.advance('3m')
  expect(await env.get(KonnectService, 'orders')).toBeUndefined()
  expect(await env.get(KonnectControlPlane, 'main')).toBeUndefined()
  for (const collection of ['control-planes', 'services'] as const) {
    expect(konnect.state.all(collection)).toEqual([])
    expect(konnect.state.mostOf(collection)).toBe(1)
  }
  const writes = env.calls.filter(({ call, args }) => isWrite(call) && isKonnectWrite(args)).length
  return { requests: world.requests(), writes }
}

const isWrite = (call: string): boolean => call === 'store.replace' || call === 'store.remove'

/** A person whose request died with the process asks again. */
async function persistently({ env }: KonnectEnv, ask: () => Promise<unknown>): Promise<void> {
  try {
    await ask()
  } catch {
    await env.settle()
    await ask()
  }
}

/** Two periods, for a run that is killed and one that mends what was left. */
async function converged({ env, konnect }: KonnectEnv): Promise<void> {
  await env.advance('150s')
  const [entity, ...others] = konnect.state.all('services')
  expect(others).toEqual([])
  const { status } = await seen(env, KonnectService, 'orders')
  expect(status).toMatchObject({ id: entity?.id })
  expect(status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'True' })
}

/** The short form kills at few of the calls. */
const stride = isLong ? 1 : 25

describe('a process that is killed', () => {
  it('at any HTTP request, before it is sent or after it was answered, makes no second entity and leaves none', async () => {
    const { requests } = await live(() => {})
    expect(requests).toBeGreaterThan(20)
    for (let request = 1; request <= requests; request += stride)
      for (const when of ['before', 'after'] as const) {
        const { requests: needed } = await live((world) => world.crashAt(request, when))
        expect(needed).toBeGreaterThanOrEqual(request)
      }
  })

  it('at any write of the store, nor', async () => {
    const { writes } = await live(() => {})
    expect(writes).toBeGreaterThan(20)
    for (let write = 1; write <= writes; write += stride) {
      let left = write
      const isIt = (args: readonly unknown[]): boolean => isKonnectWrite(args) && --left === 0
      await live(({ env }) => {
        env.faults.once('store.replace', { kind: 'crash' }, isIt)
        env.faults.once('store.remove', { kind: 'crash' }, isIt)
      })
    }
  })
})
