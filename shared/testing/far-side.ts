import { parseJson } from '../model/parse-json.ts'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** Somebody else's API on this machine, for tests of reconcilers that call one; it fails when it is told to. */
export interface FarSide extends AsyncDisposable {
  /** Such as `http://127.0.0.1:41234`. */
  readonly url: string
  /** What was asked so far, failures included. */
  readonly requests: readonly FarRequest[]
  readonly faults: FarFaults
  /** Whether a request is under way: `createTestEnv({ isBusy: () => far.isBusy() })` waits for it. */
  isBusy(): boolean
  close(): Promise<void>
}

export interface FarRequest {
  readonly method: string
  /** With what follows the question mark. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON as a value, other text as it is; undefined if there is none. */
  readonly body: unknown
}

export interface FarAnswer {
  /** Default 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON; left out, there is none. */
  readonly body?: unknown
}

/** Which requests a fault is for. Default: the next one. */
export interface FarFaultOptions {
  /** How many. Default 1. */
  readonly times?: number
  readonly when?: (request: FarRequest) => boolean
}

/** Each request meets one fault at most: the first that was planned for such requests and is not used up. */
export interface FarFaults {
  /** Nothing is done, and this is the answer: a 429 with `retry-after`, a 503. */
  answer(answer: FarAnswer, options?: FarFaultOptions): void
  /** Nothing is done, and the connection breaks. */
  refuse(options?: FarFaultOptions): void
  /** It is done, and the connection breaks before the answer. */
  lose(options?: FarFaultOptions): void
  /** It is done, and the answer comes so many real milliseconds later. */
  delay(ms: number, options?: FarFaultOptions): void
}

type Fault =
  | { readonly kind: 'answer'; readonly answer: FarAnswer }
  | { readonly kind: 'refuse' | 'lose' }
  | { readonly kind: 'delay'; readonly ms: number }

interface Planned {
  readonly fault: Fault
  readonly when: (request: FarRequest) => boolean
  left: number
}

/**
 * Starts it on a free port of this machine: any client of HTTP can call it. What `handle` throws is a 500 with the
 * message.
 */
export async function startFarSide(handle: (request: FarRequest) => FarAnswer | Promise<FarAnswer>): Promise<FarSide> {
  const requests: FarRequest[] = []
  const planned: Planned[] = []
  let busy = 0

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await readRequest(incoming)
    requests.push(request)
    const found = planned.find(({ left, when }) => left > 0 && when(request))
    if (found !== undefined) found.left--
    const fault = found?.fault
    if (fault?.kind === 'answer') return send(response, fault.answer)
    if (fault?.kind === 'refuse') return void incoming.socket.destroy()
    const answer = await handle(request)
    if (fault?.kind === 'lose') return void incoming.socket.destroy()
    if (fault?.kind === 'delay') await pause(fault.ms)
    send(response, answer)
  }
  const server = createServer((incoming, response) => {
    busy++
    response.once('close', () => busy--)
    serve(incoming, response).catch((error: unknown) =>
      send(response, { status: 500, body: { message: String(error) } }),
    )
  })
  await listen(server)
  const plan = (fault: Fault, { times = 1, when = () => true }: FarFaultOptions = {}): void =>
    void planned.push({ fault, when, left: times })
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    faults: {
      answer: (answer, options) => plan({ kind: 'answer', answer }, options),
      refuse: (options) => plan({ kind: 'refuse' }, options),
      lose: (options) => plan({ kind: 'lose' }, options),
      delay: (ms, options) => plan({ kind: 'delay', ms }, options),
    },
    isBusy: () => busy > 0,
    close,
    [Symbol.asyncDispose]: close,
  }
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

async function readRequest(incoming: IncomingMessage): Promise<FarRequest> {
  const { method = 'GET', url: path = '/', headers } = incoming
  const said = Object.entries(headers).map(([name, value]) => [name, String(value)] as const)
  return { method, path, headers: Object.fromEntries(said), body: parseBody(await text(incoming)) }
}

function parseBody(sent: string): unknown {
  if (sent === '') return undefined
  try {
    return parseJson(sent)
  } catch (error) {
    if (error instanceof SyntaxError) return sent
    throw error
  }
}

function send(response: ServerResponse, { status = 200, headers = {}, body }: FarAnswer): void {
  // Ahead of the head: what has no text in JSON is answered with a 500, too.
  const sent = body === undefined ? '' : JSON.stringify(body)
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  response.writeHead(status, { ...type, ...headers }).end(sent)
}
