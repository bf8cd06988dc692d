import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { writeBundle } from '../../infra/bundling/bundle.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { plainClient } from './lambda/runtime-clients.ts'
import { openStage, type Stage } from './lambda/stage.ts'

/**
 * Canaries of objects on the runner that is made from the template: bundles, queues and clock are those of a
 * deployment. A trial is promoted, and one of the next release is rolled back, by how ready the objects become.
 */
const fixture = resolve('test/infra/fixtures/canaries.ts')
const scratch = temporaryDirectory('canaries')
let stage: Stage
beforeAll(async () => {
  stage = await openStage(plainClient, { reconcilers: fixture })
})
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]()
  scratch[Symbol.dispose]()
})

const lamps = '/apis/example.dev/v1/namespaces/default/lamps'
const canaries = '/apis/release.setpoint.dev/v1alpha1/canaries'
/** So many that in each half of them there are some. */
const count = 24

interface LampObject {
  readonly metadata: { readonly name: string }
  readonly status?: {
    readonly lit?: boolean
    readonly conditions?: readonly { readonly type: string; readonly reason: string }[]
  }
}

async function look(path: string): Promise<unknown> {
  return JSON.parse((await stage.request('GET', path)).text)
}

/** Which version ran each lamp last, and whether it is lit. */
async function readLamps(): Promise<ReadonlyMap<string, string>> {
  const { items } = (await look(lamps)) as { readonly items: readonly LampObject[] }
  return new Map(
    items.map(({ metadata: { name }, status: { lit, conditions = [] } = {} }) => {
      const { reason = 'none' } = conditions.find(({ type }) => type === 'Canary') ?? {}
      return [name, `${lit} by ${reason}`]
    }),
  )
}

async function until(isThere: () => Promise<boolean>): Promise<void> {
  for (let round = 0; !(await isThere()); round++) {
    if (round > 400) throw new Error(`it did not become so: ${JSON.stringify(await look(canaries))}`)
    await stage.settle()
    await sleep(250)
  }
}

const phaseOf = async (): Promise<string | undefined> =>
  ((await look(`${canaries}/lamp`)) as { readonly status?: { readonly phase?: string } }).status?.phase

it('a share of the objects runs the new code, and all do when those are as ready as the others', async () => {
  await stage.minute()
  await until(async () => (await stage.request('GET', canaries)).status === 200)
  for (let i = 0; i < count; i++)
    await stage.request('POST', lamps, {
      apiVersion: 'example.dev/v1',
      kind: 'Lamp',
      metadata: { name: `l${i}` },
      spec: {},
    })
  const lit = async (wanted: string): Promise<number> =>
    [...(await readLamps()).values()].filter((one) => one.startsWith(wanted)).length
  await until(async () => (await lit('true')) === count)

  const spec = { version: 'dark', shares: [50], hold: '3s', grace: '1s' }
  const made = { apiVersion: 'release.setpoint.dev/v1alpha1', kind: 'Canary', metadata: { name: 'lamp' }, spec }
  expect(await stage.request('POST', canaries, made)).toMatchObject({ status: 201 })
  const seen: number[] = []
  await until(async () => {
    seen.push(await lit('false by dark'))
    return (await phaseOf()) === 'Promoted'
  })
  // For a while some did and some did not.
  expect(seen.some((dark) => dark > 0 && dark < count)).toBe(true)
  await until(async () => (await lit('false by dark')) === count)
})

it('code of the next release that fails is rolled back for the objects that ran it, and met no other', async () => {
  for (const name of ['lamp', 'system'] as const) {
    const directory = join(scratch.path, name)
    mkdirSync(directory)
    const module = `import { makeCracked } from ${JSON.stringify(fixture)}\nexport const reconcilers = makeCracked()\n`
    writeBundle(resolve('functions/reconcile.ts'), module, directory)
    stage.route(name, await stage.startVersion(name, { directory }))
  }
  const change = { spec: { version: 'cracked' } }
  // On a loaded machine the function of the API may not answer in time; the same change once more does no harm.
  await until(async () => (await stage.request('PATCH', `${canaries}/lamp`, change)).status === 200)
  const met = new Set<string>()
  await until(async () => {
    for (const [name, state] of await readLamps()) if (state.endsWith('by cracked')) met.add(name)
    return (await phaseOf()) === 'RolledBack'
  })
  // On a loaded machine it may be over between two looks; that some ran it is said below.
  expect(met.size).toBeLessThan(count)
  await until(async () => [...(await readLamps()).values()].every((state) => !state.endsWith('by cracked')))
  const after = await readLamps()
  for (const name of met) expect(after.get(name)).toMatch(/^true by/)
  const { status } = (await look(`${canaries}/lamp`)) as { readonly status: { readonly why: string } }
  expect(status.why).toMatch(/objects that ran it became unready/)
})
