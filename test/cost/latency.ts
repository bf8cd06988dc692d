import { assumed } from './bill.ts'

/**
 * How soon a change is carried out, from the request to the status: which requests follow each other is counted, and
 * how long each takes is assumed. Functions are warm, and nothing waits.
 */

/** Of a change that converges in one run, as the functions make them (test/aws/frugal.long.test.ts). */
export const requestsOfChange = {
  'api GetItem': 1,
  'api UpdateItem': 1,
  'api SendMessageBatch': 1,
  'relay SendMessageBatch': 1,
  'reconcile GetItem': 1,
  'reconcile UpdateItem': 1,
} as const

/** Milliseconds at the median. */
const assumedMs = {
  GetItem: 10,
  UpdateItem: 10,
  SendMessageBatch: 10,
  /** From a queue that has a message to the function. */
  queueMapping: 30,
  /** Between two looks at a shard of the stream, of which half is waited for; and the call of the relay. */
  streamPoll: 250,
  streamCall: 50,
  /** What the relay does with a batch. */
  relay: assumed.relayMs,
  /** A reconciler that calls nobody, and what is around it. */
  reconciler: 40,
} as const

type Way = 'api' | 'relay'

interface Row {
  readonly what: string
  readonly ms: Readonly<Partial<Record<Way, number>>>
}

const ways = ['api', 'relay'] as const

function rows(): readonly Row[] {
  const both = (ms: number): Row['ms'] => ({ api: ms, relay: ms })
  const { streamPoll, streamCall, queueMapping, reconciler, relay } = assumedMs
  return [
    { what: 'the API reads and writes the object', ms: both(sumOf('api', ['GetItem', 'UpdateItem'])) },
    {
      what: "the stream's mapping looks, four times a second, and calls the relay",
      ms: { relay: streamPoll / 2 + streamCall },
    },
    { what: 'the relay', ms: { relay } },
    {
      what: "the message is sent, and the queue's mapping hands it over",
      ms: {
        api: sumOf('api', ['SendMessageBatch']) + queueMapping,
        relay: sumOf('relay', ['SendMessageBatch']) + queueMapping,
      },
    },
    {
      what: 'the run: a read, the reconciler, a write',
      ms: both(sumOf('reconcile', ['GetItem', 'UpdateItem']) + reconciler),
    },
  ]
}

/** What its requests of these sorts take, one after the other. */
function sumOf(
  by: 'api' | 'relay' | 'reconcile',
  sorts: readonly ('GetItem' | 'UpdateItem' | 'SendMessageBatch')[],
): number {
  const counted: Readonly<Record<string, number>> = requestsOfChange
  return sorts.reduce((sum, sort) => sum + (counted[`${by} ${sort}`] ?? 0) * assumedMs[sort], 0)
}

/** From the request to the status, where the API wakes the reconciler or leaves that to the relay. */
export function latencyMs(way: Way): number {
  return rows().reduce((sum, { ms }) => sum + (ms[way] ?? 0), 0)
}

/**
 * What starts one after the other where nothing is warm: milliseconds of processor time in the worst of thirty starts,
 * as `npm run bundles -- --starts 30` measured them on 2026-11-27.
 */
const worstStartsMs = { authorizer: 84, api: 212, reconcile: 209 } as const

/** Lambda's own part of each start, assumed: a machine, the code, and a processor that the start has for itself. */
const environmentMs = 150

/** From the request to the status where all three functions start, at the worst of what was measured. */
export function coldMs(): number {
  const starts = Object.values(worstStartsMs)
  return starts.reduce((sum, ms) => sum + ms + environmentMs, 0) + latencyMs('api')
}

/** For docs/aws.md. */
export function coldSum(): string {
  const { authorizer, api, reconcile } = worstStartsMs
  return `${authorizer} + ${api} + ${reconcile} ms, ${environmentMs} ms for each of Lambda's own (assumed), and the ${latencyMs('api')} ms of a warm change: ${(coldMs() / 1_000).toFixed(2)} s`
}

/** For docs/aws.md. */
export function latencyTable(): string {
  const line = (what: string, ms: Row['ms']): string => `| ${what} | ${ways.map((way) => ms[way] ?? '').join(' | ')} |`
  return [
    '| from the request to the status, at the median, in ms | by the API | by the relay alone |',
    '| --- | --- | --- |',
    ...rows().map(({ what, ms }) => line(what, ms)),
    line('in all', { api: latencyMs('api'), relay: latencyMs('relay') }),
  ]
    .join('\n')
    .replaceAll('|  |', '| |')
}
