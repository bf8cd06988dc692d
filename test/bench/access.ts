import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { addUser } from '../../shared/adapters/local/https/users-editor.ts'
import { loadLocalCredentials } from '../../shared/adapters/local/https/local-credentials.ts'
import { filesIn } from '../../shared/runtime/local/files.ts'
import { startProgram } from '../support/program.ts'
import { connect, requestText, type Connection, type Reply, type Target } from './connection.ts'
import { exactCpuUs, machineCpuMs, threadCpuUs } from './process-cpu.ts'
import { benchDirectory } from './processes.ts'
import { median } from './quantiles.ts'

/**
 * What roles and the record of requests cost. One control plane is asked about three namespaces: about one by its
 * administrator, for whom no role is looked at, without a record; about one by a user of twelve roles, with a record;
 * and about a third like about the first, which shows what the figures are worth. It is one control plane, because two
 * differ by tenths, in one process as well as in two, each with its own luck of compiled code and memory. It is asked
 * by turns, in slices of some hundredths of a second, since the speed of a machine changes from second to second, and
 * each of the three stands in each place as often as the others. Lines of the record are made within the slice. They
 * are written each 200 ms, in whichever slice that falls: it is one write, whose time does not depend on their number.
 */

export interface AccessFigures {
  readonly starts: number
  readonly rounds: number
  readonly clients: number
  readonly cases: readonly CaseFigures[]
}

interface CaseFigures {
  readonly name: string
  readonly without: Slice
  readonly with: Slice
  /** Of those with roles and record by those without. */
  readonly cost: Ratios
  /** Of the two namespaces that are alike. */
  readonly scatter: Ratios
  /** How much of the machine had other work: the median of the starts. */
  readonly othersShare: number
  readonly rounds: readonly Round[]
}

interface Slice {
  /** Requests a second. */
  readonly rate: number
  /** Processor time for each request of the thread that answers, in µs. */
  readonly mainUs: number
  /** The same of all threads. */
  readonly cpuUs: number
  /** The same of the clients, who do the same for each namespace. */
  readonly clientUs: number
}

/** Medians of what each round gives. */
interface Ratios {
  readonly rate: number
  /**
   * In units of what the clients took in the same slices: what else the machine does makes all of its cores slower by
   * turns, by a half and more, and a server and its clients alike.
   */
  readonly mainUs: number
  readonly cpuUs: number
}

interface Subject extends Target {
  readonly pid: number
  readonly namespace: string
}

const names = ['without', 'alike', 'with'] as const
type Name = (typeof names)[number]
type ByName<Value> = Readonly<Record<Name, Value>>

/** Their names are of one length, so that requests and objects are too. */
const namespaces: ByName<string> = { without: 'plain', alike: 'again', with: 'audit' }

type Round = ByName<Slice>

/** Of all starts. */
interface Measured {
  readonly rounds: Round[]
  readonly othersShare: number[]
}

type NextRequest = (subject: Subject) => string

const collectionOf = ({ namespace }: Subject): string => `/api/v1/namespaces/${namespace}/configmaps`
const objects = Array.from({ length: 64 }, (_, i) => `m${i}`)

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

function objectAt(i: number): string {
  return objects[i % objects.length] as string
}

function get(subject: Subject, i: number): string {
  return requestText(subject, { method: 'GET', path: `${collectionOf(subject)}/${objectAt(i)}` })
}

let written = 0
function patch(subject: Subject, i: number): string {
  const body = JSON.stringify({ data: { count: String(written++) } })
  const type = 'application/merge-patch+json'
  return requestText(subject, { method: 'PATCH', path: `${collectionOf(subject)}/${objectAt(i)}`, type, body })
}

interface AccessOptions {
  readonly starts: number
  /** After each start. */
  readonly rounds: number
  readonly clients: number
  /** Of each slice. */
  readonly requests: number
}

export async function measureAccess(options: AccessOptions): Promise<AccessFigures> {
  const { starts, rounds, clients } = options
  const measured = new Map(
    Object.keys(cases).map((name): [string, Measured] => [name, { rounds: [], othersShare: [] }]),
  )
  for (let start = 0; start < starts; start++) await measureStart(measured, options)
  const figures = [...measured].map(([name, all]) => figuresOf(name, all))
  return { starts, rounds: starts * rounds, clients, cases: figures }
}

const program = fileURLToPath(new URL('access-server.ts', import.meta.url))

async function measureStart(measured: ReadonlyMap<string, Measured>, options: AccessOptions): Promise<void> {
  using directory = benchDirectory()
  await using server = await startProgram(process.execPath, [program, directory.path, namespaces.with])
  const [, url = ''] = await server.says(/^ready (.*)\n/m)
  const { authority, token } = loadLocalCredentials(directory.path, Date.now())
  const target = { port: Number(new URL(url).port), authority, pid: server.pid }
  const administratorOf = (name: Name): Subject => ({ ...target, token, namespace: namespaces[name] })
  for (const name of names) await prepare(administratorOf(name))
  const user = { ...administratorOf('with'), token: addUser(filesIn(directory.path).usersFile, 'ann', ['team']) }
  const subjects = { without: administratorOf('without'), alike: administratorOf('alike'), with: user }
  const links = await connectAll(subjects, options.clients)
  for (const [name, toRequests] of Object.entries(cases)) {
    const othersShareNow = watchOthers(server.pid)
    // The first rounds warm all up.
    for (let round = -warmRounds; round < options.rounds; round++) {
      const slices = await measureRound(links, { next: toRequests(), round, requests: options.requests })
      if (round >= 0) measured.get(name)?.rounds.push(slices)
    }
    measured.get(name)?.othersShare.push(othersShareNow())
  }
  for (const { connection } of names.flatMap((name) => links[name])) connection.close()
}

const warmRounds = 60

/** The objects, and for the user twelve roles of which the last one allows it. */
async function prepare(subject: Subject): Promise<void> {
  const connection = await connect(subject)
  const create = async (path: string, body: object): Promise<void> => {
    const text = JSON.stringify(body)
    check(await connection.send(requestText(subject, { method: 'POST', path, type: 'application/json', body: text })))
  }
  const { namespace } = subject
  await create('/api/v1/namespaces', { metadata: { name: namespace } })
  const collection = collectionOf(subject)
  for (const name of objects) await create(collection, { metadata: { name }, data: { note: 'x'.repeat(900) } })
  if (namespace !== namespaces.with) return connection.close()
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  for (let i = 0; i < 12; i++) {
    const resources = [i === 11 ? 'configmaps' : `others${i}`]
    const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete']
    const name = `role-${i}`
    await create(`${rbac}/clusterroles`, { metadata: { name }, rules: [{ apiGroups: [''], resources, verbs }] })
    await create(`${rbac}/namespaces/${namespace}/rolebindings`, {
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

/** One client about one namespace. It stays open, and is never idle for long enough to be ended. */
interface Link {
  readonly subject: Subject
  readonly connection: Connection
}

async function connectAll(subjects: ByName<Subject>, count: number): Promise<ByName<readonly Link[]>> {
  const open = async (subject: Subject): Promise<Link> => ({ subject, connection: await connect(subject) })
  const openAll = (subject: Subject): Promise<Link[]> => Promise.all(Array.from({ length: count }, () => open(subject)))
  return {
    without: await openAll(subjects.without),
    alike: await openAll(subjects.alike),
    with: await openAll(subjects.with),
  }
}

interface RoundOptions {
  readonly next: NextRequest
  readonly round: number
  /** Of each slice. */
  readonly requests: number
}

/** Each namespace stands in each place in as many rounds as the others. */
const orders: readonly (readonly [Name, Name, Name])[] = [
  ['without', 'alike', 'with'],
  ['with', 'without', 'alike'],
  ['alike', 'with', 'without'],
  ['with', 'alike', 'without'],
  ['without', 'with', 'alike'],
  ['alike', 'without', 'with'],
]

/** There and back in short slices, so that a drift falls on all. */
async function measureRound(
  links: ByName<readonly Link[]>,
  { next, round, requests }: RoundOptions,
): Promise<ByName<Slice>> {
  const order = orders[Math.abs(round) % orders.length] as readonly Name[]
  const answered: Record<Name, Answered[]> = { without: [], alike: [], with: [] }
  for (const name of [...order, ...order.toReversed()]) {
    answered[name].push(await askSlice(links[name], next, requests))
  }
  return { without: sliceOf(answered.without), alike: sliceOf(answered.alike), with: sliceOf(answered.with) }
}

interface Answered {
  readonly count: number
  readonly tookMs: number
  readonly mainUs: number
  readonly cpuUs: number
  readonly clientUs: number
}

async function askSlice(links: readonly Link[], next: NextRequest, count: number): Promise<Answered> {
  const pid = links[0]?.subject.pid ?? 0
  const before = { ...cpuOf(pid), client: process.threadCpuUsage() }
  const startMs = performance.now()
  await ask(links, next, count)
  const tookMs = performance.now() - startMs
  const { user, system } = process.threadCpuUsage(before.client)
  // The last turn comes to its end.
  await sleep(1)
  const after = cpuOf(pid)
  return {
    count,
    tookMs,
    mainUs: after.mainUs - before.mainUs,
    cpuUs: after.cpuUs - before.cpuUs,
    clientUs: user + system,
  }
}

async function ask(links: readonly Link[], next: NextRequest, count: number): Promise<void> {
  let left = count
  const askAgain = async ({ subject, connection }: Link): Promise<void> => {
    while (left-- > 0) check(await connection.send(next(subject)))
  }
  await Promise.all(links.map(askAgain))
}

function cpuOf(pid: number): Pick<Slice, 'mainUs' | 'cpuUs'> {
  return { mainUs: threadCpuUs(pid), cpuUs: exactCpuUs(pid) }
}

/** From now on: which share of the machine's processors is busy with what is neither server nor client. */
function watchOthers(pid: number): () => number {
  const busyMs = (): number => machineCpuMs() - (exactCpuUs(pid) + exactCpuUs(process.pid)) / 1_000
  const before = { busyMs: busyMs(), atMs: performance.now() }
  return () => (busyMs() - before.busyMs) / (performance.now() - before.atMs) / availableParallelism()
}

function sliceOf(slices: readonly Answered[]): Slice {
  const sum = (of: (slice: Answered) => number): number => slices.reduce((total, one) => total + of(one), 0)
  const count = sum((one) => one.count)
  return {
    rate: (1_000 * count) / sum(({ tookMs }) => tookMs),
    mainUs: sum(({ mainUs }) => mainUs) / count,
    cpuUs: sum(({ cpuUs }) => cpuUs) / count,
    clientUs: sum(({ clientUs }) => clientUs) / count,
  }
}

function figuresOf(name: string, { rounds, othersShare }: Measured): CaseFigures {
  const medianSlice = (which: Name): Slice => {
    const of = (field: keyof Slice): number => median(rounds.map((slices) => slices[which][field]))
    return { rate: of('rate'), mainUs: of('mainUs'), cpuUs: of('cpuUs'), clientUs: of('clientUs') }
  }
  const medianRatios = (which: Name): Ratios => {
    const ratios = rounds.map((slices) => ratiosOf(slices[which], slices.without))
    const of = (field: keyof Ratios): number => median(ratios.map((one) => one[field]))
    return { rate: of('rate'), mainUs: of('mainUs'), cpuUs: of('cpuUs') }
  }
  return {
    name,
    without: medianSlice('without'),
    with: medianSlice('with'),
    cost: medianRatios('with'),
    scatter: medianRatios('alike'),
    othersShare: median(othersShare),
    rounds,
  }
}

function ratiosOf(one: Slice, other: Slice): Ratios {
  const speed = other.clientUs / one.clientUs
  return {
    rate: one.rate / other.rate,
    mainUs: (speed * one.mainUs) / other.mainUs,
    cpuUs: (speed * one.cpuUs) / other.cpuUs,
  }
}

export function accessTable({ starts, rounds, clients, cases: measured }: AccessFigures): string {
  const head = ['request', 'without', 'with', 'requests/s', 'main thread', 'processor time', 'two alike', 'other work']
  const cell = ({ rate, mainUs, cpuUs }: Slice): string =>
    `${Math.round(rate)}/s, ${mainUs.toFixed(1)} µs of ${cpuUs.toFixed(1)}`
  const texts = ({ rate, mainUs, cpuUs }: Ratios): string[] => [rate, mainUs, cpuUs].map((one) => one.toFixed(3))
  const lines = measured.map((one) => [
    one.name,
    cell(one.without),
    cell(one.with),
    ...texts(one.cost),
    texts(one.scatter).join(', '),
    `${Math.round(100 * one.othersShare)} %`,
  ])
  const rows = [head, head.map(() => '---'), ...lines].map((row) => `| ${row.join(' | ')} |`)
  return `${rows.join('\n')}\n\n${clients} clients; medians of ${rounds} rounds, over ${starts} starts`
}
