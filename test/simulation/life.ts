import type { Clock } from '../../shared/ports/clock.ts'
import { OperatingError } from '../../shared/model/errors.ts'
import type { SeededRandom } from '../../shared/testing/seeded-random.ts'
import type { Climate } from './climate.ts'
import type { World } from './world.ts'

/**
 * One process of one function (on Lambda: an execution environment). It can be killed between any two calls, and then
 * nothing of it ever goes on. While no invocation is under way it stands still: what it left undone goes on with the
 * next one.
 */
export interface Life {
  readonly name: string
  /** Which of the two versions of the code it runs. */
  readonly version: 1 | 2
  readonly clock: Clock
  readonly bornMs: number
  /** Which deployment it is of. */
  readonly deployment: number
  isDead(): boolean
  /** Its invocation is over though it still goes on. */
  isZombie(): boolean
  kill(where: string): void
  becomeZombie(): void
  /** It ends with its invocation. */
  retire(): void
  isRetired(): boolean
  freeze(): void
  thaw(): void
  /** Something of it goes on: at once if it runs, when it is thawed if it stands still, and never if it is dead. */
  goOn(act: () => void): void
  /** Resolves after a time, if the process is alive then and not standing still. */
  pass(ms: number): Promise<void>
  /** Settles when the work ends, or the life does. */
  live<Result>(work: Promise<Result>): Promise<Result | 'dead'>
}

export interface LifeOptions {
  readonly world: World
  readonly name: string
  readonly version: 1 | 2
  readonly skewMs: () => number
  readonly deployment?: number
  /** Told each time that it is about to go on; may kill it, or make it stand still. */
  readonly onStep?: () => void
}

export function createLife({ world, name, version, skewMs, deployment = 0, onStep }: LifeOptions): Life {
  const died = Promise.withResolvers<'dead'>()
  let state: 'running' | 'frozen' | 'zombie' | 'dead' = 'running'
  let thawed: (() => void)[] = []
  let isRetired = false

  const isFrozen = (): boolean => state === 'frozen'
  const isDead = (): boolean => state === 'dead'

  const goOn = (act: () => void): void => {
    if (!isFrozen() && !isDead()) onStep?.()
    if (isFrozen()) thawed.push(() => goOn(act))
    else if (!isDead()) act()
  }
  const pass = (ms: number): Promise<void> => new Promise((resolve) => void world.after(ms, () => goOn(resolve)))

  return {
    name,
    version,
    bornMs: world.nowMs(),
    deployment,
    clock: {
      nowMs: () => world.nowMs() + skewMs(),
      sleep: (ms, signal) => new Promise((resolve) => void world.sleep(ms, signal).then(() => goOn(resolve))),
    },
    isDead,
    isZombie: () => state === 'zombie',
    kill: (where) => {
      if (isDead()) return
      world.note(`${name} dies ${where}`)
      state = 'dead'
      died.resolve('dead')
    },
    becomeZombie: () => {
      world.note(`${name} goes on though its time is over`)
      state = 'zombie'
    },
    retire: () => {
      isRetired = true
    },
    isRetired: () => isRetired,
    freeze: () => {
      if (state === 'running') state = 'frozen'
    },
    thaw: () => {
      if (!isFrozen()) return
      state = 'running'
      const waiting = thawed
      thawed = []
      for (const wake of waiting) wake()
    },
    goOn,
    pass,
    live: (work) => Promise.race([work, died.promise]),
  }
}

/** Makes something once per process. */
export function oncePerLife<Made>(make: (life: Life) => Made): (life: Life) => Made {
  const made = new WeakMap<Life, Made>()
  return (life) => {
    const known = made.get(life)
    if (known !== undefined) return known
    const fresh = make(life)
    made.set(life, fresh)
    return fresh
  }
}

/** What a network and a machine do to calls. */
export interface Network {
  readonly world: World
  readonly random: SeededRandom
  /** As it is now: in the calm nothing happens to calls but that they take time. */
  readonly climate: () => Climate
  /** Nothing goes wrong any more: the answer to a call takes no time of its own. */
  readonly isCalm: () => boolean
  /** Who stores is the process itself: a full disk refuses a write, and none is made late. */
  readonly isLocal?: true
}

export interface CallOptions {
  /** For the trace. */
  readonly name: string
  readonly isWrite?: boolean
  /** So likely is it refused for a reason of its own. */
  readonly refusal?: () => boolean
  /** What the process does ahead of the request, which leaves it afterwards: a late one waits for nothing of it. */
  readonly prepare?: () => Promise<void>
}

/**
 * A call through the network, as one life makes it: it takes time, may be refused or lost, and its caller may die on
 * the way.
 */
export async function call<Result>(
  network: Network,
  life: Life,
  { name, isWrite = false, refusal, prepare }: CallOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  const { world, random, isCalm, isLocal } = network
  const { latencyMsMax, throttle, unknown, crash, pause, pauseMsMax } = network.climate()
  await life.pass(Math.floor(random.next() * latencyMsMax))
  if (pause > 0 && random.next() < pause) await standStill(network, life, pauseMsMax)
  if (crash > 0 && random.next() < crash) return die(network, life, `before ${name}`)
  if ((throttle > 0 && random.next() < throttle) || refusal?.() === true) {
    world.fault('throttle')
    throw isLocal === true
      ? new OperatingError('UNAVAILABLE', `${name}: the disk is full`)
      : new OperatingError('THROTTLED', `${name} was throttled`)
  }
  await prepare?.()
  const isUnknown = isWrite && unknown > 0 && random.next() < unknown
  const result = isUnknown ? await loseAnswer(network, name, work) : await work()
  if (crash > 0 && random.next() < crash) return die(network, life, `after ${name}`)
  if (!isCalm()) await life.pass(Math.floor(random.next() * latencyMsMax))
  return result
}

async function standStill({ world, random }: Network, life: Life, msMax: number): Promise<void> {
  world.fault('pause')
  await life.pass(Math.floor(1_000 + random.next() * msMax))
}

/** Done, not done, or done in a while: the caller cannot tell. */
async function loseAnswer(
  { world, random, isLocal }: Network,
  name: string,
  work: () => Promise<unknown>,
): Promise<never> {
  const fate = random.next() * (isLocal === true ? 0.8 : 1)
  world.fault(fate < 0.4 ? 'answer lost' : fate < 0.8 ? 'request lost' : 'request late')
  if (fate < 0.4) await work()
  if (fate >= 0.8) world.after(random.next() * 5_000, () => void work().catch(() => {}))
  throw new OperatingError('WRITE_UNKNOWN', `the answer of ${name} was lost`)
}

function die({ world }: Network, life: Life, where: string): Promise<never> {
  world.fault('crash')
  life.kill(where)
  return never()
}

/** The port as one life sees it through the network. */
export function through<Port extends object>(
  port: Port,
  name: string,
  how: {
    readonly network: Network
    readonly life: Life
    readonly writes?: readonly string[]
    readonly refusal?: (args: readonly unknown[]) => boolean
    /** What the process finds out ahead of a write. The port has it as one more argument. */
    readonly findAhead?: ((args: readonly unknown[]) => Promise<unknown>) | undefined
  },
): Port {
  const { network, life, writes = [], refusal, findAhead } = how
  const seen: Record<string, unknown> = {}
  for (const [method, value] of Object.entries(port)) {
    const options = { name: `${name}.${method}`, isWrite: writes.includes(method) }
    const make = (...args: unknown[]): Promise<unknown> => {
      const given = [...args]
      const own: CallOptions = {
        ...options,
        ...(refusal !== undefined && { refusal: () => refusal(args) }),
        ...(options.isWrite &&
          findAhead !== undefined && { prepare: async () => void given.push(await findAhead(args)) }),
      }
      return call(network, life, own, () => (value as (...given: unknown[]) => Promise<unknown>).apply(port, given))
    }
    seen[method] = typeof value === 'function' ? make : value
  }
  return seen as Port
}

export function never<Result>(): Promise<Result> {
  return new Promise(() => {})
}
