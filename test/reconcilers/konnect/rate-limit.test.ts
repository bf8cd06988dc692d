import { expect, it } from 'vitest'
import { longOnly } from '../../support/strength.ts'
import { KonnectService, startKonnectEnv } from './konnect-env.ts'

/** An account that may call five times a second, and eighty objects that would like to call more often. */

it(
  'a limit that nobody knew of is found: few calls are refused, all objects get there, and an edit does not wait for them',
  longOnly,
  async () => {
    await using world = await startKonnectEnv()
    const { env, konnect } = world
    await world.applyControlPlane()
    konnect.limit(5)
    const spec = { controlPlaneRef: { name: 'main' }, host: 'orders.example' }
    for (let i = 0; i < 80; i++) await env.apply(KonnectService, { metadata: { name: `s${i}` }, spec })
    await env.advance('3m')
    expect(konnect.state.all('services')).toHaveLength(80)

    const refused = (): number => konnect.calls.filter(({ status }) => status === 429).length
    const before = { refused: refused(), all: konnect.calls.length }
    await env.advance('5m')
    const calls = konnect.calls.length - before.all
    // A GET and a PUT for each object in each minute.
    expect(calls).toBeGreaterThan(5 * 80 * 2 * 0.9)
    expect((refused() - before.refused) / calls).toBeLessThan(0.1)
    const ready = (await env.list(KonnectService)).map(({ status }) => status?.conditions?.find(isReady)?.status)
    expect(ready).toEqual(Array.from({ length: 80 }, () => 'True'))

    await env.patch(KonnectService, 's7', { spec: { host: 'edited.example' } })
    const editedMs = env.nowMs()
    await env.eventually(() =>
      expect(konnect.state.all('services').filter(({ host }) => host === 'edited.example')).toHaveLength(1),
    )
    expect(env.nowMs() - editedMs).toBeLessThan(10_000)
  },
)

const isReady = ({ type }: { readonly type: string }): boolean => type === 'Ready'
