import type { ServedLine, ServedRun } from '../../shared/runtime/local/records.ts'
import { forTerminal, linesForTerminal } from './terminal-text.ts'
import { formatTable } from './text-table.ts'

export function parseRuns(text: string): readonly ServedRun[] {
  return (JSON.parse(text) as { readonly items: readonly ServedRun[] }).items
}

const header = ['STARTED', 'TOOK', 'RESULT', 'READS', 'WRITES', 'BECAUSE', 'MESSAGE']

/** A line for each run; those in a row that changed nothing are one. */
export function formatRuns(runs: readonly ServedRun[]): string {
  if (runs.length === 0) return 'no run is kept of this object\n'
  return forTerminal(formatTable([header, ...runs.map(rowOf)]))
}

function rowOf(run: ServedRun): readonly string[] {
  const { startTime, durationMs, outcome, causes, reads, writes, times } = run
  const count = (number: number | undefined): string => (number === undefined ? '' : String(number))
  const result = times === undefined ? outcome : `${outcome}, nothing to do, ${times} in a row`
  return [atSecond(startTime), `${durationMs} ms`, result, count(reads), count(writes), causes.join(', '), wordsOf(run)]
}

function wordsOf({ reason, message, afterMs, drift, outside = {} }: ServedRun): string {
  const said = [reason, message?.split('\n', 1)[0]].filter((one) => one !== undefined && one !== '').join(': ')
  const more = [
    afterMs === undefined ? '' : `again in ${afterMs / 1_000} s`,
    drift === undefined ? '' : `drift corrected: ${drift}`,
    ...Object.entries(outside).map(([call, times]) => `${call}: ${times}`),
  ]
  return [said, ...more].filter((one) => one !== '').join('; ')
}

/** What the runs logged, a line each. */
export function formatLogs(runs: readonly ServedRun[]): string {
  const lines = runs.flatMap(({ log = [] }) => log.map(lineOf))
  return lines.length === 0 ? 'its last runs logged nothing\n' : lines.join('')
}

function lineOf({ time, level, message, fields = {} }: ServedLine): string {
  const told = Object.entries(fields).map(
    ([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const loud = level === 'info' ? '' : `${level.toUpperCase()} `
  return `${atSecond(time)} ${linesForTerminal(`${loud}${message}${told.join('')}`)}\n`
}

function atSecond(time: string): string {
  return `${time.slice(0, 19)}Z`
}
