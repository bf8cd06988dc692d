import { AsyncLocalStorage } from 'node:async_hooks'
import type { Transport, TransportResponse } from '../../shared/testing-aws/dynalite.ts'

/**
 * One execution environment of a function, as far as it can be had in this process. When it dies, nothing of what it
 * had begun goes on: all that it does to the outside passes through a transport, and there a dead one waits for ever.
 */
export interface Life {
  readonly isDead: () => boolean
  kill(): void
  /** Resolves when it dies. */
  readonly died: Promise<void>
}

export function createLife(): Life {
  const { promise, resolve } = Promise.withResolvers<void>()
  let dead = false
  return {
    isDead: () => dead,
    kill: () => {
      dead = true
      resolve()
    },
    died: promise,
  }
}

const lives = new AsyncLocalStorage<Life>()

/** Does work as a part of a life. */
export function live<Result>(life: Life, work: () => Promise<Result>): Promise<Result> {
  return lives.run(life, work)
}

/** Whose work this is; undefined outside of all functions. */
export function currentLife(): Life | undefined {
  return lives.getStore()
}

/** A request of a function to a service. */
export interface Call {
  /** Of the function. */
  readonly name: string
  /** Such as `DynamoDB_20120810.GetItem`. */
  readonly operation: string
}

/**
 * What a request meets. `throttle`: refused before anything was done. `lost`: done, but the answer is lost.
 * `crashBefore`, `crashAfter`: the function dies there. `hang`: nothing comes back, until the function's time is over.
 */
export type Fault = 'throttle' | 'lost' | 'crashBefore' | 'crashAfter' | 'hang'

/** Decides, once for each request. */
export type Weather = (call: Call) => Fault | undefined

export const calm: Weather = () => {}

/** Each fault as often as it says, from 0 to 1. */
export function stormy(likelihoods: Readonly<Partial<Record<Fault, number>>>, chance: () => number): Weather {
  return () => {
    let left = chance()
    return (Object.entries(likelihoods) as [Fault, number][]).find(([, likelihood]) => (left -= likelihood) < 0)?.[0]
  }
}

export interface FaultyOptions {
  /** Of the function. */
  readonly name: string
  readonly transport: Transport
  readonly weather: Weather
  /** The answer of the service to whom it lets wait. */
  readonly refusal: TransportResponse
  readonly onCall: (call: Call) => void
}

/** The transport as a function has it: it may fail it, and it ends the dead. */
export function faulty({ name, transport, weather, refusal, onCall }: FaultyOptions): Transport {
  return {
    handle: async (request) => {
      const life = currentLife()
      const call = { name, operation: request.headers['x-amz-target'] ?? '' }
      if (life?.isDead() === true) return never()
      const fault = weather(call)
      if (fault === 'crashBefore') return die(life)
      onCall(call)
      if (fault === 'throttle') return { response: refusal }
      const answer = await transport.handle(request)
      if (fault === 'crashAfter') return die(life)
      if (fault === 'hang' || life?.isDead() === true) return never()
      if (fault === 'lost') throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
      return answer
    },
  }
}

function die(life: Life | undefined): Promise<never> {
  life?.kill()
  return never()
}

function never(): Promise<never> {
  return new Promise(() => {})
}

/** As both services refuse in their JSON protocols; the SDK tells it by the type. */
export function throttled(type: string): TransportResponse {
  const body = Buffer.from(JSON.stringify({ __type: type, message: 'slow down' }))
  return { statusCode: 400, headers: { 'content-type': 'application/x-amz-json-1.0' }, body }
}
