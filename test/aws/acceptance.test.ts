import { expect, it } from 'vitest'
import { again, ConfigMap, defineReconciler, done, type Controller } from '../../shared/index.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { pause } from '../support/lambda-driver.ts'
import { currentLife, type Life } from '../support/lambda-life.ts'
import { headings, launch, Ship, ships, steer } from './fleet.ts'
import { startWholePath, type WholePath } from './whole-path.ts'
import { fanOutScenario, waitsOfEdits } from '../simulation/fan-out-scenario.ts'
import { simulate } from '../simulation/simulate.ts'
import { longOnly } from '../support/strength.ts'
import { underLoad, visibilityUnderLoad } from '../support/under-load.ts'

/**
 * What the source documents ask for, where the tests of test/acceptance rely on one process: the same numbers on the
 * whole path, with the real functions and a driver in Lambda's place.
 */
async function arrives(plane: WholePath, name: string, heading: number, timeout = 60_000): Promise<void> {
  await expect.poll(async () => (await headings(plane))[name], { timeout, interval: 25 }).toBe(heading)
}

it(
  'A23 D11 one object never runs twice at once, by triggers, messages that come twice, crashes and functions that ignore their end',
  longOnly,
  async () => {
    const { next } = createSeededRandom(3)
    const running = new Map<string, Life | undefined>()
    const overran = new Set<string>()
    const isRunning = (name: string): boolean => running.has(name) && running.get(name)?.isDead() !== true
    const seen = { runs: 0, overlaps: 0, most: 0, ended: 0, crashed: 0 }
    const controller: Controller = defineReconciler(Ship, {
      timeout: '20s',
      resync: false,
      async reconcile({ metadata: { name }, spec: { heading } }) {
        if (isRunning(name)) seen.overlaps++
        running.set(name, currentLife())
        seen.most = Math.max(seen.most, [...running.keys()].filter(isRunning).length)
        const run = ++seen.runs
        const hasOverrun = overran.has(name)
        overran.add(name)
        if (run === 6) currentLife()?.kill()
        // The function's time is over after two seconds; this looks at no signal, and goes on until its message has
        // come again.
        await pause(name === 'a' && !hasOverrun ? 12_000 : next() * 300)
        if (!hasOverrun && currentLife()?.isDead() === true) seen.ended++
        if (running.get(name) === currentLife()) running.delete(name)
        if (run % 7 === 3) throw new Error('the wind is against us')
        return done({ status: { heading } })
      },
    })
    await using plane = await startWholePath({
      controllers: [controller],
      chance: next,
      timeoutMs: 7_000,
      visibilitySeconds: 8,
      maxReceiveCount: 50,
      queue: {
        concurrency: 4,
        batchSize: 2,
        redelivers: () => next() < 0.2,
        onInvocation: (kind) => void (seen.crashed += kind === 'crashed' ? 1 : 0),
      },
      stream: { repeats: () => next() < 0.2 },
    })
    await Promise.all(['a', 'b'].map((name) => launch(plane, name, { heading: 0 })))
    for (let heading = 1; heading <= 50; heading++) {
      await Promise.all(['a', 'b'].map((name) => steer(plane, name, heading)))
      await pause(200)
    }
    for (const name of ['a', 'b']) await arrives(plane, name, 50)
    expect(seen.overlaps).toBe(0)
    // One of them crashed, the sixth, and others came behind it: on a busy machine a run takes many changes at once.
    expect(seen.runs).toBeGreaterThan(6)
    // Different objects do: it is no matter of one at a time.
    expect(seen.most).toBe(2)
    // The one that ignored its end was ended with its process, as was the one that crashed. Both ships may have arrived
    // before it looks.
    await expect.poll(() => seen.ended, { timeout: underLoad(12_000) }).toBe(1)
    expect(seen.crashed).toBe(1)
  },
)

it(
  'D32 A25 a run that has lost its turn has no effect any more, and the one that took over has its own alone',
  longOnly,
  async () => {
    const effects: number[] = []
    let runs = 0
    // What a run may take before its function is out of time.
    const runMs = 2_000 * visibilityUnderLoad()
    const controller = defineReconciler(Ship, {
      grants: [{ kind: ConfigMap, access: 'write' }],
      timeout: '20s',
      resync: false,
      async reconcile({ spec: { heading } }, ctx) {
        const run = ++runs
        if (run === 1) await pause(2 * runMs)
        await ctx.apply(ConfigMap, { metadata: { name: 'child' }, data: { run: String(run) } })
        await ctx.once('notify', async () => void effects.push(run))
        return done({ status: { heading } })
      },
    })
    await using plane = await startWholePath({
      controllers: [controller],
      timeoutMs: 5_000 + runMs,
      visibilitySeconds: 6 + runMs / 1_000,
    })
    await launch(plane, 'w', { heading: 1 })
    await arrives(plane, 'w', 1)
    await pause(1_000)
    expect(effects).toEqual([2])
    const child = await plane.request('GET /api/v1/namespaces/default/configmaps/child')
    expect(child.body).toMatchObject({ data: { run: '2' } })
  },
)

it(
  'B5 D32 each effect is had once though every message comes three times and every record of the stream twice',
  longOnly,
  async () => {
    const effects: string[] = []
    const told = new Map<string, number>()
    let runs = 0
    let times = 0
    const controller = defineReconciler(Ship, {
      grants: [{ kind: ConfigMap, access: 'write' }],
      resync: false,
      async reconcile({ spec: { heading }, metadata: { name } }, ctx) {
        runs++
        await ctx.once(`told-${heading}`, async () => void effects.push(`${name} ${heading}`))
        await ctx.apply(ConfigMap, { metadata: { name }, data: { heading: String(heading) } })
        return done({ status: { heading } })
      },
    })
    await using plane = await startWholePath({
      controllers: [controller],
      visibilitySeconds: visibilityUnderLoad(),
      queue: { redelivers: () => ++times % 3 !== 0 },
      stream: { repeats: () => true },
    })
    for (let heading = 1; heading <= 3; heading++) {
      if (heading === 1) await launch(plane, 'w', { heading })
      else await steer(plane, 'w', heading)
      await arrives(plane, 'w', heading)
      const { body } = await plane.request('GET /api/v1/namespaces/default/configmaps/w')
      told.set(`w ${heading}`, Number(body.metadata.resourceVersion))
    }
    // The last copies come when they are visible again, which takes as long as the machine's load asks for.
    await expect.poll(() => runs).toBeGreaterThan(3)
    await pause(3_000)
    expect(effects).toEqual(['w 1', 'w 2', 'w 3'])
    const { body } = await plane.request('GET /api/v1/namespaces/default/configmaps/w')
    expect(Number(body.metadata.resourceVersion)).toBe(told.get('w 3'))
  },
)

it(
  'B16 one that runs in circles, one that fails, one that waits and one that takes long keep no others waiting',
  longOnly,
  async () => {
    const runs = new Map<string, number>()
    const controller = defineReconciler(Ship, {
      resync: false,
      concurrency: 20,
      async reconcile({ metadata: { name }, spec: { heading } }) {
        runs.set(name, (runs.get(name) ?? 0) + 1)
        if (name === 'circling') return again(0, { status: { heading } })
        if (name === 'failing') throw new Error('the wind is against us')
        if (name === 'waiting') return again('40s', { status: { heading } })
        if (name === 'slow') await pause(6_000)
        return done({ status: { heading } })
      },
    })
    await using plane = await startWholePath({
      controllers: [controller],
      visibilitySeconds: 60,
      queue: { concurrency: 2, batchSize: 10 },
    })
    await Promise.all(['circling', 'failing', 'waiting', 'slow'].map((name) => launch(plane, name, { heading: 0 })))
    await expect.poll(() => runs.size).toBe(4)
    const circled = runs.get('circling') ?? 0
    const waitsMs: number[] = []
    for (let i = 0; i < 10; i++) {
      const atMs = performance.now()
      await launch(plane, `ship-${i}`, { heading: 1 })
      await arrives(plane, `ship-${i}`, 1)
      await steer(plane, `ship-${i}`, 2)
      await arrives(plane, `ship-${i}`, 2)
      waitsMs.push(performance.now() - atMs)
    }
    expect(Math.max(...waitsMs)).toBeLessThan(underLoad(4_000))
    expect(runs.get('circling')).toBeGreaterThan(circled)
    expect(runs.get('circling')).toBeLessThan(250)
    expect(runs.get('waiting')).toBe(1)
    const { body } = await plane.request(`GET ${ships}/failing`)
    expect(body.status.reconcile).toMatchObject({ waiting: 'Backoff' })
  },
)

it(
  "D26 a user's change goes ahead of two thousand objects that another change wakes, on a queue with one lane",
  longOnly,
  async () => {
    const result = await simulate(fanOutScenario(2_000))
    const waits = waitsOfEdits(result)
    expect(result.violations).toEqual([])
    expect(result.runs).toBeGreaterThan(2_000)
    expect(waits).toHaveLength(10)
    expect(Math.max(...waits)).toBeLessThan(2_000)
  },
)
