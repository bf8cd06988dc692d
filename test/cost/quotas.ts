import { createRecordings } from '../../shared/adapters/aws/dynamodb/dynamodb-recordings.ts'
import { feedPartition, objectItemKey } from '../../shared/adapters/aws/dynamodb/dynamodb-keys.ts'
import { findQueue, type QueuePlan } from '../../shared/engine/wake/queue-plan.ts'
import type { ObjectKey } from '../../shared/model/object-key.ts'
import { createVirtualClock } from '../../shared/testing/virtual-clock.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { assumed } from './bill.ts'
import { latencyMs } from './latency.ts'
import { createNotesClient } from './notes-client.ts'

/** What is asked of a control plane for a while, and what it may use. */
export interface QuotaScene {
  readonly name: string
  readonly objects: number
  readonly changesPerSecond: number
  /** Kinds that the changes are spread over, each of one controller. */
  readonly kinds: number
  readonly isWatched: boolean
  readonly resyncHours: number
  /** Of each controller. */
  readonly queues: number
  readonly ticksAtOnce: number
  readonly relaysPerShard: number
  /** Lambda's, of the account. */
  readonly concurrency: number
  /** Write units of the table with its indexes, a second. */
  readonly tableUnits: number
  /** Calls of each action of SQS for one queue, a second: by Region. */
  readonly fifoCalls: number
  /** Of an object in the stream. */
  readonly objectBytes: number
}

/** A second of it. */
export interface QuotaSecond {
  readonly asked: number
  readonly accepted: number
  readonly converged: number
  /** From the request to the status, of a change that is asked for now. */
  readonly waitMs: number
  /** Of the index of changes, for one kind. */
  readonly buckets: number
  readonly units: number
  readonly functions: number
  /** What holds back most. */
  readonly bound: Bound
}

export type Bound = 'nothing' | 'partitions of the table' | 'buckets of the index' | 'units of the table' | Downstream
type Downstream = 'calls of the queues' | 'functions at once' | 'the relay'

/** By AWS's documents, and by what our functions were counted to do. */
const limits = {
  partitionUnits: 1_000,
  /** So many calls a second a tick makes, with ten wake-ups each (assumed). */
  tickKeysPerSecond: 500,
  /** One function of a mapping. */
  mappingFunctions: 1_000,
  queueBatch: 10,
  streamBatch: 100,
  batchBytes: 6_000_000,
  /** What the relay takes for a whole batch (assumed). */
  relayBatchMs: 100,
  /** With both images of a record. */
  imagesPerRecord: 2,
  /** Of a change, when nothing waits: woken by the API, and by the relay alone. */
  directMs: latencyMs('api'),
  relayedMs: latencyMs('relay'),
} as const

/** So often it is looked how many buckets the writers use, where there are to be more. */
const lookSeconds = 10

/** Second by second, from rest on. Nothing is left to chance. */
export async function simulateQuotas(scene: QuotaScene, seconds: number): Promise<readonly QuotaSecond[]> {
  const clock = createVirtualClock()
  const recordings = createRecordings({
    client: createNotesClient(),
    table: 'objects',
    clock,
    random: createSeededRandom(1),
  })
  if (scene.isWatched) await recordings.record(kind)
  const done: QuotaSecond[] = []
  let buckets = 0
  let state: State = { toAccept: 0, toRelay: 0, toRun: 0, toStatus: 0 }
  for (let second = 0; second < seconds; second++) {
    const noted = (await recordings.listPartitions(kind)).length
    if (buckets < noted && second % lookSeconds === 0) buckets = await countBuckets(recordings)
    const { next, isIndexFull, ...seen } = passSecond(scene, state, buckets)
    // As the writer does that DynamoDB tells so.
    if (isIndexFull) await recordings.spread(kind)
    state = next
    done.push(seen)
    clock.moveTo(clock.nowMs() + 1_000)
  }
  return done
}

/** Changes that wait for each of their steps. */
interface State {
  readonly toAccept: number
  readonly toRelay: number
  readonly toRun: number
  readonly toStatus: number
}

interface PassedSecond extends QuotaSecond {
  readonly next: State
  readonly isIndexFull: boolean
}

function passSecond(scene: QuotaScene, state: State, buckets: number): PassedSecond {
  const wanted = state.toAccept + scene.changesPerSecond
  const room = roomForWrites(scene, buckets)
  const share = Math.min(1, room.writes / Math.max(1, wanted + state.toStatus))
  const accepted = wanted * share
  const converged = state.toStatus * share
  const down = roomForRuns(scene, accepted)
  const relayed = Math.min(state.toRelay + accepted, down.messages)
  const ran = Math.min(state.toRun + relayed, down.runs)
  const next: State = {
    toAccept: wanted - accepted,
    toRelay: state.toRelay + accepted - relayed,
    toRun: state.toRun + relayed - ran,
    toStatus: state.toStatus + ran - converged,
  }
  return {
    asked: scene.changesPerSecond,
    accepted,
    converged,
    waitMs: calmMs(scene, accepted) + 1_000 * waitOf(next, { accepted, relayed, ran, converged }),
    buckets,
    units: (accepted + converged) * unitsPerWrite(scene),
    functions: functionsAtOnce(scene, accepted, ran),
    bound: share < 1 ? room.bound : next.toRelay > 1 || next.toRun > 1 ? down.bound : 'nothing',
    next,
    isIndexFull: share < 1 && room.bound === 'buckets of the index',
  }
}

/** The API sends each wake-up by a call of its own, as long as the queue takes so many. */
function calmMs({ kinds, queues, fifoCalls }: QuotaScene, accepted: number): number {
  const ofRelay = accepted / limits.queueBatch
  const room = (kinds * fifoCalls) / hottestQueue(queues) - ofRelay
  return accepted <= room ? limits.directMs : limits.relayedMs
}

/** How long what waits for each step takes to be through, in seconds. What waits for the status is a second of work. */
function waitOf(
  state: State,
  rate: { readonly accepted: number; readonly relayed: number; readonly ran: number; readonly converged: number },
): number {
  const through = (waiting: number, perSecond: number): number => (waiting < 1 ? 0 : waiting / Math.max(1, perSecond))
  const status = Math.max(0, state.toStatus - rate.ran)
  return (
    through(state.toAccept, rate.accepted) +
    through(state.toRelay, rate.relayed) +
    through(state.toRun, rate.ran) +
    through(status, rate.converged)
  )
}

/** Of the table, and of the index where the kind is recorded, or for the timer of the safety net. */
function unitsPerWrite({ isWatched }: QuotaScene): number {
  return isWatched ? 3 : 2
}

/** How many writes of objects DynamoDB takes in a second: of the hottest partition, and of all. */
function roomForWrites(scene: QuotaScene, buckets: number): { readonly writes: number; readonly bound: Bound } {
  const ofIndex = unitsPerWrite(scene) - 1
  const rooms: readonly (readonly [Bound, number])[] = [
    [
      'partitions of the table',
      (scene.kinds * limits.partitionUnits) / hottest('table', (key) => objectItemKey(key).pk.S),
    ],
    [
      'buckets of the index',
      (scene.kinds * limits.partitionUnits) /
        (ofIndex * hottest(`index ${buckets}`, (key) => feedPartition(key, buckets))),
    ],
    ['units of the table', scene.tableUnits / unitsPerWrite(scene)],
  ]
  const [bound, writes] = rooms.reduce((least, room) => (room[1] < least[1] ? room : least))
  return { writes, bound }
}

/** How many wake-ups come through in a second, and how many are run, with the resyncs beside them. */
function roomForRuns(
  scene: QuotaScene,
  accepted: number,
): { readonly messages: number; readonly runs: number; readonly bound: Bound } {
  const { kinds, queues, fifoCalls, relaysPerShard, objectBytes } = scene
  const batch = Math.min(limits.streamBatch, limits.batchBytes / (limits.imagesPerRecord * objectBytes))
  // A change is two records. What the API could not send, the relay sends.
  const relay = (shardsOf(scene) * relaysPerShard * batch * 1_000) / limits.relayBatchMs / 2
  const perQueue = limits.queueBatch * fifoCalls
  const queued = (kinds * perQueue) / hottestQueue(queues)
  const others = (accepted * assumed.apiMs) / 1_000 + scene.ticksAtOnce + shardsOf(scene) * relaysPerShard
  const functions = Math.max(0, Math.min(kinds * queues * limits.mappingFunctions, scene.concurrency - others))
  const runs = (functions * limits.queueBatch * 1_000) / assumed.reconcileMs - resyncsPerSecond(scene)
  const messages = Math.min(relay, queued)
  const bound = runs < messages ? 'functions at once' : relay < queued ? 'the relay' : 'calls of the queues'
  return { messages, runs: Math.max(0, runs), bound }
}

/** What the ticks send of what is due. */
export function resyncsPerSecond({ objects, resyncHours, ticksAtOnce }: QuotaScene): number {
  return Math.min(
    objects / (resyncHours * 3_600),
    ticksAtOnce * limits.tickKeysPerSecond * (assumed.awakeSecondsMax / 60),
  )
}

function functionsAtOnce(scene: QuotaScene, accepted: number, ran: number): number {
  const runs = ((ran + resyncsPerSecond(scene)) * assumed.reconcileMs) / 1_000 / limits.queueBatch
  return runs + (accepted * assumed.apiMs) / 1_000 + (2 * accepted * assumed.relayMs) / 1_000 / limits.streamBatch
}

const kind = { group: 'example.com', kind: 'Widget' } as const
const sample: readonly ObjectKey[] = Array.from({ length: 20_000 }, (_, i) => ({
  ...kind,
  namespace: `team-${i % 50}`,
  name: `widget-${i}`,
}))

/** What the fullest of several places has of all, by the hashes that the program uses. */
function hottest(places: string, placeOf: (key: ObjectKey) => string): number {
  const known = shares.get(places)
  if (known !== undefined) return known
  const counts = [...Map.groupBy(sample, placeOf).values()].map((some) => some.length)
  const share = Math.max(...counts) / sample.length
  shares.set(places, share)
  return share
}

function hottestQueue(queues: number): number {
  const plan: QueuePlan = [[queues, 0]]
  return hottest(`queues ${queues}`, (key) => String(findQueue(plan, key, 1)))
}

const shares = new Map<string, number>()

/** A shard for each partition of a kind that is written to (assumed). */
function shardsOf({ kinds }: QuotaScene): number {
  return 8 * kinds
}

/** What writers use now: readers may know of more. */
async function countBuckets(recordings: ReturnType<typeof createRecordings>): Promise<number> {
  const entries = await Promise.all(sample.slice(0, 400).map((key) => recordings.findEntry(key)))
  return new Set(entries.map(({ partition }) => partition)).size
}
