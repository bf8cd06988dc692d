import { objectText } from '../../model/object-text.ts'
import { storedAs, type ServedKind } from '../../model/served-kind.ts'
import type { Change, ChangeBatch, ChangeFeed } from '../../ports/change-feed.ts'
import type { Clock } from '../../ports/clock.ts'
import { convertIfPossible } from '../../resources/await-conversion.ts'
import type { KindCatalog } from '../../resources/kind-catalog.ts'
import { shownIn, type Unshown } from './shown-changes.ts'
import type { Text } from './text-pieces.ts'

/**
 * The changes of one kind from now on, read once for all watchers that are up to date. Segments hang in a chain that
 * grows at its tail; each watcher holds the last segment it has read, and what all have read is garbage. A watcher that
 * is too far behind loses its place, and reads the log by itself until it is up to date again.
 */
export interface LiveChanges {
  /** Adds a watcher, which is woken from now on; its place is the present tail. Throws what the feed throws. */
  join(watcher: Watcher): Promise<void>
  /** The watcher, which is there already, is at the present tail. */
  rejoin(watcher: Watcher): void
  /** The watcher has said anew when it is due. */
  remind(watcher: Watcher): void
  leave(watcher: Watcher): void
}

export interface Watcher {
  /** The last segment it has read; `undefined` while it reads the log by itself. */
  at: Segment | undefined
  /** When it wants to be woken though nothing happened. */
  dueAtMs: number
  /** When it last gave its client something, and whether the client has taken it. */
  wroteAtMs: number
  isTaken: boolean
  /** There is a new segment, or the time has come. */
  wake(): void
  /** The watch ends: the client does not read, or the feed has failed. */
  cut(failure?: Error): void
  /** The watch ends after what is on its way. May come more than once. */
  end(): void
}

/** A batch of changes that watchers share, with the texts that were made of it. */
export interface Segment {
  readonly changes: readonly Change[]
  /** What changed and cannot be shown in this version: those who watch it end. */
  readonly unshown: readonly Unshown[]
  /** Everything up to here has been told. Moves on at the tail while nothing happens. */
  resourceVersion: string
  /** The characters of its objects. */
  readonly length: number
  /** The characters of all segments up to this one. */
  readonly total: number
  /** By what a watcher wants to be told of the changes, and how. */
  readonly texts: Map<string, Text>
  next: Segment | undefined
}

/** So far a watcher may be behind the others, in characters of objects. */
const lagMax = 4_000_000
/** A client that takes nothing for so long is cut off. */
const stallMs = 30_000
/** So many watchers are woken at a time. Other requests are served before the next of them are. */
const wokenAtOnce = 32
/**
 * Deliveries rest so long for each watcher, which is two to three times what one costs: they take less than half of a
 * core, and what changes meanwhile goes out together.
 */
const restMsPerWatcher = 0.1

/** One chain per kind that is watched. A kind whose definition has changed is another one. */
export function createLiveKinds(services: Services): (kind: ServedKind) => LiveChanges {
  const kinds = new WeakMap<ServedKind, LiveChanges>()
  return (kind) => {
    const live = kinds.get(kind) ?? createLiveChanges(kind, services)
    kinds.set(kind, live)
    return live
  }
}

interface Services {
  readonly feed: ChangeFeed
  readonly clock: Clock
  readonly catalog: Pick<KindCatalog, 'byPlural'>
}

/** What there is while there are watchers. */
interface Run {
  readonly kind: ServedKind
  readonly watchers: Set<Watcher>
  readonly over: AbortController
  tail: Segment
  alarm: AbortController
  alarmAtMs: number
}

function createLiveChanges(kind: ServedKind, services: Services): LiveChanges {
  let running: Promise<Run> | undefined
  let run: Run | undefined

  const stop = (ended: Run): void => {
    ended.over.abort('nobody watches')
    ended.alarm.abort('nobody watches')
    if (run !== ended) return
    run = undefined
    running = undefined
  }

  const start = async (): Promise<Run> => {
    const started: Run = {
      kind,
      watchers: new Set(),
      over: new AbortController(),
      tail: segmentAt(await services.feed.latest()),
      alarm: new AbortController(),
      alarmAtMs: Infinity,
    }
    run = started
    void followFeed(started, services).catch((error: unknown) => {
      stop(started)
      const failure = error instanceof Error ? error : new Error(String(error))
      for (const watcher of started.watchers) watcher.cut(failure)
    })
    void ring(started, services)
    return started
  }

  const join: LiveChanges['join'] = async (watcher) => {
    running ??= start().catch((error: unknown) => {
      running = undefined
      throw error
    })
    const joined = await running
    // The last of the others may have left since.
    if (joined.over.signal.aborted) return join(watcher)
    joined.watchers.add(watcher)
    watcher.at = joined.tail
    ringBy(joined, watcher.dueAtMs)
  }

  return {
    join,
    rejoin: (watcher) => {
      watcher.at = run?.tail
    },
    remind: (watcher) => {
      if (run !== undefined) ringBy(run, watcher.dueAtMs)
    },
    leave: (watcher) => {
      if (run === undefined || !run.watchers.delete(watcher)) return
      if (run.watchers.size === 0) stop(run)
    },
  }
}

async function followFeed(run: Run, services: Services): Promise<void> {
  const { feed, clock, catalog } = services
  const { kind, over } = run
  const of = storedAs(kind)
  for await (const batch of feed.follow({ after: run.tail.resourceVersion, of, signal: over.signal })) {
    // Of a kind that is gone the last changes are still told.
    if ((await fateOf(kind, catalog)) === 'other') {
      endAll(run)
      continue
    }
    if (kind.conversion?.prepare !== undefined) await convertIfPossible(kind, storedIn(batch.changes))
    append(run, batch)
    if (batch.changes.length > 0) await wakeAll(run, clock)
  }
}

/**
 * Whether the definition of the kind is the one it was, is another one, or serves it no more. A definition that cannot
 * be read has said nothing.
 */
async function fateOf(kind: ServedKind, catalog: Services['catalog']): Promise<'same' | 'other' | 'gone'> {
  if (kind.definedBy === undefined) return 'same'
  try {
    const present = await catalog.byPlural(kind.group, kind.version, kind.plural)
    if (present === undefined) return 'gone'
    return present.definedBy === kind.definedBy ? 'same' : 'other'
  } catch {
    return 'same'
  }
}

/** What its definition says by now a client learns by its next request, as with Kubernetes. */
function endAll({ watchers }: Run): void {
  for (const watcher of watchers) watcher.end()
}

function storedIn(changes: readonly Change[]): readonly Change['stored'][] {
  return changes.map(({ stored }) => stored)
}

async function wakeAll({ watchers, over }: Run, clock: Clock): Promise<void> {
  let woken = 0
  let owedMs = 0
  for (const watcher of watchers) {
    watcher.wake()
    owedMs += restMsPerWatcher
    if (++woken % wokenAtOnce > 0 && woken < watchers.size) continue
    const restMs = Math.floor(owedMs)
    owedMs -= restMs
    if (restMs > 0) await clock.sleep(restMs, over.signal)
  }
}

function append(run: Run, { changes, resourceVersion }: ChangeBatch): void {
  if (changes.length === 0) {
    run.tail.resourceVersion = resourceVersion
    return
  }
  const shown = shownIn(run.kind, changes)
  const length = shown.changes.reduce((sum, { stored }) => sum + objectText(stored.object).length, 0)
  const segment: Segment = { ...segmentAt(resourceVersion), ...shown, length, total: run.tail.total + length }
  run.tail.next = segment
  run.tail = segment
  for (const watcher of run.watchers)
    if (watcher.at !== undefined && segment.total - watcher.at.total > lagMax + length) watcher.at = undefined
}

/** An empty one, as the beginning of a chain. */
function segmentAt(resourceVersion: string): Segment {
  return { changes: [], unshown: [], resourceVersion, length: 0, total: 0, texts: new Map(), next: undefined }
}

/**
 * Wakes each watcher when it is due: one timer for all of them. Cuts off those whose clients do not read, and ends all
 * when the definition of the kind is another one.
 */
async function ring(run: Run, { clock, catalog }: Services): Promise<void> {
  const { kind, watchers, over } = run
  while (!over.signal.aborted) {
    if ((await fateOf(kind, catalog)) !== 'same') endAll(run)
    const nowMs = clock.nowMs()
    for (const watcher of watchers) {
      const { dueAtMs, isTaken, wroteAtMs } = watcher
      // A clock that was put back says nothing of when the watcher is due.
      if (!isTaken && Math.abs(nowMs - wroteAtMs) >= stallMs) watcher.cut()
      else if (dueAtMs <= nowMs || wroteAtMs > nowMs) watcher.wake()
    }
    run.alarm = new AbortController()
    run.alarmAtMs = nextDueMs(watchers, nowMs)
    await clock.sleep(run.alarmAtMs - nowMs, run.alarm.signal)
  }
}

function ringBy(run: Run, dueAtMs: number): void {
  if (dueAtMs < run.alarmAtMs) run.alarm.abort('earlier')
}

const ringMaxMs = 10_000

/** The next time at which somebody is due. Who is due now has been woken, and says anew when it has been heard. */
function nextDueMs(watchers: ReadonlySet<Watcher>, nowMs: number): number {
  let dueMs = nowMs + ringMaxMs
  for (const { dueAtMs } of watchers) if (dueAtMs > nowMs && dueAtMs < dueMs) dueMs = dueAtMs
  return dueMs
}
