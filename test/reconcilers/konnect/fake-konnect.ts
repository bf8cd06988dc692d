/**
 * A Konnect of our own: a real HTTP server that holds every request and every answer against the API's schemas, and
 * that can be slow to show things, refuse, limit, and drop its answer after doing the work. As a program:
 *
 *     npx node test/reconcilers/konnect/fake-konnect.ts --port 9443
 *
 * Any token is good but `bad`; `other` is another organization's. `/ui` is what a person does in Konnect's pages: `GET
 * /ui/{collection}` lists, `PATCH /ui/{id}` edits, `DELETE /ui/{id}` deletes, `GET /ui/calls` is the log, and `POST
 * /ui/lag` with `{"ms":5000}` hides what is new.
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { optionsOf, wholeNumber } from '../../support/command-line.ts'
import { contractOfKonnect, type Contract } from './document.ts'
import {
  createKonnectState,
  plurals,
  problem,
  type Answer,
  type Call,
  type Collection,
  type KonnectState,
} from './konnect-state.ts'

export interface LoggedCall {
  /** `POST services`, `GET services/{id}`; of a control plane `POST control-planes`. */
  readonly call: string
  readonly id?: string
  readonly account: string
  readonly atMs: number
  readonly status: number
  readonly body: unknown
}

/** What happens to the next calls that it is for. */
export interface Fault {
  /** `POST services`, as in the log; a prefix will do. */
  readonly call: string
  /** Default 1. */
  times?: number
  /** Answers this instead of doing the work. */
  readonly answer?: Answer
  /** Does the work and drops the connection. */
  readonly lost?: true
  /** Drops the connection and does nothing. */
  readonly dropped?: true
  /** Done, and answered with success and `{}`, as by somebody in between. */
  readonly garbled?: boolean
}

export interface FakeKonnect extends AsyncDisposable {
  readonly url: string
  readonly state: KonnectState
  readonly calls: readonly LoggedCall[]
  /** What was said, by either side, that the API does not allow. */
  readonly violations: readonly string[]
  readonly organizationID: string
  fault(fault: Fault): void
  /** No faults any more. */
  calm(): void
  /**
   * Refuses the account's calls with 429 from here on while there are more than so many a second; undefined ends it.
   */
  limit(perSecond: number | undefined): void
  close(): Promise<void>
}

export interface FakeOptions {
  readonly port?: number
  readonly now?: () => number
}

export async function startFakeKonnect({ port = 0, now = Date.now }: FakeOptions = {}): Promise<FakeKonnect> {
  const state = createKonnectState({ now, lagMs: 0, uniqueNames: true })
  const other = { state: createKonnectState({ now, lagMs: 0, uniqueNames: true }), organizationID: randomUUID() }
  const contract = contractOfKonnect()
  const calls: LoggedCall[] = []
  const violations: string[] = []
  const faults: Fault[] = []
  const organizationID = randomUUID()
  let perSecond: number | undefined

  const check: Contract = (message) => {
    const violation = contract(message)
    if (violation !== undefined) violations.push(violation)
    return violation
  }

  const isOverLimit = (account: string): boolean =>
    perSecond !== undefined &&
    calls.filter((one) => one.account === account && one.atMs > now() - 1_000 && one.status !== 429).length >= perSecond

  const work = (call: Call, { operation, account }: { operation: string; account: string }): Answer => {
    const isCore = call.path[1] === 'core-entities'
    if (account === 'bad' || account === '')
      return isCore ? { status: 401, body: { message: 'Unauthorized', status: 401 } } : problem(401, 'Unauthorized')
    if (isOverLimit(account)) return { ...problem(429, 'Too Many Requests'), headers: { 'retry-after': '1' } }
    const tenant = account === 'other' ? other : { state, organizationID }
    if (operation.startsWith('GET /v3/')) return { status: 200, body: { id: tenant.organizationID, name: 'fake' } }
    const wrong = 'POST PUT PATCH'.includes(call.method) ? check({ operation, body: call.body }) : undefined
    return wrong === undefined ? tenant.state.answer(call) : problem(400, 'Bad Request', wrong)
  }

  const faultFor = (call: string): Fault | undefined => {
    const fault = faults.find((one) => call.startsWith(one.call))
    if (fault === undefined) return undefined
    fault.times = (fault.times ?? 1) - 1
    if (fault.times === 0) faults.splice(faults.indexOf(fault), 1)
    return fault
  }

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { call, name, operation, id, account } = await readCall(request)
    if (call.path[0] === 'ui') return send(response, { status: 200, body: fromUi(call) })
    const fault = faultFor(name)
    if (fault?.dropped === true) return void request.socket.destroy()
    const answer = fault?.answer ?? work(call, { operation, account })
    check({ operation, status: answer.status, body: answer.body })
    calls.push({
      call: name,
      ...(id === undefined ? {} : { id }),
      account,
      atMs: now(),
      status: answer.status,
      body: call.body,
    })
    if (fault?.lost === true) return void request.socket.destroy()
    send(response, fault?.garbled === true && answer.status < 300 ? { status: 200, body: {} } : answer)
  }

  const fromUi = ({ method, path: [, what = ''], body }: Call): unknown => {
    if (what === 'calls') return calls
    if (what === 'lag') return void (state.options.lagMs = Number(body['ms']))
    if (method === 'PATCH') return state.edit(what, body)
    if (method === 'DELETE') return state.remove(what)
    return state.all(what as Collection)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) =>
      send(response, { status: 500, body: { message: String(error) } }),
    )
  })
  await listening(server, port)
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    state,
    calls,
    violations,
    organizationID,
    fault: (fault) => void faults.push({ ...fault }),
    calm: () => void faults.splice(0),
    limit: (rate) => {
      perSecond = rate
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
}

async function readCall(request: IncomingMessage) {
  const { method = 'GET', headers } = request
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://fake')
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  const path = pathname
    .replace(/^\/v2\/control-planes\/?/, '')
    .split('/')
    .filter(Boolean)
  const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
  const account = (headers.authorization ?? '').replace(/^Bearer /, '')
  return { call: { method, path, query: searchParams, body }, account, ...namesOf(method, pathname, path) }
}

/** A call by the names of the log and of the document. */
function namesOf(method: string, pathname: string, path: readonly string[]) {
  if (!pathname.startsWith('/v2/')) return { name: `${method} ${pathname}`, operation: `${method} ${pathname}` }
  const root = '/v2/control-planes'
  const [controlPlane, , plural, id] = path
  const collection = plurals.find((one) => one === plural)
  if (collection !== undefined) {
    const parameter = `${plural?.[0]?.toUpperCase()}${plural?.slice(1, -1)}Id`
    const operation = `${method} ${root}/{controlPlaneId}/core-entities/${collection}${id === undefined ? '' : `/{${parameter}}`}`
    return { name: `${method} ${collection}${id === undefined ? '' : '/{id}'}`, operation, id }
  }
  const one = controlPlane === undefined ? '' : '/{controlPlaneId}'
  const name = `${method} control-planes${controlPlane === undefined ? '' : '/{id}'}`
  return { name, operation: `${method} ${root}${one}`, id: controlPlane }
}

function send(response: ServerResponse, { status, body, headers = {} }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(body === undefined ? '' : JSON.stringify(body))
}

if (import.meta.main) {
  const program = 'npx node test/reconcilers/konnect/fake-konnect.ts'
  const { values } = optionsOf(program, { options: { port: { type: 'string', default: '0' } } })
  const { url } = await startFakeKonnect({ port: wholeNumber('--port', values.port) })
  process.stdout.write(`fake Konnect is ready at ${url}\n`)
}
