import { createSeededRandom, type SeededRandom } from '../../../shared/testing/seeded-random.ts'
import { isClear } from '../checkers/checker.ts'
import { moods, type Mood } from '../kinds/gadget.ts'
import { kindsIn } from '../reconcilers.ts'
import type { KindName, QueueCounts, QueueDeployment, QueueTrouble, Scenario, Step } from '../scenario.ts'
import { below, oneOf } from '../world.ts'
import { learnsAtMs } from './deployments.ts'

/**
 * One seed in thirty: controllers have several queues, whose number changes for an hour, and users act all that time,
 * most about the moments at which another number begins to hold. Such a seed takes as long as five others. Who is away
 * for a while has a queue that comes and goes of its own accord.
 */
export function queuesOf(seed: number, scenario: Scenario): Partial<Pick<Scenario, 'queues' | 'steps' | 'climate'>> {
  const random = createSeededRandom(seed).fork('queues')
  if (random.next() >= 1 / 30 || scenario.herd > 0 || scenario.absent !== undefined) return {}
  const others = kindsIn(scenario).filter((kind) => kind !== 'Gadget' && random.next() < 1 / 3)
  const { trouble, momentsMs } = historyOf(seed, random, ['Gadget', ...others])
  const steps = [
    ...[gadgetUser, gadgetUser + 1].flatMap((user) => gadgetsOf(random, user, momentsMs)),
    ...pokesOf(
      random,
      momentsMs,
      scenario.steps.filter(({ kind, act }) => others.includes(kind) && act === 'apply'),
    ),
  ]
  return { queues: trouble, steps: [...scenario.steps, ...steps], ...slowRunsOf(random, scenario) }
}

/** In half of those in which anything goes wrong, runs last so long that many are under way when the number changes. */
function slowRunsOf(random: SeededRandom, { climate, ...scenario }: Scenario): Partial<Pick<Scenario, 'climate'>> {
  if (random.next() < 1 / 2 || isClear({ climate, ...scenario })) return {}
  return { climate: { ...climate, outside: { ...climate.outside, latencyMsMax: 8_000 } } }
}

const gadgetUser = 90
const poker = 92
const minuteMs = 60_000

/** Source: shared/engine/wake/queue-plan.ts. */
const noticeMs = 15 * minuteMs
const knownMs = 130_000

/** When another number begins to hold, if the ticks come in time. */
interface History {
  readonly trouble: QueueTrouble
  readonly momentsMs: readonly number[]
}

function historyOf(seed: number, random: SeededRandom, kinds: readonly KindName[]): History {
  const counts = (): QueueCounts => Object.fromEntries(kinds.map((kind) => [kind, 1 + below(random, queuesMax)]))
  const first = counts()
  const deployments: QueueDeployment[] = []
  const momentsMs: number[] = []
  let [queues, used] = [first, first]
  let atMs = 20_000 + below(random, 200_000)
  let heldSinceMs = -noticeMs

  /** Says when what it has noted holds. */
  const deploy = (next: Omit<QueueDeployment, 'atMs'>): number => {
    const isMore = kinds.some((kind) => (next.used[kind] ?? 1) > (used[kind] ?? 1))
    ;({ queues, used } = next)
    deployments.push({ atMs, ...next })
    const learnedMs = learnsAtMs(seed, deployments.length, { atMs, ...next }, 'resync')
    const notedMs = Math.ceil(Math.max(learnedMs, heldSinceMs + noticeMs) / minuteMs) * minuteMs
    if (random.next() < 1 / 2) momentsMs.push(notedMs + below(random, minuteMs))
    return notedMs + (isMore ? noticeMs : knownMs)
  }

  for (let round = 0; atMs < lastChangeMs && round < roundsMax; round++) {
    const before = { queues, used }
    const wanted = round === 0 ? differing(random, counts, used) : counts()
    const takesMs = oneOf(random, [0, 30_000, 4 * minuteMs, 10 * minuteMs])
    const isGradual = takesMs > 0 && random.next() < 1 / 4
    const holdsMs = deploy({
      takesMs,
      ...(isGradual && { isGradual }),
      queues: Object.fromEntries(kinds.map((kind) => [kind, Math.max(queues[kind] ?? 1, wanted[kind] ?? 1)])),
      used: wanted,
    })
    momentsMs.push(holdsMs)
    const isRolledBack = random.next() < 1 / 3
    if (!isRolledBack) {
      heldSinceMs = holdsMs
      atMs = holdsMs + minuteMs + below(random, 16 * minuteMs)
      continue
    }
    // Long before it holds, about then, and later.
    const sinceMs = oneOf(random, [-8 * minuteMs, -135_000, 0, 90_000, 5 * minuteMs]) + below(random, 60_000)
    atMs = Math.max(atMs + 30_000, holdsMs + sinceMs)
    const backTakesMs = oneOf(random, [0, 20_000, 2 * minuteMs])
    const isBackGradual = backTakesMs > 0 && random.next() < 1 / 2
    if (atMs > holdsMs - knownMs - backTakesMs - minuteMs) heldSinceMs = holdsMs
    const isMade = kinds.some((kind) => (queues[kind] ?? 1) > (before.queues[kind] ?? 1))
    const cleanupMs = isMade ? oneOf(random, [30_000, 5 * minuteMs]) : 0
    const backMs = deploy({
      takesMs: backTakesMs,
      ...(isBackGradual && { isGradual: true as const }),
      ...before,
      isRollback: true,
      cleanupMs,
    })
    momentsMs.push(atMs, backMs)
    atMs = Math.max(backMs, atMs + backTakesMs + cleanupMs) + minuteMs + below(random, 10 * minuteMs)
  }
  // Fewer are used by now, half an hour ago.
  const isLess = kinds.some((kind) => (used[kind] ?? 1) < (queues[kind] ?? 1))
  if (isLess && random.next() < 1 / 2) {
    atMs = Math.max(atMs, Math.max(...momentsMs) + 30 * minuteMs)
    deploy({ takesMs: 30_000, queues: used, used, cleanupMs: 30_000 })
    momentsMs.push(atMs)
  }
  return { trouble: { first, deployments }, momentsMs: momentsMs.filter((one) => one < lastMs) }
}

function differing(random: SeededRandom, counts: () => QueueCounts, used: QueueCounts): QueueCounts {
  const wanted = counts()
  const { Gadget: is = 1 } = used
  return { ...wanted, Gadget: 1 + ((is + below(random, queuesMax - 1)) % queuesMax) }
}

const queuesMax = 4
const roundsMax = 3
const lastChangeMs = 35 * minuteMs
/** The trouble lasts two hours at most. */
const lastMs = 100 * minuteMs

/** One user's Gadgets: there from the beginning, and edited about each of these moments, and now and then between. */
function gadgetsOf(random: SeededRandom, user: number, momentsMs: readonly number[]): readonly Step[] {
  const names = Array.from({ length: 2 + below(random, 3) }, (_, i) => `q${user}-${i}`)
  const times = [
    ...names.map(() => below(random, 10_000)),
    ...momentsMs.flatMap((momentMs) => timesAbout(random, momentMs, 4 + below(random, 5))),
    ...Array.from({ length: 3 }, () => below(random, Math.max(...momentsMs))),
  ]
  const isQuiet = random.next() < 1 / 2
  // What is changed by hand is found by nobody whose wake-up is lost.
  const isSpoilt = random.next() < 1 / 2
  return afterOneAnother(times).map((afterMs, i): Step => ({
    user,
    act: i < names.length ? 'apply' : oneOf(random, isSpoilt ? spoilingActs : gadgetActs),
    afterMs,
    kind: 'Gadget',
    name: (i < names.length ? names[i] : undefined) ?? oneOf(random, names),
    value: 100 + i,
    mood: isQuiet ? 'plain' : oneOf(random, gadgetMoods),
    to: '',
    size: 0,
  }))
}

const gadgetActs = ['apply', 'apply', 'edit', 'edit', 'edit', 'poke', 'recreate', 'spoil'] as const
const spoilingActs = ['edit', 'poke', 'spoil', 'spoil', 'spoil', 'spoil'] as const
const gadgetMoods: readonly Mood[] = [
  'plain',
  'plain',
  ...moods.filter((mood) => !['crash', 'hang', 'spin'].includes(mood)),
]

/** "Reconcile now", for objects that others have. */
function pokesOf(random: SeededRandom, momentsMs: readonly number[], made: readonly Step[]): readonly Step[] {
  if (made.length === 0) return []
  const times = momentsMs.flatMap((momentMs) => timesAbout(random, momentMs, 4))
  return afterOneAnother(times).map((afterMs) => ({ ...oneOf(random, made), user: poker, act: 'poke', afterMs }))
}

/** Ticks that are missed or late move the moment to later. */
function timesAbout(random: SeededRandom, momentMs: number, count: number): readonly number[] {
  const spreadMs = oneOf(random, [20_000, 90_000, 200_000])
  return Array.from({ length: count }, () => Math.max(0, momentMs - spreadMs / 3 + below(random, spreadMs)))
}

function afterOneAnother(times: readonly number[]): readonly number[] {
  const sorted = times.map(Math.round).toSorted((a, b) => a - b)
  return sorted.map((atMs, i) => atMs - (sorted[i - 1] ?? 0))
}
