import { hasCode } from '../../shared/model/errors.ts'
import type { ObjectKey } from '../../shared/model/object-key.ts'
import { keyText } from '../../shared/model/object-key.ts'
import { customResourceDefinitionKind, namespaceKind } from '../../shared/resources/built-in-kinds.ts'
import { servedKinds } from '../../shared/resources/custom-kinds.ts'
import type { CustomResourceDefinition } from '../../shared/model/custom-resource-definition.ts'
import type { JsonObject } from '../../shared/model/json.ts'
import type { ServedKind } from '../../shared/model/served-kind.ts'
import { checkEnd } from './checkers/end-state.ts'
import { createLatencyChecker, type LatencyChecker } from './checkers/change-latency.ts'
import { createObservedChecker } from './checkers/observed.ts'
import { createSingleHolder } from './checkers/single-holder.ts'
import { createOutside, Gadget, gadgetController, type Outside, type RunWatcher } from './gadget.ts'
import type { Life } from './life.ts'
import { startPlane, type Climate, type Plane } from './plane.ts'
import { beginMs, createWorld, type World } from './world.ts'

/** What a simulated user was told, per object: what must be there in the end. */
export interface Expectation {
  /** The values its spec may have: the last acknowledged one, and those whose write had an unknown fate since. */
  values: Set<number>
  /** It may be there, it must be there. */
  mayExist: boolean
  mustExist: boolean
}

export interface SimulationResult {
  readonly seed: number
  readonly violations: readonly string[]
  readonly trace: readonly string[]
  /** Virtual time that passed. */
  readonly hours: number
  readonly runs: number
}

export interface SimulationOptions {
  readonly seed: number
  /** Of the workload, in edits. */
  readonly edits?: number
}

/** One seed: trouble first, with safety checked all along; then calm, and everything must come to rest as it was wished. */
export async function simulate({ seed, edits = 25 }: SimulationOptions): Promise<SimulationResult> {
  const latencyMsMax = [2, 20, 200, 2_000][seed % 4] ?? 20
  const world = createWorld({ seed, latencyMsMax })
  const climate = climateOf(world, latencyMsMax)
  const violations: string[] = []
  const report = (violation: string): void =>
    void violations.push(`${((world.nowMs() - beginMs) / 1000).toFixed(3)} s: ${violation}`)
  let failure = world.chance(0.5) ? world.random.next() * 0.5 : 0
  const outside = createOutside(world, () => failure)
  const holder = createSingleHolder(report)
  const latency = createLatencyChecker({
    world,
    climate,
    report,
    isThere: (key) => plane.table.items.get(key)?.object.metadata,
  })
  let runs = 0

  const watcherOf = (life: Life): RunWatcher => ({
    begins: (run) => {
      runs++
      world.note(`run ${run.name} generation ${run.generation} by ${life.name}`)
      latency.runBegins(run)
      return holder.begins(run, life)
    },
  })
  const plane = startPlane({
    world,
    climate,
    onWrite: createObservedChecker(outside, report),
    controllers: (life) => [gadgetController(outside, watcherOf(life))],
  })
  const kind = await installKind(plane, world)

  plane.trouble(true)
  const expectations = new Map<string, Expectation>()
  const users = Array.from({ length: 2 }, (_, user) =>
    workload({ world, plane, kind, expectations, user, edits, latency }),
  )
  await world.runUntil(world.nowMs() + 3_600_000)
  let working = true
  void Promise.all(users).then(() => (working = false))
  for (let hour = 0; working && hour < 24; hour++) await world.runUntil(world.nowMs() + 3_600_000)
  if (working) report('the workload did not end')

  plane.trouble(false)
  failure = 0
  await world.runUntil(world.nowMs() + calmMs)
  checkEnd({ expectations, plane, outside, report })
  plane.stop()
  return { seed, violations, trace: world.trace, hours: (world.nowMs() - beginMs) / 3_600_000, runs }
}

/** Longer than the longest backoff, a visibility timeout and two ticks: what is not at rest by then never will be. */
const calmMs = 3_600_000

/** Which faults this seed knows, and how strong: some know none. */
function climateOf(world: World, latencyMsMax: number): Climate {
  const strength = (most: number): number => (world.chance(0.5) ? world.random.next() * most : 0)
  const pick = <Value>(...values: readonly Value[]): Value =>
    values[Math.floor(world.random.next() * values.length)] as Value
  return {
    latencyMsMax,
    weather: { throttle: strength(0.1), unknown: strength(0.1), crash: strength(0.03) },
    streamBatch: pick(1, 3, 100),
    streamRepeats: strength(0.3),
    streamLagMsMax: pick(1, 300, 5_000),
    indexLagMsMax: pick(1, 1_000, 10_000),
    queueBatch: pick(1, 3, 10),
    concurrency: pick(1, 3, 10),
    tickTrouble: strength(0.5),
  }
}

async function installKind(plane: Plane, world: World): Promise<ServedKind> {
  const definition = Gadget.definition as CustomResourceDefinition
  const { resources } = plane.request('setup')
  const setup = insist(async () => {
    await createOnce(() => resources.create(namespaceKind, { metadata: { name: 'default' } }, manager))
    await resources.patch(
      customResourceDefinitionKind,
      definition.metadata,
      { type: 'apply', body: definition as unknown as JsonObject, force: true },
      manager,
    )
  }, world)
  await world.runUntil(world.nowMs() + 600_000)
  await setup
  const [kind] = servedKinds(
    (plane.table.items.get(keyText(crdKey(definition)))?.object ?? {}) as unknown as CustomResourceDefinition,
  )
  return kind as ServedKind
}

function crdKey({ metadata: { name } }: CustomResourceDefinition): ObjectKey {
  return { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition', namespace: '', name }
}

const manager = { manager: 'user' } as const

async function createOnce(create: () => Promise<unknown>): Promise<void> {
  try {
    await create()
  } catch (error) {
    if (!hasCode(error, 'ALREADY_EXISTS')) throw error
  }
}

/** Tries until it succeeds; every try may meet the weather. */
async function insist(work: () => Promise<void>, world: World): Promise<void> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!hasCode(error, 'THROTTLED', 'WRITE_UNKNOWN', 'VERSION_CONFLICT')) throw error
      await world.sleep(1_000)
    }
  }
}

interface Workload {
  readonly world: World
  readonly plane: Plane
  readonly kind: ServedKind
  readonly expectations: Map<string, Expectation>
  readonly user: number
  readonly edits: number
  readonly latency: LatencyChecker
}

/** A user who creates, edits and deletes objects of their own, and remembers what was acknowledged. */
async function workload({ world, plane, kind, expectations, user, edits, latency }: Workload): Promise<void> {
  for (let edit = 0; edit < edits; edit++) {
    await world.sleep(Math.floor(world.random.next() ** 3 * 120_000))
    const name = `g${user}-${Math.floor(world.random.next() * 3)}`
    const expectation = expectations.get(name) ?? { values: new Set(), mayExist: false, mustExist: false }
    expectations.set(name, expectation)
    const isDelete = expectation.mayExist && world.chance(0.2)
    await (isDelete ? deleteOnce() : applyOnce())

    async function applyOnce(): Promise<void> {
      const value = user * 1_000_000 + edit
      const mood = ['plain', 'plain', 'plain', 'poll', 'nap', 'stop'][Math.floor(world.random.next() * 6)] ?? 'plain'
      const body = { metadata: { name, namespace: 'default' }, spec: { value, mood } }
      const { resources, life } = plane.request(`user${user}`)
      const result = await life.live(
        attempt(() =>
          resources.patch(kind, { name, namespace: 'default' }, { type: 'apply', body, force: true }, manager),
        ),
      )
      world.note(`user applies ${name} = ${value} ${mood}: ${describe(result)}`)
      if (typeof result === 'object' && 'value' in result) {
        const { metadata } = result.value.stored.object
        // What is applied to an object that is going goes with it.
        const mustExist = metadata.deletionTimestamp === undefined
        Object.assign(expectation, { values: new Set([value]), mayExist: true, mustExist })
        latency.accepted(metadata)
      } else if (result === 'dead' || hasCode(result.error, 'WRITE_UNKNOWN')) {
        expectation.values.add(value)
        expectation.mayExist = true
      }
    }

    async function deleteOnce(): Promise<void> {
      const { resources, life } = plane.request(`user${user}`)
      const result = await life.live(attempt(() => resources.delete(kind, { name, namespace: 'default' })))
      world.note(`user deletes ${name}: ${describe(result)}`)
      const isGone = typeof result === 'object' && ('value' in result || hasCode(result.error, 'NOT_FOUND'))
      const isUnknown =
        result === 'dead' || (typeof result === 'object' && 'error' in result && hasCode(result.error, 'WRITE_UNKNOWN'))
      if (isGone || isUnknown) expectation.mustExist = false
      if (isGone) await untilGone()
      if (isGone) expectation.mayExist = false
    }

    /** As `kubectl delete` does: an object of the same name comes only after this one has gone. */
    async function untilGone(): Promise<void> {
      const { group, kind: kindName } = kind
      while (plane.table.items.has(keyText({ group, kind: kindName, namespace: 'default', name })))
        await world.sleep(1_000)
    }
  }
}

type Attempt<Value> = { readonly value: Value } | { readonly error: unknown }

async function attempt<Value>(work: () => Promise<Value>): Promise<Attempt<Value>> {
  try {
    return { value: await work() }
  } catch (error) {
    return { error }
  }
}

function describe(result: Attempt<unknown> | 'dead'): string {
  if (result === 'dead') return 'no answer'
  return 'value' in result ? 'acknowledged' : String(result.error)
}

export type { Outside }
