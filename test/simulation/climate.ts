import type { SeededRandom } from '../../shared/testing/seeded-random.ts'
import { oneOf } from './world.ts'

/**
 * What the cloud, the clocks and the systems outside do to this seed. Swarm: each seed picks which faults exist and how
 * strong they are, and some know none; limits are shrunk as well. Numbers without a unit are probabilities.
 */
export interface Climate {
  /** The longest a call of a port takes. */
  readonly latencyMsMax: number
  /** A call is refused before it did anything. */
  readonly throttle: number
  /** One of eight partitions of the table refuses three calls in four, a minute out of three. */
  readonly hotPartition: boolean
  /** The answer of a write is lost, after it was made, before, or it is made later. */
  readonly unknown: number
  /** The caller dies before or after a call. */
  readonly crash: number
  /** The caller stands still before it goes on, for so long at most. */
  readonly pause: number
  readonly pauseMsMax: number
  /** A function whose time is over goes on, as none should: its writes must have no say. */
  readonly zombies: boolean

  /** Most a clock goes wrong; 0: all are right. */
  readonly skewMsMax: number
  /** A clock jumps, once in this many minutes; 0: never. */
  readonly jumpMinutes: number

  /** Records of one stream batch. */
  readonly streamBatch: number
  /** A batch is told again. */
  readonly streamRepeats: number
  readonly streamLagMsMax: number
  /** A batch that failed is told in halves. */
  readonly streamBisects: boolean
  /** A record that failed more often is set aside. */
  readonly streamRetriesMax: number
  readonly indexLagMsMax: number
  /** Most that a look into the store or an index gives at once. */
  readonly page: number

  /** Messages of one batch. */
  readonly queueBatch: number
  /** Functions that run at once, per queue. */
  readonly concurrency: number
  readonly maxReceiveCount: number
  /** Groups are looked for among so many messages; so many may be invisible at once. */
  readonly scanMax: number
  readonly inFlightMax: number
  /** A settled message comes once more. */
  readonly redeliver: number
  /** The mapping cannot invoke the function: the batch comes again after its visibility timeout. */
  readonly invokeThrottle: number
  /** A received message is its receiver's for this share of what it should be. 1 but in seeds that try the fence. */
  readonly visibilityShare: number

  /** A tick is missed, doubled or late. */
  readonly tickTrouble: number
  /** Both versions of the code run. */
  readonly deploying: boolean

  readonly outside: OutsideClimate
}

/** What systems outside do. */
export interface OutsideClimate {
  readonly latencyMsMax: number
  readonly fail: number
  /** It did what was asked, and says it failed. */
  readonly lostAnswer: number
  /** It says nothing about whether something is there. */
  readonly unsure: number
  /** It says yes and does nothing. */
  readonly lie: number
  readonly rateLimit: number
  /** Looks see the state of up to so long ago. */
  readonly lagMs: number
}

export const clearOutside: OutsideClimate = {
  latencyMsMax: 5,
  fail: 0,
  lostAnswer: 0,
  unsure: 0,
  lie: 0,
  rateLimit: 0,
  lagMs: 0,
}

/** Nothing goes wrong, and everything has room. */
export const clearSky: Climate = {
  latencyMsMax: 20,
  throttle: 0,
  hotPartition: false,
  unknown: 0,
  crash: 0,
  pause: 0,
  pauseMsMax: 600_000,
  zombies: false,
  skewMsMax: 0,
  jumpMinutes: 0,
  streamBatch: 100,
  streamRepeats: 0,
  streamLagMsMax: 300,
  streamBisects: true,
  streamRetriesMax: Number.MAX_SAFE_INTEGER,
  indexLagMsMax: 1_000,
  page: 1_000,
  queueBatch: 10,
  concurrency: 10,
  maxReceiveCount: 10,
  scanMax: 120_000,
  inFlightMax: 120_000,
  redeliver: 0,
  invokeThrottle: 0,
  visibilityShare: 1,
  tickTrouble: 0,
  deploying: false,
  outside: clearOutside,
}

/**
 * The climate of a seed. One in five is clear, half of them but for their limits: promises about time are told there.
 */
export function climateOf(random: SeededRandom): Climate {
  const limits = limitsOf(random)
  const isClear = random.next() < 1 / 5
  const isRoomy = random.next() < 1 / 2
  if (isClear) return { ...clearSky, ...(isRoomy ? {} : limits), outside: { ...clearOutside, latencyMsMax: 2_000 } }
  const presence = oneOf(random, [0.2, 0.5, 0.8])
  const is = (): boolean => random.next() < presence
  const upTo = (most: number): number => (is() ? random.next() * most : 0)
  const fence = random.next() < 0.1
  return {
    ...limits,
    latencyMsMax: oneOf(random, [2, 20, 200, 2_000]),
    throttle: upTo(0.1),
    hotPartition: is(),
    unknown: upTo(0.1),
    crash: upTo(0.03),
    pause: fence ? 0.02 + random.next() * 0.05 : upTo(0.01),
    // Short of a process's end: so that functions go on after their time.
    pauseMsMax: fence ? 30_000 : oneOf(random, [45_000, 600_000]),
    zombies: fence,
    skewMsMax: is() ? oneOf(random, [300, 5_000]) : 0,
    jumpMinutes: is() ? oneOf(random, [3, 20]) : 0,
    streamRepeats: upTo(0.3),
    streamBisects: is(),
    streamRetriesMax: random.next() < 0.1 ? oneOf(random, [2, 10]) : Number.MAX_SAFE_INTEGER,
    redeliver: upTo(0.1),
    invokeThrottle: upTo(0.1),
    visibilityShare: fence ? oneOf(random, [0.001, 0.02, 0.1]) : 1,
    tickTrouble: upTo(0.5),
    deploying: is(),
    outside: outsideOf(random, is),
  }
}

type Limits = Pick<
  Climate,
  | 'streamBatch'
  | 'streamLagMsMax'
  | 'indexLagMsMax'
  | 'page'
  | 'queueBatch'
  | 'concurrency'
  | 'maxReceiveCount'
  | 'scanMax'
  | 'inFlightMax'
>

function limitsOf(random: SeededRandom): Limits {
  return {
    streamBatch: oneOf(random, [1, 3, 100]),
    streamLagMsMax: oneOf(random, [1, 300, 5_000]),
    indexLagMsMax: oneOf(random, [1, 1_000, 10_000]),
    page: oneOf(random, [1, 2, 1_000, 1_000]),
    queueBatch: oneOf(random, [1, 3, 10]),
    concurrency: oneOf(random, [2, 3, 10]),
    maxReceiveCount: oneOf(random, [8, 10, 10]),
    scanMax: oneOf(random, [3, 120_000, 120_000]),
    inFlightMax: oneOf(random, [5, 120_000, 120_000]),
  }
}

function outsideOf(random: SeededRandom, is: () => boolean): OutsideClimate {
  const upTo = (most: number): number => (is() ? random.next() * most : 0)
  const lagMs = is() ? oneOf(random, [500, 5_000]) : 0
  return {
    latencyMsMax: oneOf(random, [5, 200, 3_000]),
    fail: upTo(0.5),
    lostAnswer: upTo(0.3),
    unsure: upTo(0.3),
    // Whoever is told yes, and then shown the past, cannot know better.
    lie: lagMs === 0 ? upTo(0.3) : 0,
    rateLimit: upTo(0.2),
    lagMs,
  }
}
