import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Manifest } from '../support/api-client.ts'
import { optionsOf, wholeNumber } from '../support/command-line.ts'
import { eventually } from '../support/eventually.ts'
import { disturbedOutside, touchedChildren, type Disturbance } from './disturbances.ts'
import { batch, core, manifestsOf, storage } from './manifests.ts'
import { reconcilerFiles } from './user-code.ts'
import { openWorld } from './world.ts'

/**
 * `npm run demo`: declares a tree of Konnect entities, a database and its backups, disturbs all of them behind
 * Setpoint's back, kills the control plane once, and says how each was healed and when. Exits with 1 if anything was
 * not. With `--quick` what is found by looking is looked at every three seconds, not every minute. What takes longer
 * than `--limit` seconds is not healed.
 */
const { values } = optionsOf('npm run demo --', {
  options: { quick: { type: 'boolean', default: false }, limit: { type: 'string', default: '90' } },
})
const startMs = performance.now()
const readyMs = 120_000
const limitMs = wholeNumber('--limit', values.limit, 1) * 1_000

await using world = await openWorld()
const failures: string[] = []

say(`A control plane, a Konnect (of our own, held to its public API) and a person with ${world.toolName}.\n`)
const manifests = manifestsOf({ konnectUrl: world.konnectUrl, resync: values.quick ? '3s' : '' })
await timed(`applied ${manifests.length} objects`, () => world.apply(manifests))
for (const manifest of manifests.filter(({ kind }) => kind !== 'Secret'))
  await timed(`${manifest.kind} ${manifest.metadata.name} is Ready`, () => eventually(() => ready(manifest), readyMs))

say('\nChildren that somebody touches, one after the other:\n')
for (const disturbance of touchedChildren(world)) {
  await disturbance.disturb()
  await healing(disturbance)
}

say('\nThings outside, all at once; then kill -9 of the control plane:\n')
const outside = disturbedOutside(world)
for (const { what, disturb } of outside) {
  await disturb()
  say(`  ${clock()}  ${what}`)
}
const disturbedMs = performance.now()
const awayMs = await world.restart()
say(`  ${clock()}  the control plane was killed, and is back after ${seconds(awayMs)}\n`)
await Promise.all(outside.map((disturbance) => healing(disturbance, disturbedMs)))

say('\nThe backup of every minute, which nobody stopped:\n')
await timed('a dump is stored, and the policy says so', dumped)

say('\nWhat a user writes for a kind, beside its schema (lines without blanks, comments and imports):\n')
for (const { file, lines } of reconcilerFiles()) say(`  ${String(lines).padStart(4)}  ${file}`)

say(
  `\n${failures.length === 0 ? 'All of it was healed' : `NOT healed: ${failures.join('; ')}`}, ${seconds(performance.now() - startMs)} in all.`,
)
process.exitCode = failures.length === 0 ? 0 : 1

async function healing({ what, about, healed }: Disturbance, sinceMs = performance.now()): Promise<void> {
  const sinceEpochMs = Date.now() - (performance.now() - sinceMs)
  try {
    const state = await eventually(async () => definite(await healed()), limitMs)
    say(`  ${clock()}  healed after ${seconds(performance.now() - sinceMs)}: ${what}`)
    for (const line of [state, ...(await toldOf(about, sinceEpochMs))]) say(`             ${line}`)
  } catch (error) {
    failed(what, error)
  }
}

/** What the log and the events say of an object since a moment. */
async function toldOf({ kind, metadata: { name } }: Manifest, sinceMs: number): Promise<readonly string[]> {
  const mended = world
    .log()
    .filter(({ message, child }) => message === 'drift corrected' && String(child).endsWith(`/${kind}/default/${name}`))
  const events = (await world.get(core('Event', ''))).items as readonly ToldEvent[]
  const about = events
    .filter(({ involvedObject }) => involvedObject.kind === kind && involvedObject.name === name)
    .filter(({ lastTimestamp }) => Date.parse(lastTimestamp) >= Math.floor(sinceMs))
    .toSorted((a, b) => (a.lastTimestamp < b.lastTimestamp ? -1 : 1))
  const byWhom = (by: unknown): string => (by === undefined ? '' : ` by ${String(by)}`)
  return [
    ...mended.slice(-1).map(({ found, by }) => `log: drift corrected, it was ${String(found)}${byWhom(by)}`),
    ...about.map(({ reason, message }) => `event ${reason}: ${message}`),
  ]
}

interface ToldEvent {
  readonly involvedObject: { readonly kind: string; readonly name: string }
  readonly lastTimestamp: string
  readonly reason: string
  readonly message: string
}

async function ready(manifest: Manifest): Promise<void> {
  type Condition = { type: string; status: string; message: string }
  const found = ((await world.get(manifest))?.status?.conditions ?? []) as Condition[]
  const condition = found.find(({ type }) => type === 'Ready')
  if (condition?.status !== 'True')
    throw new Error(`Ready is ${condition?.status ?? 'not there'}: ${condition?.message ?? ''}`)
}

async function dumped(): Promise<void> {
  await eventually(async () => {
    const policy = await world.get(storage('BackupPolicy', 'minutely'))
    const dump = definite(await someDump())
    if (typeof policy?.status?.lastSuccessfulTime !== 'string')
      throw new Error('the policy knows of no run that went well')
    const file = join(world.dataDirectory, 'backups', dump)
    if (!existsSync(file)) throw new Error(`${file} is not there`)
  }, limitMs)
}

/** The name of the dump of a Job that is complete; one that failed has none. */
async function someDump(): Promise<string | undefined> {
  const jobs = await world.get(batch('Job', ''))
  type Job = { status?: { completionTime?: string; dumps?: readonly { name: string }[] } }
  const complete = ((jobs?.items ?? []) as Job[]).filter(({ status }) => status?.completionTime !== undefined)
  return complete.flatMap(({ status }) => status?.dumps ?? [])[0]?.name
}

function definite<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('not yet')
  return value
}

async function timed(what: string, work: () => Promise<unknown>): Promise<void> {
  const beganMs = performance.now()
  try {
    await work()
    say(`  ${clock()}  ${what}, after ${seconds(performance.now() - beganMs)}`)
  } catch (error) {
    failed(what, error)
  }
}

function failed(what: string, error: unknown): void {
  failures.push(what)
  say(`  ${clock()}  NOT: ${what}: ${(error as Error).message}`)
}

function clock(): string {
  return seconds(performance.now() - startMs).padStart(7)
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
