import { createWidgetHarness, type Harness } from '../unit/api/harness.ts'
import { request } from '../unit/api/sent-request.ts'
import type { ApiRequest } from './api-requests.ts'
import { isTooNew } from './too-new.ts'

/** An answer that no request may get: its status, what it says, and what was logged. */
export interface Trouble {
  readonly status: number
  readonly said: string
  readonly logged: string
}

/** An API over a store in memory that takes one request after the other, and is made anew now and then. */
export interface ApiRunner {
  /** What is wrong with the answer, if anything is. */
  send(request: ApiRequest): Promise<Trouble | undefined>
  /** How many answers had each status. */
  readonly counts: ReadonlyMap<number, number>
  close(): void
}

const requestsMax = 500

export function createApiRunner(): ApiRunner {
  const counts = new Map<number, number>()
  let harness: Harness | undefined
  let requests = 0

  const fresh = async (): Promise<Harness> => {
    if (harness !== undefined && requests++ < requestsMax) return harness
    harness?.close()
    requests = 0
    harness = await createWidgetHarness()
    await harness.send('POST /api/v1/namespaces', { body: { metadata: { name: 'other' } } })
    return harness
  }

  return {
    counts,
    close: () => harness?.close(),
    send: async (one) => {
      const { api, errors, clock } = await fresh()
      const logged = errors.length
      const client = new AbortController()
      const answer = api(request(one.line, { ...one.sent, signal: client.signal }))
      const { status, body } = await answered(answer, clock)
      if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
        const pieces = body[Symbol.asyncIterator]()
        await pieces.next()
        client.abort()
        await pieces.return?.()
      }
      counts.set(status, (counts.get(status) ?? 0) + 1)
      const isFine = status < 500 || (status === 504 && isTooNew(one.line, String(body)))
      const trouble = (): Trouble => ({
        status,
        said: String(body).slice(0, 1_000),
        logged: JSON.stringify(errors.slice(logged)),
      })
      return isFine ? undefined : trouble()
    },
  }
}

/** Time goes on only where somebody waits for it. */
async function answered<T>(answer: Promise<T>, clock: Harness['clock']): Promise<T> {
  let isOpen = true
  const closed = answer.finally(() => (isOpen = false))
  for (let turns = 0; isOpen; turns++) {
    await new Promise((resolve) => setImmediate(resolve))
    if (isOpen && turns > 20) await clock.advance(1_000)
  }
  return closed
}
