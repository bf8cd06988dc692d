import { addUser } from '../../shared/adapters/local/https/users-editor.ts'
import { loadLocalCredentials } from '../../shared/adapters/local/https/local-credentials.ts'
import { filesIn } from '../../shared/runtime/local/files.ts'
import { startControlPlane } from '../support/control-plane-process.ts'
import { connect, requestText, type Connection, type Reply, type Target } from './connection.ts'
import { exactCpuUs } from './process-cpu.ts'
import { median } from './quantiles.ts'

/**
 * What roles and the record of requests cost: two control planes, one asked by its administrator, for whom no role is
 * looked at, without a record; one asked by a user of twelve roles, with one. Requests a second are taken in many short
 * slices by turns. Processor time is taken while each client asks both in turn, request by request: so what else the
 * machine does falls on both, both are asked equally often, and waking the client costs both the same.
 */

export interface AccessFigures {
  readonly rounds: number
  readonly clients: number
  readonly cases: readonly CaseFigures[]
}

interface CaseFigures {
  readonly name: string
  readonly without: Slice
  readonly with: Slice
  /** Medians of what each round gives. */
  readonly rateRatio: number
  readonly cpuRatio: number
}

/** Medians of the rounds. */
interface Slice {
  /** Requests a second. */
  readonly rate: number
  /** Processor time of the server for each request, in µs. */
  readonly cpuUs: number
}

interface Subject extends Target {
  readonly pid: number
}

type Subjects = readonly [Subject, Subject]
type Both = readonly [number, number]
type Pair = readonly [Slice, Slice]

type NextRequest = (subject: Subject) => string

const collection = '/api/v1/namespaces/default/configmaps'
const names = Array.from({ length: 64 }, (_, i) => `m${i}`)

const cases: Readonly<Record<string, () => NextRequest>> = {
  'GET of an object': () => {
    let i = 0
    return (subject) => get(subject, i++)
  },
  'PATCH of an object': () => {
    let i = 0
    return (subject) => patch(subject, i++)
  },
  'three GETs and a PATCH': () => {
    let i = 0
    return (subject) => (++i % 4 === 0 ? patch(subject, i) : get(subject, i))
  },
}

function nameAt(i: number): string {
  return names[i % names.length] as string
}

function get(subject: Subject, i: number): string {
  return requestText(subject, { method: 'GET', path: `${collection}/${nameAt(i)}` })
}

let written = 0
function patch(subject: Subject, i: number): string {
  const body = JSON.stringify({ data: { count: String(written++) } })
  const type = 'application/merge-patch+json'
  return requestText(subject, { method: 'PATCH', path: `${collection}/${nameAt(i)}`, type, body })
}

interface AccessOptions {
  /** Of both control planes. */
  readonly starts: number
  /** After each start. */
  readonly rounds: number
  readonly clients: number
  readonly sliceMs: number
}

export async function measureAccess(options: AccessOptions): Promise<AccessFigures> {
  const { starts, rounds, clients } = options
  const pairs = new Map(Object.keys(cases).map((name): [string, Pair[]] => [name, []]))
  for (let start = 0; start < starts; start++) await measureStart(pairs, options)
  return { rounds: starts * rounds, clients, cases: [...pairs].map(([name, all]) => figuresOf(name, all)) }
}

/** Both are started anew: the same program takes some hundredths more or less time from start to start. */
async function measureStart(pairs: ReadonlyMap<string, Pair[]>, options: AccessOptions): Promise<void> {
  await using plain = await startControlPlane()
  await using guarded = await startControlPlane({ env: { SETPOINT_AUDIT: 'on' } })
  const administrators = [plain, guarded].map(targetOf) as [Subject, Subject]
  for (const subject of administrators) await prepare(subject)
  const user = { ...administrators[1], token: addUser(filesIn(guarded.dataDirectory).usersFile, 'ann', ['team']) }
  const subjects = [administrators[0], user] as const
  for (const [name, toRequests] of Object.entries(cases)) {
    const clients = await openClients(subjects, options.clients)
    // The first rounds warm both up.
    for (let round = -4; round < options.rounds; round++) {
      const rates = await measureRates(clients, { toRequests, isPlainFirst: round % 2 === 0, sliceMs: options.sliceMs })
      const cpuUs = await measureCpu(subjects, clients, toRequests(), options.sliceMs)
      const pair = [0, 1].map((i) => ({ rate: rates[i] as number, cpuUs: cpuUs[i] as number }))
      if (round >= 0) pairs.get(name)?.push(pair as [Slice, Slice])
    }
    for (const { connection } of clients.flat()) connection.close()
  }
}

function targetOf(plane: { readonly url: string; readonly dataDirectory: string; readonly process: { pid: number } }) {
  const { authority, token } = loadLocalCredentials(plane.dataDirectory, Date.now())
  return { port: Number(new URL(plane.url).port), authority, token, pid: plane.process.pid }
}

/** The objects, and twelve roles of which the last one lets the user do it. */
async function prepare(subject: Subject): Promise<void> {
  const connection = await connect(subject)
  const create = async (path: string, body: object): Promise<void> => {
    const text = JSON.stringify(body)
    check(await connection.send(requestText(subject, { method: 'POST', path, type: 'application/json', body: text })))
  }
  for (const name of names) await create(collection, { metadata: { name }, data: { note: 'x'.repeat(900) } })
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  for (let i = 0; i < 12; i++) {
    const resources = [i === 11 ? 'configmaps' : `others${i}`]
    const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete']
    const name = `role-${i}`
    await create(`${rbac}/clusterroles`, { metadata: { name }, rules: [{ apiGroups: [''], resources, verbs }] })
    await create(`${rbac}/namespaces/default/rolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'team' }],
    })
  }
  connection.close()
}

function check({ status, body }: Reply): void {
  if (status >= 300) throw new Error(`${status} ${body.toString().slice(0, 500)}`)
}

/** One client: a connection to each of both. They stay open, and are never idle for long enough to be ended. */
type Client = readonly [Link, Link]

interface Link {
  readonly subject: Subject
  readonly connection: Connection
}

function openClients(subjects: Subjects, count: number): Promise<readonly Client[]> {
  const open = async (subject: Subject): Promise<Link> => ({ subject, connection: await connect(subject) })
  const openBoth = async (): Promise<Client> => [await open(subjects[0]), await open(subjects[1])]
  return Promise.all(Array.from({ length: count }, openBoth))
}

interface RateOptions {
  readonly toRequests: () => NextRequest
  readonly isPlainFirst: boolean
  readonly sliceMs: number
}

/** Requests a second of both: the first, the second, the second, the first, so that a drift falls on both. */
async function measureRates(
  clients: readonly Client[],
  { toRequests, isPlainFirst, sliceMs }: RateOptions,
): Promise<Both> {
  const next = toRequests()
  const slices: [Answered[], Answered[]] = [[], []]
  for (const which of isPlainFirst ? ([0, 1, 1, 0] as const) : ([1, 0, 0, 1] as const)) {
    const links = clients.map((client) => [client[which]])
    slices[which].push(await ask(links, next, sliceMs))
  }
  return [rateOf(slices[0]), rateOf(slices[1])]
}

function rateOf(slices: readonly Answered[]): number {
  const sum = (of: (slice: Answered) => number): number => slices.reduce((total, one) => total + of(one), 0)
  return (1_000 * sum(({ count }) => count)) / sum(({ tookMs }) => tookMs)
}

/** Processor time for each request in µs, while both are asked equally often. */
async function measureCpu(
  [plain, guarded]: Subjects,
  clients: readonly Client[],
  next: NextRequest,
  sliceMs: number,
): Promise<Both> {
  const before = [exactCpuUs(plain.pid), exactCpuUs(guarded.pid)] as const
  const turns = clients.map((client, i) => (i % 2 === 0 ? client : client.toReversed()))
  const { count } = await ask(turns, next, 4 * sliceMs)
  const usOf = (subject: Subject, beforeUs: number): number => (exactCpuUs(subject.pid) - beforeUs) / count
  return [usOf(plain, before[0]), usOf(guarded, before[1])]
}

interface Answered {
  readonly count: number
  readonly tookMs: number
}

/** Each client asks all of its links in turn; counts the rounds. */
async function ask(clients: readonly (readonly Link[])[], next: NextRequest, sliceMs: number): Promise<Answered> {
  const startMs = performance.now()
  let count = 0
  const askInTurn = async (own: readonly Link[]) => {
    for (; performance.now() - startMs < sliceMs; count++)
      for (const { subject, connection } of own) check(await connection.send(next(subject)))
  }
  await Promise.all(clients.map(askInTurn))
  return { count, tookMs: performance.now() - startMs }
}

function figuresOf(name: string, pairs: readonly Pair[]): CaseFigures {
  const medians = (which: 0 | 1): Slice => ({
    rate: median(pairs.map((pair) => pair[which].rate)),
    cpuUs: median(pairs.map((pair) => pair[which].cpuUs)),
  })
  return {
    name,
    without: medians(0),
    with: medians(1),
    rateRatio: median(pairs.map(([plain, guarded]) => guarded.rate / plain.rate)),
    cpuRatio: median(pairs.map(([plain, guarded]) => guarded.cpuUs / plain.cpuUs)),
  }
}

export function accessTable({ rounds, clients, cases: measured }: AccessFigures): string {
  const head = ['request', 'without', 'with roles and record', 'requests/s', 'processor time']
  const cell = ({ rate, cpuUs }: Slice): string => `${Math.round(rate)}/s, ${Math.round(cpuUs)} µs`
  const lines = measured.map((one) => [
    one.name,
    cell(one.without),
    cell(one.with),
    one.rateRatio.toFixed(3),
    one.cpuRatio.toFixed(3),
  ])
  const rows = [head, head.map(() => '---'), ...lines].map((row) => `| ${row.join(' | ')} |`)
  return `${rows.join('\n')}\n\n${clients} clients; medians of ${rounds} rounds`
}
