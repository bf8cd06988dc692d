import { retryAfter } from '../../shared/index.ts'
import type { OutsideClimate } from './climate.ts'
import { call, type Life, type Network } from './life.ts'
import type { SeededRandom } from '../../shared/testing/seeded-random.ts'
import { below, type World } from './world.ts'

/**
 * A system outside that keeps entities by name. It may lag, be unsure, limit the rate, lose answers, and say yes where
 * it did nothing. What is truly there is known to checkers.
 */
export interface Outside {
  readonly entities: ReadonlyMap<string, number>
  /** The system as one life reaches it. `told` learns of every change at the moment it is made. */
  reach(life: Life, network: Network): OutsideClient
  /** Somebody changes it by hand. */
  tamper(name: string, value: number): void
  calmDown(): void
}

export interface OutsideClient {
  /** Undefined: it is not there. Throws if that is not known. */
  observe(name: string): Promise<number | undefined>
  put(name: string, value: number): Promise<void>
  remove(name: string): Promise<void>
}

/** Something was done outside, as checkers see it. */
export interface Effect {
  readonly what: 'put' | 'remove'
  readonly name: string
  readonly by: Life
  /** It said yes and did nothing. */
  readonly isLie: boolean
}

export interface OutsideOptions {
  readonly world: World
  readonly climate: OutsideClimate
  readonly clear: OutsideClimate
  readonly onEffect: (effect: Effect) => void
}

export function createOutside({ world, climate, clear, onEffect }: OutsideOptions): Outside {
  const entities = new Map<string, number>()
  const past = new Map<string, { readonly value: number | undefined; readonly untilMs: number }[]>()
  const random = world.random.fork('outside')
  let weather = climate

  const change = (name: string, value?: number): void => {
    const before = past.get(name) ?? []
    before.push({ value: entities.get(name), untilMs: world.nowMs() })
    past.set(name, before.slice(-4))
    if (value === undefined) entities.delete(name)
    else entities.set(name, value)
  }

  /** As it was a while ago. */
  const seen = (name: string): number | undefined => {
    const atMs = world.nowMs() - below(random, weather.lagMs + 1)
    const then = past.get(name)?.find(({ untilMs }) => untilMs > atMs)
    return then === undefined ? entities.get(name) : then.value
  }

  return {
    entities,
    tamper: change,
    calmDown: () => {
      weather = clear
    },
    reach: (life, network) => {
      const far: Network = { ...network, climate: () => ({ ...network.climate(), ...onTheWay(weather) }) }
      const ask = <Result>(name: string, work: () => Result): Promise<Result> =>
        call(far, life, { name: `outside.${name}` }, async () => {
          refuse(random, weather, world)
          const result = work()
          if (random.next() < weather.lostAnswer && name !== 'observe') fails('outside lost its answer', world)
          return result
        })
      const lies = (): boolean => {
        if (random.next() >= weather.lie) return false
        world.fault('outside lied')
        return true
      }
      return {
        observe: (name) =>
          ask('observe', () => {
            if (random.next() < weather.unsure) fails('outside was unsure', world)
            return seen(name)
          }),
        put: (name, value) =>
          ask('put', () => {
            const isLie = lies()
            onEffect({ what: 'put', name, by: life, isLie })
            if (!isLie) change(name, value)
          }),
        remove: (name) =>
          ask('remove', () => {
            const isLie = lies()
            onEffect({ what: 'remove', name, by: life, isLie })
            if (!isLie) change(name)
          }),
      }
    },
  }
}

/** The way there is another one than that to the table: nothing is throttled or lost on it but by the system itself. */
function onTheWay({ latencyMsMax }: OutsideClimate) {
  return { latencyMsMax, throttle: 0, unknown: 0 }
}

function refuse(random: SeededRandom, { fail, rateLimit }: OutsideClimate, world: World): void {
  if (random.next() < fail) fails('outside failed', world)
  if (random.next() >= rateLimit) return
  world.fault('outside limited the rate')
  throw retryAfter('7s', 'outside has enough')
}

function fails(how: string, world: World): never {
  world.fault(how)
  throw new Error(how)
}
