import { existsSync, readFileSync } from 'node:fs'

/** One end of a run. */
export interface RunEdge {
  readonly phase: 'reconcile' | 'cleanup'
  readonly edge: 'start' | 'end'
  /** Of a cleanup: nothing is left. */
  readonly isDone?: boolean
}

export interface RunLogLine extends RunEdge {
  readonly name: string
  readonly uid: string
  readonly generation: number
  readonly pid: number
}

/** What runs of all processes wrote down, in order: each line is one write to a file opened for appending. */
export function readRunLog(file: string): readonly RunLogLine[] {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RunLogLine)
}

/**
 * What the runs of one object must not do; a line for each time they did. A store that refuses writes makes clean-ups
 * run again whose end could not be written.
 */
export function faultsIn(lines: readonly RunLogLine[], isStoreReliable = true): readonly string[] {
  return [...Map.groupBy(lines, ({ name }) => name).values()].flatMap((ofOne) => [
    ...overlaps(ofOne),
    ...[...Map.groupBy(ofOne, ({ uid }) => uid).values()].flatMap((life) => [
      ...stepsBack(life),
      ...reconciledWhileCleaning(life),
      ...(isStoreReliable ? cleanedTwice(life) : []),
    ]),
  ])
}

/**
 * A run begins while another of the same key has not ended. A process that was killed ended its runs without a word.
 */
function overlaps(lines: readonly RunLogLine[]): readonly string[] {
  const faults: string[] = []
  let running: RunLogLine | undefined
  for (const line of lines) {
    const isOverlap = line.edge === 'start' && running !== undefined && running.pid === line.pid
    if (isOverlap)
      faults.push(`${line.name}: two runs at once in process ${line.pid}, of generation ${line.generation}`)
    if (line.edge === 'end' && running?.pid !== line.pid)
      faults.push(`${line.name}: a run of process ${line.pid} ended while one of ${running?.pid ?? 'none'} was running`)
    running = line.edge === 'start' ? line : undefined
  }
  return faults
}

function stepsBack(life: readonly RunLogLine[]): readonly string[] {
  return life.flatMap(({ name, generation }, i) => {
    const before = life[i - 1]?.generation ?? 0
    return generation < before ? [`${name}: a run of generation ${generation} after one of ${before}`] : []
  })
}

function reconciledWhileCleaning(life: readonly RunLogLine[]): readonly string[] {
  const cleaning = life.findIndex(({ phase }) => phase === 'cleanup')
  const late = cleaning < 0 ? undefined : life.slice(cleaning).find(({ phase }) => phase === 'reconcile')
  return late === undefined ? [] : [`${late.name}: reconciled after cleanup had begun`]
}

/** Only a crash between the end of the last cleanup and its commit makes it run again. */
function cleanedTwice(life: readonly RunLogLine[]): readonly string[] {
  return life.flatMap(({ name, pid, isDone }, i) => {
    const isAgain = isDone === true && life.slice(i + 1).some((later) => later.pid === pid)
    return isAgain ? [`${name}: cleaned up again by process ${pid}, which had done so`] : []
  })
}
