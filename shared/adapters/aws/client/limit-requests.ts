import { AsyncLocalStorage } from 'node:async_hooks'

/** A client of AWS, as far as it matters here. */
interface AnyClient {
  readonly middlewareStack: {
    add(
      middleware: <Given, Answer>(next: (given: Given) => Promise<Answer>) => (given: Given) => Promise<Answer>,
      options: { readonly step: 'build'; readonly name: string },
    ): void
  }
}

/** Below the fifty connections that the SDK keeps. Those in a Region answer several thousand requests a second. */
const requestsMax = 32

/**
 * Has a client make so many requests at once; the others wait, and begin in their order. To the SDK the time of a
 * request begins when it is made, and goes by while it waits for a connection, or for a processor of which a function
 * has a part only: of a thousand at once, as a tick or a relay may have them, most would run out of it.
 */
export function limitRequests<Client extends AnyClient>(client: Client): Client {
  const inTurn = createTurns()
  turnsOf.set(client, inTurn)
  client.middlewareStack.add(
    (next) => (given) => (turn.getStore() === undefined ? inTurn(() => next(given)) : next(given)),
    { step: 'build', name: 'inTurn' },
  )
  return client
}

/** Does something when a request of this client may begin: for what is decided at the last moment. */
export function whenInTurn<Answer>(client: object, act: () => Promise<Answer>): Promise<Answer> {
  const inTurn = turnsOf.get(client)
  return inTurn === undefined ? act() : inTurn(() => atOnce(act))
}

/** Requests within it wait for no turn. They come one after the other. */
export function atOnce<Answer>(act: () => Promise<Answer>): Promise<Answer> {
  return turn.run('taken', act)
}

type Turns = <Answer>(request: () => Promise<Answer>) => Promise<Answer>

const turnsOf = new WeakMap<object, Turns>()
const turn = new AsyncLocalStorage<'taken'>()

/** All begin as soon as one runs out of time: nobody waits for a place to fail in. */
function createTurns(): Turns {
  let underWay = 0
  const waiting: (() => void)[] = []

  const begin = (count: number): void => {
    const next = waiting.splice(0, count)
    underWay += next.length
    for (const one of next) one()
  }

  return async (request) => {
    if (underWay < requestsMax) underWay++
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await request()
    } catch (error) {
      if (isTimeout(error)) begin(waiting.length)
      throw error
    } finally {
      underWay--
      if (underWay < requestsMax && waiting.length > 0) begin(1)
    }
  }
}

/** Nothing answers, or nothing takes connections. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError'
}
