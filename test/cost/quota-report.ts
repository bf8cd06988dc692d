import { assumed, billOf } from './bill.ts'
import type { Cost, Measured } from './measure.ts'
import { quotaPicture } from './quota-picture.ts'
import { simulateQuotas, type Bound, type QuotaScene } from './quotas.ts'

const ten = {
  objects: 10_000_000,
  changesPerSecond: 10_000,
  kinds: 4,
  isWatched: true,
  resyncHours: 10,
  queues: 1,
  ticksAtOnce: 1,
  relaysPerShard: 1,
  concurrency: 3_000,
  tableUnits: 100_000,
  fifoCalls: 70_000,
  objectBytes: 2_000,
} as const

/** Ten million objects, under quotas that are raised one by one, or are not. */
export const scenes: readonly QuotaScene[] = [
  { ...ten, name: "AWS's default quotas", concurrency: 1_000, tableUnits: 40_000 },
  { ...ten, name: 'raised: 100,000 write units, 3,000 functions' },
  { ...ten, name: 'the same, and nobody watches', isWatched: false },
  { ...ten, name: 'the same, but one kind', kinds: 1 },
  { ...ten, name: 'one kind, and nobody watches', kinds: 1, isWatched: false },
  { ...ten, name: 'raised, in a Region of 2,400 calls a queue', fifoCalls: 2_400 },
  { ...ten, name: 'raised, 300 calls a queue (not high throughput)', fifoCalls: 300 },
  { ...ten, name: 'the same, `queues: 4`', fifoCalls: 300, queues: 4 },
  { ...ten, name: 'raised, but 400 functions', concurrency: 400 },
  { ...ten, name: 'raised, resync each hour, `ticksAtOnce: 8`', resyncHours: 1, ticksAtOnce: 8 },
]

export interface Carried {
  readonly scene: QuotaScene
  /** Changes a second, for as long as one likes, in steps of a hundred. */
  readonly changesPerSecond: number
  /** What ends it; nothing, if more than twice what is asked for is carried. */
  readonly bound: Bound
  readonly waitMs: number
  readonly units: number
  readonly functions: number
  /** Seconds from rest until a change takes less than one. */
  readonly settledAfter: number
  readonly usdAMonth: number
}

/** Long enough for all buckets to be there. */
const seconds = 1_200
const step = 100

export async function carriedBy(scene: QuotaScene): Promise<Carried> {
  let [low, high] = [0, (2 * scene.changesPerSecond) / step]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (await isCarried(scene, middle * step)) low = middle
    else high = middle - 1
  }
  const changesPerSecond = low * step
  // What is asked for, or as much of it as is carried with a little room.
  const asked = Math.min(scene.changesPerSecond, changesPerSecond * 0.9)
  const all = await simulateQuotas({ ...scene, changesPerSecond: asked }, seconds)
  const more = await simulateQuotas({ ...scene, changesPerSecond: changesPerSecond + step }, seconds)
  const last = all.at(-1)
  return {
    scene,
    changesPerSecond,
    bound: low * step >= 2 * scene.changesPerSecond ? 'nothing' : (more.at(-1)?.bound ?? 'nothing'),
    waitMs: last?.waitMs ?? 0,
    units: last?.units ?? 0,
    functions: Math.ceil(last?.functions ?? 0),
    settledAfter: all.findLastIndex(({ waitMs }) => waitMs >= 1_000) + 1,
    usdAMonth: usdAMonth(scene, asked),
  }
}

async function isCarried(scene: QuotaScene, changesPerSecond: number): Promise<boolean> {
  const all = await simulateQuotas({ ...scene, changesPerSecond }, seconds)
  return (all.at(-1)?.waitMs ?? 0) < 1_000
}

const nothing: Cost = { readUnits: 0, writeUnits: 0, queueRequests: 0, logBytes: 0 }

/** As counted by test/contract/dynamodb-netted.test.ts and test/aws/frugal.long.test.ts. */
function countedFor({ isWatched }: QuotaScene): Measured {
  const change = { readUnits: 2, writeUnits: isWatched ? 6 : 4, queueRequests: 1.1, logBytes: 600 }
  return {
    tick: nothing,
    tickOfController: nothing,
    change,
    creation: change,
    resync: { ...nothing, readUnits: 1, queueRequests: 0.1 },
    read: { ...nothing, readUnits: 1 },
    series: { whole: 17, perController: 4 },
  }
}

function usdAMonth(scene: QuotaScene, changesPerSecond: number): number {
  const use = {
    objects: scene.objects,
    changesPerDay: changesPerSecond * 86_400,
    readsPerDay: 0,
    resyncHours: scene.resyncHours,
    controllers: scene.kinds,
    isolated: scene.kinds,
    objectBytes: scene.objectBytes,
  }
  return billOf(use, countedFor(scene)).usd
}

/** For docs/aws.md. */
export function quotaTable(all: readonly Carried[]): string {
  const rows = all.map(
    (one) =>
      `| ${one.scene.name} | ${whole(one.changesPerSecond)} | ${one.bound} | ${whole(one.waitMs)} | ${whole(one.units)} | ${whole(one.functions)} | ${one.settledAfter} s | $${dollars(one.usdAMonth)} |`,
  )
  return [
    `| 10 million objects, ${assumed.reconcileMs} ms a run | carries, changes/s | more is held back by | wait, ms | write units/s | functions | after | a month |`,
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n')
}

function whole(number: number): string {
  return Math.round(number).toLocaleString('en')
}

function dollars(usd: number): string {
  return usd.toLocaleString('en', { maximumSignificantDigits: 2 })
}

/** The first ten minutes of what is asked for, from rest, with quotas that are raised. */
export async function pictureOf(scene: QuotaScene): Promise<string> {
  const what = `${whole(scene.changesPerSecond)} changes a second of ${whole(scene.objects)} objects from rest: ${scene.name}; minutes`
  return quotaPicture(what, await simulateQuotas(scene, 600))
}
