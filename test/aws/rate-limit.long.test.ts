import { describe, expect, it } from 'vitest'
import { defineReconciler, done, type Controller, type JsonObject } from '../../shared/index.ts'
import type { RateLimit } from '../../shared/reconciler/rate-limit.ts'
import { customResourceDefinitionKind, namespaceKind } from '../../shared/resources/built-in-kinds.ts'
import { createResources } from '../../shared/resources/create-resources.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { startAwsPlane } from '../simulation/aws/plane.ts'
import type { SimTable } from '../simulation/aws/sim-table.ts'
import { clearSky, climateOf, type Climate } from '../simulation/climate.ts'
import { createLife } from '../simulation/life.ts'
import { createWorld, type World } from '../simulation/world.ts'
import { headings, launch, newShipLog, Ship, shipReconciler, ships } from './fleet.ts'
import { startWholePath } from './whole-path.ts'

/** The rate limit of a whole controller, kept by functions that know of each other by one item of the table only. */

interface Voyage {
  readonly climate: Climate
  readonly limit: NonNullable<RateLimit['controller']>
  readonly count: number
  /** When the heading of a ship is changed once more, and trouble ends. */
  readonly troubleMs: number
}

interface Ran {
  readonly name: string
  readonly atMs: number
}

/** With one controller, and nothing that users do by themselves. */
function planeOf(world: World, climate: Climate, controller: Controller): Parameters<typeof startAwsPlane>[0] {
  const scenario = { seed: 1, climate, resyncMinutes: 0, herd: 0, steps: [] }
  return { world, scenario, controllers: () => [controller], onWrite: () => {}, report: () => {} }
}

/**
 * Ships in the simulated AWS, all launched at once, and steered while most of them wait. Until all are on their last
 * heading.
 */
async function sail(seed: number, { climate, limit, count, troubleMs }: Voyage) {
  const world = createWorld(seed)
  const runs: Ran[] = []
  const reconciler = defineReconciler(Ship, {
    rateLimit: { controller: limit },
    resync: false,
    async reconcile({ metadata: { name }, spec: { heading } }) {
      runs.push({ name, atMs: world.nowMs() })
      return done({ status: { heading } })
    },
  })
  const plane = startAwsPlane(planeOf(world, climate, reconciler))
  await installShips(world, plane.table)
  const beganMs = world.nowMs()
  const names = Array.from({ length: count }, (_, i) => `ship-${i}`)
  for (const name of names)
    void untilDone(() => plane.request(`POST ${ships}`, { metadata: { name }, spec: { heading: 1 } }), 409)
  await world.runUntil(beganMs + troubleMs / 2)
  for (const name of names) void untilDone(() => plane.request(`PATCH ${ships}/${name}`, { spec: { heading: 2 } }))
  await world.runUntil(beganMs + troubleMs)
  plane.calmDown()
  for (let minutes = 0; minutes < 240 && !areAllThere(); minutes++) await world.runUntil(world.nowMs() + 60_000)
  return { runs, areAllThere: areAllThere(), beganMs, faults: world.faults }

  async function untilDone(
    request: () => Promise<{ readonly status: number } | undefined>,
    exists = 200,
  ): Promise<void> {
    for (;;) {
      const status = (await request())?.status ?? 0
      if ([200, 201, exists].includes(status)) return
      await world.sleep(500)
    }
  }

  function areAllThere(): boolean {
    const there = [...plane.table.items.values()].filter(({ object }) => object.kind === 'Ship')
    return there.length === count && there.every(({ object: { status } }) => status?.['heading'] === 2)
  }
}

async function installShips(world: World, table: SimTable): Promise<void> {
  const life = createLife({ world, name: 'setup', version: 1, skewMs: () => 0 })
  const resources = createResources({ store: table.storeOf(life), clock: world, random: world.random })
  const manager = { manager: 'setpoint' }
  await resources.create(namespaceKind, { metadata: { name: 'default' } }, manager)
  const body = Ship.definition as unknown as JsonObject
  const { name } = body['metadata'] as { readonly name: string }
  await resources.patch(customResourceDefinitionKind, { name }, { type: 'apply', body, force: true }, manager)
}

/** The most runs that began at once beyond what the rate makes of the time between them. */
function worst(runs: readonly Ran[], perSecond: number): number {
  const timesMs = runs.map(({ atMs }) => atMs).toSorted((a, b) => a - b)
  let most = 0
  // With what is before it, the least that a run is beyond; against that, the most.
  let least = Infinity
  for (const [i, atMs] of timesMs.entries()) {
    const beyond = i - (atMs * perSecond) / 1_000
    least = Math.min(least, beyond)
    most = Math.max(most, beyond - least + 1)
  }
  return most
}

const lateMs = 10_000

describe('a hundred objects at two a second', () => {
  const limit = { perSecond: 2, burst: 5 }

  it('while nothing goes wrong: a burst and then the rate, each object as often as it must, none behind for ever', async () => {
    const { runs, areAllThere, beganMs } = await sail(1, { climate: clearSky, limit, count: 100, troubleMs: 20_000 })
    expect(areAllThere).toBe(true)
    // Within the second by which SQS is late: messages are hidden for whole seconds.
    expect(worst(runs, 2)).toBeLessThanOrEqual(5 + 2 * 2)
    // Those that were not run by then are run on both headings at once.
    expect(runs.length).toBeGreaterThanOrEqual(100)
    expect(runs.length).toBeLessThan(140)
    expect(Math.max(...runs.map(({ atMs }) => atMs)) - beganMs).toBeLessThan(100_000)
  })

  it.each(Array.from({ length: 30 }, (_, i) => i + 1))(
    'whatever goes wrong, seed %i: all arrive, and never at more than the rate, but for ten seconds of lateness and what clocks are wrong',
    async (seed) => {
      const climate = { ...climateOf(createSeededRandom(seed)), visibilityShare: 1, zombies: false }
      const { runs, areAllThere } = await sail(seed, { climate, limit, count: 40, troubleMs: 300_000 })
      expect(areAllThere).toBe(true)
      const slackMs = lateMs + 2 * climate.skewMsMax
      expect(worst(runs, 2)).toBeLessThanOrEqual(5 + (2 * slackMs) / 1_000)
    },
  )
})

describe('a hundred objects that are looked at each minute, at two a second', () => {
  it.each([1, 2, 3])("seed %i: a user's change waits for none that has not had its turn yet", async (seed) => {
    const world = createWorld(seed)
    const ran = new Map<string, number>()
    const reconciler = defineReconciler(Ship, {
      rateLimit: { controller: { perSecond: 2 } },
      resync: '1m',
      async reconcile({ metadata: { name }, spec: { heading } }) {
        ran.set(`${name} ${heading}`, ran.get(`${name} ${heading}`) ?? world.nowMs())
        return done({ status: { heading } })
      },
    })
    const plane = startAwsPlane(planeOf(world, clearSky, reconciler))
    await installShips(world, plane.table)
    const names = Array.from({ length: 100 }, (_, i) => `ship-${i}`)
    for (const name of names) void plane.request(`POST ${ships}`, { metadata: { name }, spec: { heading: 1 } })
    await world.runUntil(world.nowMs() + 300_000)
    const waitsMs: number[] = []
    for (const name of names.slice(0, 20)) {
      const atMs = world.nowMs()
      void plane.request(`PATCH ${ships}/${name}`, { spec: { heading: 2 } })
      await world.runUntil(atMs + 13_000)
      waitsMs.push((ran.get(`${name} 2`) ?? Infinity) - atMs)
    }
    expect(Math.max(...waitsMs)).toBeLessThan(4_000)
  })
})

describe('on the wire', () => {
  it('functions side by side keep it by one request for each batch, and every object runs once', async () => {
    const log = newShipLog()
    const limit = { perSecond: 10, burst: 5 }
    const names = Array.from({ length: 30 }, (_, i) => `ship-${i}`)
    await using plane = await startWholePath({
      controllers: [shipReconciler(log, { rateLimit: { controller: limit } })],
      queue: { concurrency: 4, batchSize: 3 },
      visibilitySeconds: 30,
      skewMs: (environment) => ((environment % 3) - 1) * 200,
    })
    await Promise.all(names.map((name) => launch(plane, name, { heading: 1 })))
    const arrived = async (): Promise<number> => Object.keys(await headings(plane)).length
    await expect.poll(arrived, { interval: 100 }).toBe(names.length)
    expect(log).toMatchObject({ runs: names.length, overlaps: 0 })
    expect(await plane.deadLetters()).toBe(0)
    const runs = log.atMs.map((atMs) => ({ atMs, name: '' }))
    // A message is hidden for whole seconds.
    expect(worst(runs, limit.perSecond)).toBeLessThanOrEqual(limit.burst + 1.5 * limit.perSecond)
    expect(Math.max(...log.atMs) - Math.min(...log.atMs)).toBeGreaterThan(2_000)
  })
})
