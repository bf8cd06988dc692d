import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { defineKind, defineReconciler, done, type Controller, type Duration } from '../../shared/index.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { startServices, startWholePath, type WholePath } from '../aws/whole-path.ts'
import { countedTransport, type RequestTally } from '../support/aws-requests.ts'
import type { Transport } from '../../shared/testing-aws/dynalite.ts'

/** What one of each costs in requests, capacity and log, by the real functions on dynalite and fauxqs. */
export interface Measured {
  /** A minute in which nothing is to be done, with no controller of the user's. */
  readonly tick: Cost
  /** The same for each controller of the user's. */
  readonly tickOfController: Cost
  /** A change of a spec by the API that converges in one run. */
  readonly change: Cost
  /** A creation that converges in one run. */
  readonly creation: Cost
  /** A resync that finds nothing to do. */
  readonly resync: Cost
  /** A read of one object by the API. */
  readonly read: Cost
  /** Series that the metrics of the whole, and of each controller, make in CloudWatch. */
  readonly series: { readonly whole: number; readonly perController: number }
}

/** Requests to the queues without what the mapping receives and deletes: that is reckoned from its batches. */
export interface Cost {
  readonly readUnits: number
  readonly writeUnits: number
  readonly queueRequests: number
  readonly logBytes: number
}

/** A tick in which nothing is to be done, of a control plane with so many controllers. */
export interface IdleTick extends Cost {
  /** Series that it writes to CloudWatch. */
  readonly series: number
}

/** With the first one they fill the batches that the queue is sent, as very many objects do. */
const objects = 19
const minuteMs = 60_000

/** Takes some ten seconds. `objectBytes`: of the objects' text. */
export async function measure(objectBytes: number): Promise<Measured> {
  const [none, two] = await Promise.all([measureTick(0), measureTick(2)])
  const tickOfController = scaled(minus(two, none), 0.5)
  return { tick: none, tickOfController, ...(await measureLife(objectBytes)) }
}

interface Run {
  readonly plane: WholePath
  /** Waits until nobody asks DynamoDB for anything any more; what was asked for since the last time. */
  take(): Promise<Cost>
}

/** Takes some seconds. */
export async function measureTick(controllers: number): Promise<IdleTick> {
  // Minutes to the millisecond, however long this machine takes for one: which tick looks at what goes by the time.
  let nowMs = Date.now()
  const run = await start(
    Array.from({ length: controllers }, (_, i) => widgets(i, () => {})),
    () => nowMs - Date.now(),
  )
  await using plane = run.plane
  const ticks: IdleTick[] = []
  for (let minute = 0; minute < 7; minute++) {
    await run.take()
    const before = plane.lines.length
    nowMs += minuteMs
    await plane.tick()
    ticks.push({ ...(await run.take()), series: seriesWritten(plane.lines.slice(before)).length })
  }
  // The first ones make what is not there yet. One in five looks at the safety net.
  const some = ticks.slice(2)
  const { series = 0 } = some.at(-1) ?? {}
  return { ...mapped((part) => sum(some.map((tick) => tick[part])) / some.length), series }
}

async function measureLife(objectBytes: number): Promise<Omit<Measured, 'tick' | 'tickOfController'>> {
  let runs = 0
  let aheadMs = 0
  const controller = widgets(0, () => void runs++, '1m')
  const run = await start([controller], () => aheadMs)
  await using plane = run.plane
  const until = async (count: number): Promise<Cost> => {
    let before = -1
    for (let waitedMs = 0; runs < count; waitedMs = runs === before ? waitedMs + 20 : 0) {
      if (waitedMs > minuteMs) throw new Error(`nothing has run for a minute, after ${runs} runs of ${count}`)
      before = runs
      await sleep(20)
    }
    return run.take()
  }
  const path = '/apis/cost.setpoint.dev/v1/namespaces/default/widget0s'
  const names = Array.from({ length: objects }, (_, i) => `object-${i}`)
  const filling = words(Math.max(0, objectBytes - plainBytes))
  // The first of each warms what is kept between requests.
  await expectOk(plane, `POST ${path}`, { metadata: { name: 'first' }, spec: { size: 0, filling } })
  await until(1)

  for (const name of names) await expectOk(plane, `POST ${path}`, { metadata: { name }, spec: { size: 0, filling } })
  const creation = await until(1 + objects)

  for (const name of names) await expectOk(plane, `PATCH ${path}/${name}`, { spec: { size: 1 } })
  const change = await until(1 + 2 * objects)

  for (const name of names) await expectOk(plane, `GET ${path}/${name}`)
  const read = await until(1 + 2 * objects)

  let tickedMs = 0
  const tick = async (): Promise<void> => {
    await plane.tick()
    tickedMs = Date.now()
  }
  /**
   * A whole period after the end of the last one, so that no object is left out, and not much more: of the objects
   * behind it there would be two resyncs.
   */
  const tickOnTime = (): Promise<void> => {
    aheadMs += Math.max(0, minuteMs - (Date.now() - tickedMs))
    return tick()
  }
  await tick()
  await plane.knowQuick(controller.name)
  await run.take()
  const before = runs
  await tickOnTime()
  const swept = await until(before + 1 + objects)
  await expectOk(plane, `DELETE ${path}`)
  await run.take()
  await tickOnTime()
  const idle = await run.take()
  return {
    creation: scaled(creation, 1 / objects),
    change: scaled(change, 1 / objects),
    read: scaled(read, 1 / objects),
    resync: scaled(minus(swept, idle), 1 / (objects + 1)),
    series: seriesIn(plane.lines, controller.name),
  }
}

/** As much text as settings have in them: it takes half the bytes when it is packed. */
function words(length: number): string {
  const random = createSeededRandom(1)
  let text = ''
  while (text.length < length) text += `${random.uuid().slice(0, 8)}.example/`
  return text.slice(0, length)
}

/** Where other work takes the processors, the next step comes late. So a wait that itself ended late counts little. */
async function untilStill(count: () => number): Promise<void> {
  let before = count()
  for (let stillMs = 0; stillMs < settleMs;) {
    const startMs = performance.now()
    await sleep(settleMs / 10)
    const isLate = performance.now() - startMs > settleMs / 5
    stillMs = count() === before ? stillMs + settleMs / (isLate ? 100 : 10) : 0
    before = count()
  }
}

/** Longer than the stream and the queue take here for the next step. */
const settleMs = 1_000
/** What an object of ours has besides its filling. */
const plainBytes = 590

/** `tickAheadMs`: of the tick's clock alone. To the others, messages would have been in the queue for as long. */
async function start(controllers: readonly Controller[], tickAheadMs: () => number): Promise<Run> {
  const services = await startServices(undefined, 1)
  const dynamodb = countedTransport(services.dynamodb.transport)
  const sqs = countedTransport(services.sqs.transport)
  let requests = 0
  const counting: Transport = {
    handle: async (request) => {
      requests++
      return dynamodb.transport.handle(request)
    },
  }
  const plane = await startWholePath({
    controllers,
    // A tick sends all resyncs at once: that it asks about very many is reckoned apart.
    sharedConcurrency: 1_000,
    skewMs: (_, name) => (name === 'resync' ? tickAheadMs() : 0),
    services: {
      ...services,
      dynamodb: { ...services.dynamodb, transport: counting },
      sqs: { ...services.sqs, transport: sqs.transport },
    },
  })
  let lines = 0
  return {
    plane,
    take: async () => {
      await untilStill(() => requests)
      const { readUnits, writeUnits, indexUnits } = dynamodb.take()
      const written = plane.lines.slice(lines)
      lines = plane.lines.length
      return {
        readUnits,
        writeUnits: writeUnits + sum(Object.values(indexUnits)),
        queueRequests: queueRequests(sqs.take()),
        logBytes: sum(written.map((line) => line.length)),
      }
    },
  }
}

function queueRequests({ calls }: RequestTally): number {
  return sum(
    Object.entries(calls).map(([name, count]) => (name.startsWith('Receive') || name.startsWith('Delete') ? 0 : count)),
  )
}

/** A controller that writes a status once for each generation. */
function widgets(nth: number, onRun: () => void, resync: Duration = '10h'): Controller {
  const kind = defineKind({
    group: 'cost.setpoint.dev',
    version: 'v1',
    kind: `Widget${nth}`,
    spec: z.object({ size: z.number().int(), filling: z.string() }),
    status: z.object({ size: z.number().int() }).partial(),
  })
  return defineReconciler(kind, {
    resync,
    reconcile: async ({ spec: { size } }) => {
      onRun()
      return done({ status: { size } })
    },
  })
}

async function expectOk(plane: WholePath, line: string, body?: unknown): Promise<void> {
  const type = line.startsWith('PATCH') ? 'application/merge-patch+json' : 'application/json'
  const { status, body: said } = await plane.request(line, body, type)
  if (status >= 300) throw new Error(`${line}: ${status} ${JSON.stringify(said)}`)
}

/** Pairs of a metric and the values of its dimensions: what CloudWatch bills as a metric each. */
function seriesIn(lines: readonly string[], controller: string): Measured['series'] {
  const series = seriesWritten(lines)
  const perController = series.filter((one) => one.includes(controller)).length
  return { whole: series.length - perController, perController }
}

function seriesWritten(lines: readonly string[]): readonly string[] {
  return [...new Set(lines.flatMap((line) => seriesOf(JSON.parse(line) as EmbeddedMetrics)))]
}

function seriesOf(said: EmbeddedMetrics): readonly string[] {
  const about = said['_aws']?.CloudWatchMetrics ?? []
  return about.flatMap(({ Dimensions, Metrics }) =>
    Dimensions.flatMap((dimensions) => {
      const values = dimensions.map((name) => String(said[name]))
      return Metrics.map(({ Name }) => [Name, ...values].join())
    }),
  )
}

interface EmbeddedMetrics {
  readonly _aws?: {
    readonly CloudWatchMetrics: readonly {
      readonly Dimensions: readonly (readonly string[])[]
      readonly Metrics: readonly { readonly Name: string }[]
    }[]
  }
  readonly [dimension: string]: unknown
}

function scaled(cost: Cost, factor: number): Cost {
  return mapped((part) => cost[part] * factor)
}

function minus(cost: Cost, other: Cost): Cost {
  return mapped((part) => Math.max(0, cost[part] - other[part]))
}

function mapped(value: (part: keyof Cost) => number): Cost {
  return {
    readUnits: value('readUnits'),
    writeUnits: value('writeUnits'),
    queueRequests: value('queueRequests'),
    logBytes: value('logBytes'),
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
