import { parseArgs } from 'node:util'
import { OperatingError } from '../../shared/index.ts'
import type { AskKubectl } from './ask-kubectl.ts'
import { formatLogs, formatRuns, parseRuns } from './past-runs.ts'
import { forTerminal } from './terminal-text.ts'

/** Commands that ask a running control plane, here or on AWS. */

/** `setpoint explain KIND/NAME`. */
export async function explainObject(args: readonly string[], ask: AskKubectl): Promise<void> {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: { namespace } })
  const what = expectObject(positionals, 'setpoint explain')
  const path = await findPath(what, values.namespace, ask)
  process.stdout.write(forTerminal(await ask(['get', '--raw', `${path}/explain`])))
}

/** `setpoint doctor`. */
export async function printDoctor(args: readonly string[], ask: AskKubectl): Promise<void> {
  expectNone(args, 'setpoint doctor')
  process.stdout.write(forTerminal(await ask(['get', '--raw', '/doctor'])))
}

/** What commands call the kinds that tell of a control plane's own work, and what is said where there are none. */
const ownWork = {
  queue: 'no object is in a queue',
  timers: 'no object waits for a timer',
  budgets: 'nothing bounds the runs',
} as const

/** `setpoint get-queue` and its like: what `kubectl get` prints of these kinds, for all namespaces. */
export async function printOwnWork(
  what: keyof typeof ownWork,
  args: readonly string[],
  ask: AskKubectl,
): Promise<void> {
  expectNone(args, `setpoint get-${what}`)
  const plural = what === 'queue' ? await findQueueKind(ask) : what
  const scope = plural === 'queuedkeys' || plural === 'timers' ? ['--all-namespaces'] : []
  const told = await ask(['get', `${plural}.v1.${ownGroup}`, ...scope])
  process.stdout.write(told === '' ? `${ownWork[what]}\n` : told)
}

const ownGroup = 'setpoint.dev'

/** Where keys cannot be listed, as on AWS, the queues are told with their lengths. */
async function findQueueKind(ask: AskKubectl): Promise<string> {
  const { resources } = JSON.parse(await ask(['get', '--raw', `/apis/${ownGroup}/v1`])) as Discovered
  return resources.some(({ name }) => name === 'queuedkeys') ? 'queuedkeys' : 'queues'
}

function expectNone(args: readonly string[], command: string): void {
  if (args.length > 0) throw new OperatingError('BAD_REQUEST', `type ${command}, and nothing after it`)
}

/** `setpoint log-level`, which tells it, or with a level, which sets it. */
export async function setLogLevel([level, ...more]: readonly string[], ask: AskKubectl): Promise<void> {
  if (more.length > 0)
    throw new OperatingError('BAD_REQUEST', 'type setpoint log-level, or setpoint log-level debug, info, warn or error')
  const told =
    level === undefined
      ? await ask(['get', '--raw', '/log-level'])
      : await ask(['create', '--raw', '/log-level', '-f', '-'], JSON.stringify(level))
  process.stdout.write(told)
}

/** `setpoint runs KIND/NAME`: the last runs of an object, oldest first. */
export async function printRuns(args: readonly string[], ask: AskKubectl): Promise<void> {
  const flags = { namespace, output: { type: 'string', short: 'o', default: 'table' } } as const
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: flags })
  if (values.output !== 'table' && values.output !== 'json')
    throw new OperatingError('BAD_REQUEST', 'type -o json, or leave it out for a table')
  const text = await readRuns(expectObject(positionals, 'setpoint runs'), values.namespace, ask)
  process.stdout.write(values.output === 'json' ? `${text}\n` : formatRuns(parseRuns(text)))
}

/** `setpoint logs KIND/NAME`: what these runs said. */
export async function printLogs(args: readonly string[], ask: AskKubectl): Promise<void> {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: { namespace } })
  const runs = await readRuns(expectObject(positionals, 'setpoint logs'), values.namespace, ask)
  process.stdout.write(formatLogs(parseRuns(runs)))
}

async function readRuns(what: string, given: string | undefined, ask: AskKubectl): Promise<string> {
  return ask(['get', '--raw', `${await findPath(what, given, ask)}/runs`])
}

/** `setpoint reconcile KIND/NAME`, or `--all KIND`: by an annotation, which always runs an object. */
export async function requestRuns(args: readonly string[], ask: AskKubectl): Promise<void> {
  const flags = { namespace, all: { type: 'boolean', default: false } } as const
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: flags })
  const usage = 'setpoint reconcile KIND/NAME, or setpoint reconcile --all KIND'
  const what = expectOne(positionals, usage)
  if (values.all === what.includes('/')) throw new OperatingError('BAD_REQUEST', `type ${usage}`)
  const requested = `setpoint.dev/reconcile-requested-at=${new Date().toISOString()}`
  const all = values.all ? ['--all'] : []
  const told = await ask(['annotate', what, requested, '--overwrite', ...all, ...inNamespace(values.namespace)])
  process.stdout.write(told)
  if (told === '') process.stderr.write(`setpoint: nothing runs: no ${what} found${placeText(values.namespace)}\n`)
}

/** kubectl alone knows the namespace that is not given. */
function placeText(given: string | undefined): string {
  return given === undefined ? '' : ` in the namespace ${given}`
}

const namespace = { type: 'string', short: 'n' } as const

function expectOne([what, ...more]: readonly string[], usage: string): string {
  if (what === undefined || more.length > 0) throw new OperatingError('BAD_REQUEST', `type ${usage}`)
  return what
}

/** One object, and not all of a kind, which may be very many. */
function expectObject(positionals: readonly string[], command: string): string {
  const what = expectOne(positionals, `${command} KIND/NAME`)
  if (what.includes('/')) return what
  throw new OperatingError('BAD_REQUEST', `${what} is no object: type ${command} ${what}/NAME`)
}

function inNamespace(given: string | undefined): readonly string[] {
  return given === undefined ? [] : ['--namespace', given]
}

/** The path of an object in the API: kubectl resolves the words, and discovery has the plural of its kind. */
async function findPath(what: string, given: string | undefined, ask: AskKubectl): Promise<string> {
  const { apiVersion, kind, metadata } = JSON.parse(
    await ask(['get', what, '-o', 'json', ...inNamespace(given)]),
  ) as Found
  if (kind === 'List') throw new OperatingError('BAD_REQUEST', `${what} is more than one object: name one`)
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const { resources } = JSON.parse(await ask(['get', '--raw', root])) as Discovered
  const plural = resources.find((one) => one.kind === kind && !one.name.includes('/'))?.name
  if (plural === undefined) throw new OperatingError('NOT_FOUND', `${root} has no resource for the kind ${kind}`)
  const scope = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`
  return `${root}${scope}/${plural}/${metadata.name}`
}

interface Found {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

interface Discovered {
  readonly resources: readonly { readonly name: string; readonly kind: string }[]
}
