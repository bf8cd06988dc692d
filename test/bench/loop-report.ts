import type { LoopResult, LoopSample } from './loop.ts'
import { median } from './quantiles.ts'

/** What is told of a run: for each number of clients the medians over the repetitions; ratios are made within each. */
export interface LoopFigures {
  readonly clients: number
  readonly updatesPerSecond: number
  readonly createsPerSecond: number
  readonly acceptMs: Spread
  readonly convergeMs: Spread
  readonly serverUs: number
  readonly rowsPerCommit: number
  readonly echoPerSecond: number
  readonly echoUs: number
  readonly sqlitePerSecond: number
  readonly peers: readonly PeerFigures[]
  readonly ofEcho: number
  readonly ofSqlite: number
  /** CPU time of a change by that of an echo. */
  readonly echoesOfCpu: number
  /** The share of a processor that the load used, at its busiest. */
  readonly generatorShare: number
  /** The share of the machine that was somebody else's. */
  readonly othersShare: number
}

interface PeerFigures {
  readonly name: string
  readonly unit: string
  readonly perSecond: number
  readonly serverUs: number
  /** Our changes by its own. */
  readonly ratio: number
}

interface Spread {
  readonly p50: number
  readonly p99: number
}

export function loopFigures({ samples, peers }: LoopResult): readonly LoopFigures[] {
  return [...Map.groupBy(samples, ({ clients }) => clients).values()].map((same) => figuresOf(same, peers))
}

function figuresOf(samples: readonly LoopSample[], peers: LoopResult['peers']): LoopFigures {
  const middle = (of: (sample: LoopSample) => number): number => median(samples.map(of))
  return {
    clients: samples[0]?.clients ?? 0,
    updatesPerSecond: middle(({ update }) => update.perSecond),
    createsPerSecond: middle(({ create }) => create.perSecond),
    acceptMs: { p50: middle(({ update }) => update.accept.p50), p99: middle(({ update }) => update.accept.p99) },
    convergeMs: { p50: middle(({ update }) => update.converge.p50), p99: middle(({ update }) => update.converge.p99) },
    serverUs: middle(({ update }) => update.serverUs),
    rowsPerCommit: middle(({ update }) => update.eventsTogether),
    echoPerSecond: middle(({ echo }) => echo.perSecond),
    echoUs: middle(({ echo }) => echo.serverUs),
    sqlitePerSecond: middle(({ sqlitePerSecond }) => sqlitePerSecond),
    peers: peers.map(({ name, unit }) => ({ name, unit, ...peerFigures(samples, name) })),
    ofEcho: middle(({ update, echo }) => update.perSecond / echo.perSecond),
    ofSqlite: middle(({ update, sqlitePerSecond }) => update.perSecond / sqlitePerSecond),
    echoesOfCpu: middle(({ update, echo }) => update.serverUs / echo.serverUs),
    generatorShare: Math.max(...samples.map(({ echo }) => echo.generatorShare)),
    othersShare: middle(({ update }) => update.othersShare),
  }
}

function peerFigures(samples: readonly LoopSample[], name: string): Omit<PeerFigures, 'name' | 'unit'> {
  const all = samples.flatMap(({ update, peers }) => {
    const peer = peers[name]
    return peer === undefined ? [] : [{ ...peer, ratio: update.perSecond / peer.perSecond }]
  })
  const middle = (field: 'perSecond' | 'serverUs' | 'ratio'): number => median(all.map((one) => one[field]))
  return { perSecond: middle('perSecond'), serverUs: middle('serverUs'), ratio: middle('ratio') }
}

interface Row {
  readonly name: string
  readonly show: (figures: LoopFigures) => string
}

const rows: readonly Row[] = [
  { name: 'updates converged/s', show: (one) => whole(one.updatesPerSecond) },
  { name: 'creates converged/s', show: (one) => whole(one.createsPerSecond) },
  { name: 'accepted, ms p50 / p99', show: ({ acceptMs }) => spread(acceptMs) },
  { name: 'change to status, ms p50 / p99', show: ({ convergeMs }) => spread(convergeMs) },
  { name: 'server CPU, µs per change', show: (one) => whole(one.serverUs) },
  { name: 'rows per commit', show: (one) => one.rowsPerCommit.toFixed(1) },
  { name: 'bare HTTPS echo/s (CPU µs)', show: (one) => `${whole(one.echoPerSecond)} (${whole(one.echoUs)})` },
  { name: 'bare SQLite, changes/s', show: (one) => whole(one.sqlitePerSecond) },
  { name: 'converged / echo', show: (one) => one.ofEcho.toFixed(2) },
  { name: 'converged / SQLite', show: (one) => one.ofSqlite.toFixed(2) },
  { name: 'CPU of a change / of an echo', show: (one) => one.echoesOfCpu.toFixed(2) },
  { name: 'load, of one processor', show: (one) => one.generatorShare.toFixed(2) },
  { name: 'others, of the machine', show: (one) => one.othersShare.toFixed(2) },
]

/** One line with what a peer does, one with what we do of that. */
function peerRows({ name, unit }: PeerFigures): readonly Row[] {
  const of = ({ peers }: LoopFigures): PeerFigures | undefined => peers.find((peer) => peer.name === name)
  return [
    {
      name: `${name}, ${unit}/s (CPU µs)`,
      show: (one) => `${whole(of(one)?.perSecond ?? 0)} (${whole(of(one)?.serverUs ?? 0)})`,
    },
    { name: `converged / ${name}`, show: (one) => (of(one)?.ratio ?? 0).toFixed(2) },
  ]
}

export function loopTable(figures: readonly LoopFigures[]): string {
  const head = line(
    'concurrency',
    figures.map(({ clients }) => String(clients)),
  )
  return [
    head,
    ...[...rows, ...(figures[0]?.peers.flatMap(peerRows) ?? [])].map(({ name, show }) => line(name, figures.map(show))),
  ].join('\n')
}

function line(name: string, cells: readonly string[]): string {
  return `${name.padEnd(32)}${cells.map((cell) => cell.padStart(16)).join('')}`
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en')
}

function spread({ p50, p99 }: Spread): string {
  return `${p50.toFixed(2)} / ${p99.toFixed(2)}`
}
