import type { HttpHandler, HttpResponse } from '../../../shared/ports/http-handler.ts'
import { apiRunMsMax } from '../../../shared/runtime/aws/services.ts'
import { piecesOf, refusalLine, textOf } from '../http-reply.ts'
import { httpRequest } from '../http-request.ts'
import type { Life } from '../life.ts'
import { simToken, type Plane } from '../plane.ts'
import type { World } from '../world.ts'
import type { Functions } from './functions.ts'

export interface AwsClientsOptions {
  readonly world: World
  readonly functions: Functions
  readonly apiOf: (life: Life) => HttpHandler
  /** From the head of a watch to when the client takes what comes behind it. */
  readonly headMs: () => number
}

/** Clients of the API's function: each request is an invocation, and a watch lasts as long as one. */
export function createAwsClients({
  world,
  functions,
  apiOf,
  headMs,
}: AwsClientsOptions): Required<Pick<Plane, 'request' | 'watch'>> {
  async function* watch(line: string): AsyncGenerator<string> {
    const leaving = new AbortController()
    const pipe = createPipe()
    const told = functions.invoke('api', apiRunMsMax, async (life) => {
      const cancel = world.after(apiRunMsMax - goodbyeMs, () => life.goOn(() => leaving.abort('out of time')))
      const reply = await apiOf(life)(httpRequest(line, undefined, simToken, leaving.signal))
      await passTime(life, headMs())
      if (reply.status !== 200) pipe.put(refusalLine(reply.status))
      else for await (const piece of piecesOf(reply)) pipe.put(piece)
      cancel()
      return true
    })
    void told.then((isWhole) => pipe.end(isWhole))
    try {
      yield* pipe.read()
    } finally {
      leaving.abort('left')
    }
  }

  return {
    watch,
    request: (line, body, token = simToken) =>
      functions.invoke('api', apiRunMsMax, async (life): Promise<HttpResponse> => {
        const reply = await apiOf(life)(httpRequest(line, body, token))
        return { ...reply, body: await textOf(reply) }
      }),
  }
}

async function passTime(life: Life, ms: number): Promise<void> {
  if (ms > 0) await life.pass(ms)
}

/** What of a function's time is left when a watch is told to end. Source: shared/runtime/aws/api.ts. */
const goodbyeMs = 3_000

/** Pieces from where they are made to where they are read. */
function createPipe() {
  const pieces: string[] = []
  let ended: { readonly isWhole: boolean } | undefined
  let arrived = Promise.withResolvers<void>()

  async function* read(): AsyncGenerator<string> {
    for (;;) {
      yield* pieces.splice(0)
      if (pieces.length > 0) continue
      if (ended?.isWhole === true) return
      if (ended !== undefined) throw new Error('the connection broke')
      await arrived.promise
      arrived = Promise.withResolvers()
    }
  }

  return {
    read,
    put: (piece: string): void => {
      pieces.push(piece)
      arrived.resolve()
    },
    end: (isWhole = false): void => {
      ended = { isWhole }
      arrived.resolve()
    },
  }
}
