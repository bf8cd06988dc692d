import { formatTable } from '../../shared/runtime/local/text-table.ts'

/** A run as the API tells it (shared/api/verbs/runs.ts), as far as people read it. */
export interface ToldRun {
  readonly startTime: string
  readonly durationMs: number
  readonly outcome: string
  readonly causes: readonly string[]
  readonly reason?: string
  readonly message?: string
  readonly afterMs?: number
  readonly reads?: number
  readonly writes?: number
  readonly drift?: number
  readonly times?: number
  readonly outside?: Readonly<Record<string, number>>
  readonly log?: readonly ToldLine[]
}

interface ToldLine {
  readonly time: string
  readonly level: string
  readonly message: string
  readonly fields?: Readonly<Record<string, unknown>>
}

export function parseRuns(text: string): readonly ToldRun[] {
  return (JSON.parse(text) as { readonly items: readonly ToldRun[] }).items
}

const header = ['STARTED', 'TOOK', 'RESULT', 'READS', 'WRITES', 'BECAUSE', 'MESSAGE']

/** A line for each run; those in a row that changed nothing are one. */
export function formatRuns(runs: readonly ToldRun[]): string {
  if (runs.length === 0) return 'no run is kept of this object\n'
  return formatTable([header, ...runs.map(rowOf)])
}

function rowOf(run: ToldRun): readonly string[] {
  const { startTime, durationMs, outcome, causes, reads, writes, times } = run
  const count = (number: number | undefined): string => (number === undefined ? '' : String(number))
  const result = times === undefined ? outcome : `${outcome}, nothing to do, ${times} in a row`
  return [atSecond(startTime), `${durationMs} ms`, result, count(reads), count(writes), causes.join(', '), wordsOf(run)]
}

function wordsOf({ reason, message, afterMs, drift, outside = {} }: ToldRun): string {
  const said = [reason, message?.split('\n', 1)[0]].filter((one) => one !== undefined && one !== '').join(': ')
  const more = [
    afterMs === undefined ? '' : `again in ${afterMs / 1_000} s`,
    drift === undefined ? '' : `drift corrected: ${drift}`,
    ...Object.entries(outside).map(([call, times]) => `${call}: ${times}`),
  ]
  return [said, ...more].filter((one) => one !== '').join('; ')
}

/** What the runs logged, a line each. */
export function formatLogs(runs: readonly ToldRun[]): string {
  const lines = runs.flatMap(({ log = [] }) => log.map(lineOf))
  return lines.length === 0 ? 'its last runs logged nothing\n' : lines.join('')
}

function lineOf({ time, level, message, fields = {} }: ToldLine): string {
  const told = Object.entries(fields).map(
    ([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const loud = level === 'info' ? '' : `${level.toUpperCase()} `
  return `${atSecond(time)} ${loud}${message}${told.join('')}\n`
}

function atSecond(time: string): string {
  return `${time.slice(0, 19)}Z`
}
