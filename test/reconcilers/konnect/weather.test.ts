import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Fault } from './fake-konnect.ts'
import { problem } from './konnect-state.ts'
import {
  KonnectConsumer,
  KonnectControlPlane,
  KonnectRoute,
  KonnectService,
  seen,
  startKonnectEnv,
  type KonnectEnv,
} from './konnect-env.ts'
import { share } from '../../support/strength.ts'

/**
 * A tree of entities through bad weather: calls that are refused, limited, dropped, answered into nowhere or by
 * nonsense, lists that lag, kills, people who edit and delete in the UI. When it is over everything is as declared,
 * once; and when it is deleted nothing stays.
 */

const calls = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'POST services',
  'POST control-planes',
  'GET control-planes',
] as const
const happening = fc.record({
  what: fc.constantFrom('500', '429', 'lost', 'dropped', 'garbled', 'kill', 'edit', 'remove', 'change', 'wait'),
  call: fc.constantFrom(...calls),
  times: fc.integer({ min: 1, max: 3 }),
  n: fc.integer({ min: 1, max: 6 }),
})
type Happening = typeof happening extends fc.Arbitrary<infer Value> ? Value : never

const collections = ['control-planes', 'services', 'routes', 'consumers'] as const

async function happen(world: KonnectEnv, { what, call, times, n }: Happening): Promise<void> {
  const { env, konnect } = world
  const all = collections.flatMap((collection) => konnect.state.all(collection))
  const one = all[n % Math.max(1, all.length)]
  const faults: Readonly<Record<string, Omit<Fault, 'call' | 'times'>>> = {
    '500': { answer: problem(500, 'Internal') },
    '429': { answer: { ...problem(429, 'Too Many Requests'), headers: { 'retry-after': String(n) } } },
    lost: { lost: true },
    dropped: { dropped: true },
    garbled: { garbled: true },
  }
  const fault = faults[what]
  if (fault !== undefined) konnect.fault({ call, times, ...fault })
  if (what === 'kill') world.crashAt(n, times === 1 ? 'before' : 'after')
  if (what === 'edit' && one !== undefined) konnect.state.edit(one.id, 'labels' in one ? { labels: {} } : { tags: [] })
  if (what === 'remove' && one !== undefined) konnect.state.remove(one.id)
  if (what === 'change') await change(world, n)
  await env.advance(`${n * 7}s`)
}

/** A request that dies with its process: the person does not know, and does not ask again. */
async function change({ env }: KonnectEnv, port: number): Promise<void> {
  try {
    await env.patch(KonnectService, 'orders', { spec: { port } })
  } catch {
    await env.settle()
  }
}

async function applyTree(world: KonnectEnv): Promise<void> {
  const { env } = world
  const controlPlaneRef = { name: 'main' }
  const metadata = { name: 'orders' }
  await env.apply(KonnectRoute, { metadata, spec: { controlPlaneRef, serviceRef: { name: 'orders' }, paths: ['/'] } })
  await env.apply(KonnectConsumer, { metadata, spec: { controlPlaneRef } })
  await world.applyService()
  await world.applyControlPlane()
}

async function expectTree({ env, konnect }: KonnectEnv): Promise<void> {
  const service = await seen(env, KonnectService, 'orders')
  const { id: controlPlaneID } = (await seen(env, KonnectControlPlane, 'main')).status ?? {}
  expect(konnect.state.all('control-planes').map(({ id }) => id)).toEqual([controlPlaneID])
  expect(konnect.state.all('services')).toMatchObject([
    { id: service.status?.id, host: 'orders.example', port: service.spec.port ?? 80 },
  ])
  expect(konnect.state.all('routes')).toMatchObject([{ service: { id: service.status?.id } }])
  expect(konnect.state.all('consumers')).toHaveLength(1)
  expect(service.status?.controlPlaneID).toBe(controlPlaneID)
}

it('a tree of entities survives bad weather, and goes without a trace', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(happening, { minLength: 5, maxLength: 15 }),
      fc.constantFrom(0, 10_000),
      async (happenings, lagMs) => {
        await using world = await startKonnectEnv()
        const { env, konnect } = world
        konnect.state.options.lagMs = lagMs
        konnect.state.options.uniqueNames = false
        await applyTree(world)
        for (const one of happenings) await happen(world, one)
        konnect.calm()
        world.crashAt(0, 'before')
        await env.advance('6m')
        await expectTree(world)
        for (const kind of [KonnectService, KonnectConsumer, KonnectRoute]) await env.delete(kind, 'orders')
        await env.delete(KonnectControlPlane, 'main')
        await env.advance('4m')
        for (const collection of collections) expect(konnect.state.all(collection)).toEqual([])
        expect(await env.list(KonnectRoute)).toEqual([])
      },
    ),
    { numRuns: share(12), seed: 7, endOnFailure: false },
  )
})
