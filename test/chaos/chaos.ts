import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSeededRandom, type SeededRandom } from '../../shared/testing/seeded-random.ts'
import { openApiClient, type ApiClient } from '../support/api-client.ts'
import {
  root,
  startControlPlane,
  startLocalProgram,
  type ControlPlaneProcess,
} from '../support/control-plane-process.ts'
import { apiSource } from '../support/api-informer.ts'
import { eventually } from '../support/eventually.ts'
import { createInformer, staleness, type Informer } from '../support/informer.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { killFirstStart } from './first-start.ts'
import { outsideOf } from './item.ts'
import { faultsIn, readRunLog, type RunLogLine } from './run-log.ts'
import { fillDisk, jumpClock } from './shaken.ts'
import { createWriter, items, type Writer, type WrittenItem } from './writer.ts'

export interface ChaosOptions {
  /** Decides what is written and when the process is killed. What the machine makes of it differs from run to run. */
  readonly seed: number
  /** How often something is done to the process. */
  readonly rounds: number
  /** What may be done to it; one of them in each round. Default: it is killed. */
  readonly troubles?: readonly Trouble[]
  /** Goes on until so many applies were acknowledged, at least. */
  readonly appliesMin: number
  /**
   * So many clients keep a cache of what is written, cut off again and again, and must be right in the end. Default
   * none.
   */
  readonly informers?: number
}

export type Trouble = 'kill' | 'full disk' | 'clock jump'

export interface ChaosReport {
  /** How often what was done. */
  readonly done: Readonly<Partial<Record<Trouble, number>>>
  /** Writes that were refused, or whose answer was lost, and made again. */
  readonly refused: number
  readonly applies: number
  readonly deletions: number
  readonly runs: number
  /** Runs that a kill cut off. */
  readonly cutOff: number
  /** How often an informer listed, went on after a cut, and was told of something. */
  readonly informed?: { readonly lists: number; readonly resumes: number; readonly events: number }
  /** Everything that should not have happened. */
  readonly faults: readonly string[]
}

const program = join(root, 'test/chaos/recording-control-plane.ts')
const writersCount = 4
const namesPerWriter = 5

/**
 * Kills a control plane with -9 at random moments, also while it starts, while others write, and starts it again each
 * time; or its disk is full for a while, or its clock jumps. After each round every acknowledged write must be there.
 * In the end every object must come to rest as last declared, nothing may be left of those that were deleted, and no
 * two runs of one object may ever have been under way at once.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { seed, rounds, appliesMin, troubles = ['kill'] } = options
  using directory = temporaryDirectory('chaos')
  const random = createSeededRandom(seed)
  const dataDirectory = join(directory.path, 'data')
  const { runLog } = outsideOf(dataDirectory)
  const faults: string[] = []
  const done: Partial<Record<Trouble, number>> = {}
  for (let first = 0; first < (troubles.includes('kill') ? rounds / 4 : 0); first++)
    faults.push(...(await killFirstStart(program, random.fork(`first start ${first}`))))
  const plane = await startControlPlane({ program, dataDirectory })
  using client = openApiClient(plane.kubeconfig)
  const writers = writersOf(client, random)
  const informers = informersOf(client, random, options.informers ?? 0)
  faults.push(
    ...(await underFire(plane, { client, writers, informers, random, rounds, appliesMin, troubles, done })),
    ...faultsIn(readRunLog(runLog), !troubles.includes('full disk')),
  )
  return { ...countsOf(writers, readRunLog(runLog)), ...informed(informers), done, faults }
}

function informersOf(client: ApiClient, random: SeededRandom, count: number): readonly Informer[] {
  return Array.from({ length: count }, (_, i) => {
    const cuts = random.fork(`informer ${i}`)
    return createInformer({
      source: apiSource(client, items),
      cutAfter: () => 1 + Math.floor(cuts.next() * 20),
      pause: async () => sleep(50),
      isExact: true,
    })
  })
}

function informed(informers: readonly Informer[]): Pick<ChaosReport, 'informed'> {
  if (informers.length === 0) return {}
  const sum = (of: (informer: Informer) => number): number =>
    informers.reduce((total, informer) => total + of(informer), 0)
  return {
    informed: {
      lists: sum(({ counts }) => counts.lists),
      resumes: sum(({ counts }) => counts.resumes),
      events: eventsOf(informers),
    },
  }
}

function writersOf(client: ApiClient, random: SeededRandom): readonly Writer[] {
  return Array.from({ length: writersCount }, (_, w) =>
    createWriter({
      client,
      random: random.fork(`writer ${w}`),
      names: Array.from({ length: namesPerWriter }, (__, n) => `item-${w}-${n}`),
    }),
  )
}

function countsOf(
  writers: readonly Writer[],
  log: readonly RunLogLine[],
): Pick<ChaosReport, 'applies' | 'refused' | 'deletions' | 'runs' | 'cutOff'> {
  const runs = log.filter(({ edge }) => edge === 'start').length
  return {
    applies: appliesOf(writers),
    refused: writers.reduce((sum, { refused }) => sum + refused, 0),
    deletions: allWritten(writers).reduce((sum, { gone }) => sum + gone.length, 0),
    runs,
    cutOff: 2 * runs - log.length,
  }
}

function appliesOf(writers: readonly Writer[]): number {
  return writers.reduce((sum, { applies }) => sum + applies, 0)
}

interface Battle extends Required<Pick<ChaosOptions, 'rounds' | 'appliesMin' | 'troubles'>> {
  readonly client: ApiClient
  readonly writers: readonly Writer[]
  readonly informers: readonly Informer[]
  readonly random: SeededRandom
  readonly done: Partial<Record<Trouble, number>>
}

/** Lets the writers write while things are done to the process, and then come to rest; what went wrong. */
async function underFire(
  first: ControlPlaneProcess,
  { client, writers, informers, random, rounds, appliesMin, troubles, done }: Battle,
): Promise<readonly string[]> {
  const { dataDirectory } = first
  const faults: string[] = []
  const enough = new AbortController()
  const over = new AbortController()
  const writing = Promise.all(
    writers.map((writer) => writer.run(enough.signal).catch((error: unknown) => faults.push(String(error)))),
  )
  const informing = Promise.all(informers.map((informer) => informer.run(over.signal)))
  const moments = random.fork('kills')
  let plane = first
  try {
    for (let round = 1; round <= rounds; round++) {
      await sleep(20 + moments.next() * 500)
      const trouble = troubles[Math.floor(moments.next() * troubles.length)] ?? 'kill'
      done[trouble] = (done[trouble] ?? 0) + 1
      if (trouble === 'kill') plane = await killAndStart(plane, moments)
      if (trouble === 'full disk') await fillDisk(plane, moments)
      if (trouble === 'clock jump') jumpClock(plane, moments)
      faults.push(...(await lostWrites(client, writers)).map((fault) => `after ${trouble} ${round}: ${fault}`))
    }
    await Promise.race([writing, untilTrue(() => appliesOf(writers) >= appliesMin)])
    enough.abort()
    await writing
    faults.push(...(await restingFaults(client, writers, outsideOf(dataDirectory).files)))
    faults.push(...(await staleCaches(client, informers)))
  } finally {
    over.abort()
    await informing
    await plane.stop('SIGKILL')
  }
  return faults
}

/** Kills the process and starts another; one in three that start is killed before it is ready. */
async function killAndStart(plane: ControlPlaneProcess, moments: SeededRandom): Promise<ControlPlaneProcess> {
  const again = { program, dataDirectory: plane.dataDirectory, port: Number(new URL(plane.url).port) }
  await plane.stop('SIGKILL')
  while (moments.next() < 0.33) {
    const starting = await startLocalProgram(again)
    await sleep(moments.next() * 600)
    await starting.stop('SIGKILL')
  }
  return startControlPlane(again)
}

async function untilTrue(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(50)
}

function allWritten(writers: readonly Writer[]): readonly WrittenItem[] {
  return writers.flatMap(({ written }) => written)
}

// oxlint-disable-next-line typescript/no-explicit-any -- what the server says is looked into, not relied on
type Listed = ReadonlyMap<string, any>

async function list(client: ApiClient, path: string): Promise<Listed> {
  const { body } = await client.send(`GET ${path}`)
  return new Map(body.items.map((item: { readonly metadata: { readonly name: string } }) => [item.metadata.name, item]))
}

/**
 * Acknowledged writes that are not there. Writers go on meanwhile: what they were told before the look is what counts.
 */
async function lostWrites(client: ApiClient, writers: readonly Writer[]): Promise<readonly string[]> {
  const told = allWritten(writers)
  const found = await list(client, items)
  const now = new Map(allWritten(writers).map((item) => [item.name, item]))
  return told.flatMap(({ name, live, gone }) => {
    const item = found.get(name)
    if (item !== undefined && gone.includes(item.metadata.uid)) return [`${name} is back after it was gone`]
    // Deleted since, perhaps made anew.
    if (live === undefined || now.get(name)?.isDeleting === true || now.get(name)?.live?.uid !== live.uid) return []
    if (item === undefined) return [`${name} is missing, value ${live.value} was acknowledged`]
    if (item.metadata.uid !== live.uid) return [`${name} is another object`]
    if (item.spec.value < live.value) return [`${name} has value ${item.spec.value}, ${live.value} was acknowledged`]
    if (BigInt(item.metadata.resourceVersion) < BigInt(live.resourceVersion)) return [`${name} has an older version`]
    return []
  })
}

/** What is not at rest as it was last declared, when there was time for it. */
async function restingFaults(client: ApiClient, writers: readonly Writer[], files: string): Promise<readonly string[]> {
  try {
    await eventually(async () => {
      const faults = await unrest(client, writers, files)
      if (faults.length > 0) throw new Error(faults.join('\n'))
    }, 60_000)
    return []
  } catch (error) {
    return (error as Error).message.split('\n')
  }
}

/**
 * What the caches of clients have that is not so, when there was time for it. Who is cut off after each few events may
 * be thousands of them behind on a busy machine, and has time for as long as it gets on.
 */
async function staleCaches(client: ApiClient, informers: readonly Informer[]): Promise<readonly string[]> {
  if (informers.length === 0) return []
  const { list: listItems } = apiSource(client, items)
  let faults: readonly string[] = []
  for (let minute = 0, told = -1; minute < catchUpMinutesMax && told < eventsOf(informers); minute++) {
    told = eventsOf(informers)
    try {
      await eventually(async () => {
        const stale = staleness(informers, (await listItems(new AbortController().signal)).items)
        if (stale.length > 0) throw new Error(stale.join('\n'))
      }, 60_000)
      return []
    } catch (error) {
      faults = (error as Error).message.split('\n')
    }
  }
  return faults
}

/** Bookmarks are events, too, and so what a client is told never ends. */
const catchUpMinutesMax = 20

function eventsOf(informers: readonly Informer[]): number {
  return informers.reduce((total, { counts }) => total + counts.events, 0)
}

async function unrest(client: ApiClient, writers: readonly Writer[], files: string): Promise<readonly string[]> {
  const found = await list(client, items)
  const children = await list(client, '/api/v1/namespaces/default/configmaps')
  const outside = new Set(readdirSync(files))
  const faults = allWritten(writers).flatMap(({ name, live }) => {
    const item = found.get(name)
    if (live === undefined) return item === undefined ? [] : [`${name} is there though it was deleted`]
    if (item === undefined) return [`${name} is missing`]
    const { metadata, spec, status } = item
    outside.delete(metadata.uid)
    const is = {
      value: spec.value,
      status: status.value,
      observed: status.observedGeneration === metadata.generation,
      waiting: status.reconcile,
      child: children.get(name)?.data.value,
    }
    const shouldBe = { value: live.value, status: live.value, observed: true, child: String(live.value) }
    return JSON.stringify(is) === JSON.stringify(shouldBe) ? [] : [`${name} is ${JSON.stringify(is)}`]
  })
  const orphans = [...children.keys()].filter((name) => !found.has(name)).map((name) => `the child of ${name} is left`)
  return [...faults, ...orphans, ...[...outside].map((uid) => `the file of ${uid} is left`)]
}
