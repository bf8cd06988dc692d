import { dueAtMs } from '../../shared/model/engine-state.ts'
import { startAwsPlane } from './aws/plane.ts'
import { watchedKinds } from './aws/scenario.ts'
import { createCheckers } from './checkers/all-checkers.ts'
import { isFenceTried, isRestless, objectsOf } from './checkers/checker.ts'
import { clearOutside } from './climate.ts'
import { createHookServers } from './hook-servers.ts'
import { startLocalPlane } from './local/plane.ts'
import { startInformers } from './informers.ts'
import { createOutside } from './outside.ts'
import { createRegistry } from './registry.ts'
import type { Plane } from './plane.ts'
import { controllersFor, kindsIn } from './reconcilers.ts'
import { createRunWatcher } from './runs.ts'
import { runKinds, type Scenario } from './scenario.ts'
import { createUsers, type Users } from './users.ts'
import { beginMs, createWorld, type World } from './world.ts'

export interface SimulationResult {
  readonly violations: readonly string[]
  readonly trace: readonly string[]
  /** Virtual time that passed. */
  readonly hours: number
  readonly runs: number
  /** How often what went wrong. */
  readonly faults: ReadonlyMap<string, number>
}

/**
 * One scenario: trouble first, with safety looked at all along; then nothing goes wrong any more, and all must come to
 * rest.
 */
export async function simulate(scenario: Scenario): Promise<SimulationResult> {
  const { seed, climate, steps } = scenario
  const world = createWorld(seed)
  const violations = new Set<string>()
  const report = (violation: string): void => {
    if (violations.size < violationsMax) violations.add(`${violation} (at ${seconds(world)} s)`)
  }
  const end: { calmSinceMs?: number; isRunAgain?: true } = {}
  let runs = 0

  const watcher = createRunWatcher(world, {
    runBegins: (run) => {
      runs++
      checkers.runBegins(run)
    },
    runEnds: (run, how) => checkers.runEnds(run, how),
    once: (effect) => checkers.once(effect),
    notes: (step) => checkers.notes(step),
    tenant: (step) => checkers.tenant(step),
    called: (by) => checkers.called(by),
  })
  const outside = createOutside({
    world,
    climate: climate.outside,
    clear: clearOutside,
    onEffect: (effect) => checkers.effect(effect),
  })
  const registry = createRegistry({
    world,
    traits: scenario.deeds,
    climate: climate.outside,
    clear: clearOutside,
    onMade: (entity, by) => checkers.made(entity, by),
  })
  const hooks = createHookServers({ world, climate })
  const startPlane = scenario.local !== undefined ? startLocalPlane : startAwsPlane
  const plane: Plane = startPlane({
    world,
    scenario,
    report,
    webhooks: hooks.of,
    controllers: (life, network) =>
      controllersFor(scenario, {
        life,
        watcher,
        outside: outside.reach(life, network),
        registry: registry.reach(life, network),
        isCalm: () => end.calmSinceMs !== undefined,
      }),
    onReloaded: () => checkers.reloaded(),
    onWrite: (write) => {
      const { metadata } = write.after.object
      world.note(
        `${write.by.name} ${write.type} ${write.after.object.kind} ${metadata.name} ${metadata.resourceVersion}`,
      )
      checkers.write(write)
    },
  })
  const users: Users = createUsers({
    world,
    plane,
    outside,
    registry,
    propagation: scenario.propagation,
    controls: scenario.controls === true,
    report,
    onAccepted: (change) => checkers.accepted(change),
    onAnswered: (answer) => checkers.answered(answer),
  })
  const { table } = plane
  const checkers = createCheckers({
    world,
    scenario,
    table,
    outside,
    registry,
    hooks,
    users,
    report,
    calmSinceMs: () => end.calmSinceMs,
    isRunAgain: () => end.isRunAgain === true,
  })
  for (const { kind, to } of steps) if (kind === 'Parcel' && to !== '') outside.tamper(to, -1)
  await plane.begin()
  const informers = startInformers({
    world,
    plane,
    kinds: scenario.local === undefined ? watchedKinds : [...kindsIn(scenario), 'ConfigMap'],
    count: (scenario.local ?? scenario.watch)?.informers ?? 0,
    isExact: scenario.local !== undefined,
    limit: (scenario.local ?? scenario.watch)?.listLimit,
  })

  const work = { isDone: false }
  await trouble()
  end.calmSinceMs = world.nowMs()
  plane.calmDown()
  outside.calmDown()
  registry.calmDown()
  hooks.calmDown()
  if (isFenceTried(scenario)) await runAgain()
  await calm({ world, plane, unmet, restBegins: () => checkers.restBegins(), report })
  plane.end()
  return {
    violations: [...violations],
    trace: world.trace,
    hours: (world.nowMs() - beginMs) / 3_600_000,
    runs,
    faults: world.faults,
  }

  /** Until all have done what they were to do; or for so long that the rest has to be done in the calm. */
  async function trouble(): Promise<void> {
    void users.work(steps).then(() => (work.isDone = true))
    const isOver = (): boolean => work.isDone && world.nowMs() >= beginMs + (scenario.absent?.untilMs ?? 0)
    while (!isOver() && world.nowMs() < beginMs + troubleMsMax) await world.runUntil(world.nowMs() + 60_000)
  }

  /** Whoever acts after his turn is over has ended by now; what he left behind the next run puts right. */
  async function runAgain(): Promise<void> {
    await world.runUntil(world.nowMs() + lateWorkMsMax)
    end.isRunAgain = true
    let isAsked = false
    void users.runAll().then(() => (isAsked = true))
    while (!isAsked) await world.runUntil(world.nowMs() + 1_000)
  }

  function unmet(): readonly string[] {
    return work.isDone
      ? [...checkers.unmet(), ...informers.wrong()]
      : ['promise 8, deletion: somebody waits for what was deleted']
  }
}

/** A look at everything that went wrong is enough; a broken engine finds many of a kind. */
const violationsMax = 20
const troubleMsMax = 2 * 3_600_000

/**
 * Longer than the longest backoff, a dead letter's wait, visibility timeouts and ticks: what is not at rest by then
 * never will be.
 */
const calmMsMax = 2 * 3_600_000

/** Longer than the longest that a process stands still, and a function goes on. */
const lateWorkMsMax = 900_000

/** Out of step with ticks: what a tick has just sent is no unrest. */
const lookMs = 61_000

/** Three ticks, and longer than the longest wait of a message. */
const restMs = 180_000

interface Calm {
  readonly world: World
  readonly plane: Plane
  /** What has not come to rest yet. */
  readonly unmet: () => readonly string[]
  readonly restBegins: () => void
  readonly report: (violation: string) => void
}

/** Nothing goes wrong any more: everything must come to rest in time, and stay so. */
async function calm({ world, plane, unmet, restBegins, report }: Calm): Promise<void> {
  const beganMs = world.nowMs()
  // Children of those that nobody was told are gone are looked for once a day. The last try of a record may be in the
  // calm.
  const untilMs = (): number => beganMs + (world.faults.has('stream record set aside') ? 26 * 3_600_000 : calmMsMax)
  let left = unmet()
  let restedLooks = 0
  while (world.nowMs() < untilMs() && restedLooks < 3) {
    await world.runUntil(world.nowMs() + lookMs)
    left = unmet()
    restedLooks = left.length === 0 ? restedLooks + 1 : 0
    if (restedLooks > 0 && !isRestlessWorld(plane) && leftIn(plane) > 0) restedLooks = 0
  }
  for (const text of left) report(text)
  if (left.length > 0 || isRestlessWorld(plane)) return
  if (restedLooks < 3)
    report(`promise 3, level: ${leftIn(plane)} messages, records or timers are left though all is at rest`)
  restBegins()
  await world.runUntil(world.nowMs() + restMs)
  for (const text of unmet()) report(`${text}, after all was at rest`)
}

/** Messages, records and timers that are still to lead to something. */
function leftIn({ table, backlog }: Plane): number {
  const objects = objectsOf(table, ...runKinds)
  return backlog() + objects.filter(({ engine }) => dueAtMs(engine) !== undefined).length
}

function isRestlessWorld({ table }: Plane): boolean {
  return objectsOf(table, ...runKinds).some(isRestless)
}

function seconds(world: World): string {
  return ((world.nowMs() - beginMs) / 1_000).toFixed(3)
}
