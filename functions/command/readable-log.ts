import { linesForTerminal } from './terminal-text.ts'

/**
 * A log line of the control plane, one JSON object, as people read it: time, object, what happened, and the other
 * fields. Undefined for what is of no interest to an author: runs of the control plane's own controllers that went
 * well.
 * Text that is no JSON stays as it is.
 */
export function formatLogLine(line: string): string | undefined {
  const parsed = parseLine(line)
  if (parsed === undefined) return line
  const told = tellLine(parsed)
  return told && linesForTerminal(told)
}

function tellLine({ time, level, message, controller, namespace, name, ...fields }: LogLine): string | undefined {
  if (level === 'debug' && controller?.endsWith('-lifecycle') === true) return undefined
  if (message === 'request') return isOfInterest(fields) ? `${time.slice(11, 19)} ${tellRequest(fields)}` : undefined
  const at = namespace === undefined || namespace === '' ? '' : `${namespace}/`
  const object = name === undefined ? '' : `${controller ?? ''} ${at}${name}: `
  const rest = message === 'reconciled' ? tellRun(fields) : tellFields(fields)
  const loud = level === 'warn' || level === 'error' ? `${level.toUpperCase()} ` : ''
  return `${time.slice(11, 19)} ${loud}${object}${message}${rest}`
}

/** What the logger of the control plane writes (shared/adapters/node/json-logger.ts). */
interface LogLine {
  readonly time: string
  readonly level: string
  readonly message: string
  readonly controller?: string
  readonly namespace?: string
  readonly name?: string
  readonly [field: string]: unknown
}

type Fields = Readonly<Record<string, unknown>>

function parseLine(line: string): LogLine | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const parsed = JSON.parse(line) as Partial<LogLine>
    return typeof parsed.message === 'string' && typeof parsed.time === 'string' ? (parsed as LogLine) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** What clients ask only to learn what is served says nothing about objects. */
function isOfInterest({ path, status }: Fields): boolean {
  return Number(status) >= 400 || /^\/(api\/[^/]+|apis\/[^/]+\/[^/]+)\/./.test(String(path))
}

function tellRequest({ method, path, status, ms, agent, watch }: Fields): string {
  const took = watch === true ? 'watch begun' : `${String(ms)} ms`
  return `${String(agent)} ${String(method)} ${String(path)}: ${String(status)}, ${took}`
}

/** What every run has, in words; identifiers that nobody reads are left out. */
function tellRun({ outcome, durationMs, kind: _, reasons, ...fields }: Fields): string {
  const because = Array.isArray(reasons) && reasons.length > 0 ? ` because of ${reasons.join(', ')}` : ''
  return ` in ${String(durationMs)} ms, ${String(outcome)}${because}${tellFields(fields)}`
}

function tellFields({ reconcileID: _, kind: __, ...fields }: Fields): string {
  const told = Object.entries(fields).filter(([, value]) => value !== undefined && value !== '')
  return told.map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`).join('')
}
