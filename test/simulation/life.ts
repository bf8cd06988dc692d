import { OperatingError } from '../../shared/model/errors.ts'
import type { World } from './world.ts'

/** One life of one function: it can be killed between any two calls of a port, and then nothing of it ever goes on. */
export interface Life {
  readonly name: string
  readonly isDead: () => boolean
  kill(): void
  readonly signal: AbortSignal
  /** Settles when the work ends, or the life does. */
  live<Result>(work: Promise<Result>): Promise<Result | 'dead'>
}

export function createLife(name: string): Life {
  const end = new AbortController()
  const died = Promise.withResolvers<'dead'>()
  let dead = false
  return {
    name,
    isDead: () => dead,
    kill: () => {
      dead = true
      died.resolve('dead')
    },
    signal: end.signal,
    live: (work) => Promise.race([work, died.promise]),
  }
}

/** How likely a call meets what. */
export interface Weather {
  /** Refused before it did anything. */
  readonly throttle: number
  /** Done, but the answer is lost. */
  readonly unknown: number
  /** The caller dies before or after it. */
  readonly crash: number
}

export const calm: Weather = { throttle: 0, unknown: 0, crash: 0 }

/** The port as one life sees it through the network: every call takes time, and may fail. */
export function through<Port extends object>(
  port: Port,
  name: string,
  how: {
    readonly world: World
    readonly life: Life
    readonly weather: () => Weather
    readonly writes: readonly string[]
  },
): Port {
  const { world, life, weather, writes } = how

  async function call(method: string, work: () => unknown): Promise<unknown> {
    const { throttle, unknown, crash } = weather()
    await pass(life, world)
    if (world.chance(crash)) return die(`before ${name}.${method}`)
    if (world.chance(throttle)) throw new OperatingError('THROTTLED', `${name}.${method} was throttled`)
    const result: unknown = await work()
    if (world.chance(crash)) return die(`after ${name}.${method}`)
    if (writes.includes(method) && world.chance(unknown))
      throw new OperatingError('WRITE_UNKNOWN', `the answer of ${name}.${method} was lost`)
    await pass(life, world)
    return result
  }

  function die(where: string): Promise<never> {
    world.note(`${life.name} dies ${where}`)
    life.kill()
    return never()
  }

  return new Proxy(port, {
    get: (target, method) => {
      const value: unknown = Reflect.get(target, method)
      if (typeof value !== 'function' || typeof method !== 'string') return value
      return (...args: unknown[]) => call(method, () => value.apply(target, args) as unknown)
    },
  })
}

async function pass(life: Life, world: World): Promise<void> {
  await world.latency()
  if (life.isDead()) await never()
}

function never<Result>(): Promise<Result> {
  return new Promise(() => {})
}
