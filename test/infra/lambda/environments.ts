import { startFunction, type Answer, type FunctionOptions, type FunctionProcess } from './function-process.ts'

/** What an account lets run at once, of all functions together. */
export interface Room {
  limit: number
  running: number
  /** How often there was none. */
  throttled: number
}

/**
 * A function as Lambda runs it: each execution environment has one event at a time, and where all are busy is one
 * more.
 */
export interface Environments extends FunctionProcess {
  /** So many events were there at once. */
  readonly most: number
}

/** Starts the first of them. The answer to an event for which the account has no room says so: `isUnanswered`. */
export async function startEnvironments(options: FunctionOptions, room: Room): Promise<Environments> {
  await using opening = new AsyncDisposableStack()
  const first = opening.use(await startFunction(options))
  const all = [first]
  const idle = [first]
  const state = { running: 0, most: 0 }
  const closing = opening.move()

  async function take(): Promise<FunctionProcess> {
    const waiting = idle.pop()
    if (waiting !== undefined) return waiting
    const another = closing.use(await startFunction(options))
    all.push(another)
    return another
  }

  async function run(event: unknown): Promise<Answer> {
    const environment = await take()
    const answer = await environment.invoke(event)
    idle.push(environment)
    return answer
  }

  return {
    invoke: async (event) => {
      if (room.running >= room.limit) {
        room.throttled++
        return noRoom
      }
      room.running++
      state.most = Math.max(state.most, ++state.running)
      return run(event).finally(() => {
        room.running--
        state.running--
      })
    },
    get most() {
      return state.most
    },
    get log() {
      return all.map(({ log }) => log).join('')
    },
    awaitBegin: () => first.awaitBegin(),
    pid: first.pid,
    [Symbol.asyncDispose]: () => closing[Symbol.asyncDispose](),
  }
}

const noRoom: Answer = {
  error: { errorType: 'TooManyRequestsException', errorMessage: 'Rate Exceeded.' },
  streamed: false,
  body: Buffer.alloc(0),
}

/** To an event whose environment ended. */
export function endedAnswer(error: unknown): Answer {
  return { ...noRoom, error: { errorType: 'Runtime.ExitError', errorMessage: String(error) } }
}

/** Whether Lambda asks again later: the function had no room, or ended without an answer. */
export function isUnanswered({ error }: Answer): boolean {
  return ['TooManyRequestsException', 'Runtime.ExitError'].includes(error?.errorType ?? '')
}
