import { AsyncLocalStorage } from 'node:async_hooks'
import type { Transport, TransportRequest, TransportResponse } from './dynalite.ts'

/**
 * One execution environment of a function, as far as it can be had in this process. When it dies, nothing of what it had begun goes on: all
 * that it does to the outside passes through a transport, and there a dead one waits for ever.
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

/** How often a request meets what, from 0 to 1. */
export interface Faults {
  /** Refused, before anything was done. */
  readonly throttle: number
  /** Done, but the answer is lost. */
  readonly lost: number
  /** The function dies before the request, or after it. */
  readonly crash: number
}

export const noFaults: Faults = { throttle: 0, lost: 0, crash: 0 }

export interface FaultyOptions {
  readonly transport: Transport
  readonly faults: () => Faults
  readonly chance: () => number
  /** The answer of the service to whom it lets wait. */
  readonly refusal: TransportResponse
  /** Told of every request. */
  readonly onRequest?: (operation: string) => void
}

/** The transport as functions have it: it may fail them, and it ends the dead. */
export function faulty({ transport, faults, chance, refusal, onRequest = () => {} }: FaultyOptions): Transport {
  async function pass(request: TransportRequest): Promise<{ readonly response: TransportResponse }> {
    const life = currentLife()
    const { throttle, lost, crash } = life === undefined ? noFaults : faults()
    const happens = (likelihood: number): boolean => likelihood > 0 && chance() < likelihood
    await unlessDead(life, happens(crash / 2))
    onRequest(request.headers['x-amz-target'] ?? '')
    if (happens(throttle)) return { response: refusal }
    const answer = await transport.handle(request)
    await unlessDead(life, happens(crash / 2))
    if (happens(lost)) throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET', name: 'TimeoutError' })
    return answer
  }
  return { handle: pass }
}

async function unlessDead(life: Life | undefined, dies: boolean): Promise<void> {
  if (dies) life?.kill()
  if (life?.isDead() === true) await new Promise(() => {})
}

/** As both services refuse in their JSON protocols; the SDK tells it by the type. */
export function throttled(type: string): TransportResponse {
  const body = Buffer.from(JSON.stringify({ __type: type, message: 'slow down' }))
  return { statusCode: 400, headers: { 'content-type': 'application/x-amz-json-1.0' }, body }
}
