import { storedAs, type ServedKind } from '../../model/served-kind.ts'
import type { ObjectList } from '../../resources/resources.ts'
import type { ApiServices, Call, VerbHandler } from '../call.ts'
import { withDamageWarnings } from '../damage-warnings.ts'
import { errorFields } from '../failure.ts'
import { reachVersion } from '../fresh-version.ts'
import { textParameter } from '../query.ts'
import { selectPages, type Pages, type SelectedOptions } from '../select-objects.ts'
import { selectionOf } from '../selection.ts'
import { viewOf } from '../view.ts'
import { createLiveKinds, type LiveChanges } from '../watch/live-changes.ts'
import {
  createChangingMembership,
  createFixedMembership,
  resumeMembership,
  type Membership,
} from '../watch/membership.ts'
import { watchOptions, type WatchStart } from '../watch/options.ts'
import { beginPast } from '../watch/past.ts'
import { createWatchSlots } from '../watch/slots.ts'
import type { Stream } from '../watch/stream-state.ts'
import { bookmarkMs, dueMs, pieces } from '../watch/stream.ts'

/**
 * `GET` of a collection with `watch`: what happens to it, line by line, until the client leaves or its time is over.
 */
export function createWatch(services: ApiServices): VerbHandler {
  const slots = createWatchSlots(services.watchesMax ?? 1_000)
  const liveOf = createLiveKinds(services)
  return async (call) => {
    if (call.request.header('upgrade')?.toLowerCase() === 'websocket') return noWebsocket
    const release = slots.take(call.request.signal)
    try {
      const options = watchOptions(call.request)
      await reachVersion(options.notOlderThan, services, call.request.signal)
      const { stream, first } = await open(call, { options, services, liveOf, release })
      return withDamageWarnings({ status: 200, headers, body: pieces(stream) }, first)
    } catch (error) {
      release()
      throw error
    }
  }
}

const headers = { 'content-type': 'application/json', 'cache-control': 'no-cache, private' }

/**
 * There are no websockets. Clients that ask for one first, such as fabric8's of Java, ask again without once the answer
 * has ended; a stream would leave them waiting for its end.
 */
const noWebsocket = { status: 200, headers, body: '' } as const

interface Opening {
  readonly options: WatchStart
  readonly services: ApiServices
  readonly liveOf: (kind: ServedKind) => LiveChanges
  readonly release: () => void
}

async function open(call: Call, opening: Opening): Promise<{ readonly stream: Stream; readonly first: FirstPage }> {
  const { services, options } = opening
  const selected = { kind: call.kind, selection: selectionOf(call) }
  const start = await startOf(selected, options, services)
  const stream = createStream(call, opening, start)
  const { live, signal } = stream
  signal.addEventListener('abort', () => stream.cut(), { once: true })
  try {
    await live.join(stream)
    stream.past = await beginPast(stream, services.clock)
  } catch (error) {
    live.leave(stream)
    throw error
  }
  if (signal.aborted) stream.cut()
  return { stream, first: start.first }
}

function createStream(call: Call, { options, services, liveOf, release }: Opening, start: Start): Stream {
  const { clock, feed, logger } = services
  const { kind, request, info } = call
  const { signal } = request
  const live = liveOf(kind)
  const view = viewOf(call, clock)
  const nowMs = clock.nowMs()
  const stream: Stream = {
    kind,
    view,
    clock,
    signal,
    live,
    membership: start.membership,
    sharedAs: start.isFixed ? shareNameOf(call, view.name) : undefined,
    bookmarks: options.bookmarks,
    marksInitialEnd: options.marksInitialEnd,
    endsAtMs: options.timeoutMs === undefined ? Infinity : nowMs + options.timeoutMs,
    follow: (after) => feed.follow({ after, of: storedAs(kind), signal })[Symbol.asyncIterator](),
    onFailure: (error) => logger.error('watch failed', { resource: info.resource, ...errorFields(error) }),
    onEnd: () => {
      live.leave(stream)
      release()
    },
    wake: () => stream.resume?.(),
    cut: (failure) => {
      stream.isCut = true
      stream.failure = failure
      stream.rest = undefined
      stream.at = undefined
      stream.onEnd()
      stream.resume?.()
    },
    initial: start.initial,
    leftOut: [],
    past: undefined,
    at: undefined,
    position: start.after,
    overlap: new Map(),
    hasSent: false,
    rest: undefined,
    dueAtMs: 0,
    wroteAtMs: nowMs,
    isTaken: true,
    bookmarkAtMs: nowMs + bookmarkMs,
    isCut: false,
    failure: undefined,
    resume: undefined,
  }
  stream.dueAtMs = dueMs(stream)
  return stream
}

/** Who is told the same: a selection by name and namespace only, in one view. */
function shareNameOf({ info, kind, request: { query } }: Call, view: string): string {
  return JSON.stringify([view, kind.namespaced ? info.namespace : '', textParameter(query, 'fieldSelector') ?? ''])
}

/** What the head of the answer can still warn of. */
type FirstPage = Pick<ObjectList, 'damaged'>

interface Start {
  readonly after: string
  readonly initial: Stream['initial']
  /** Of the initial objects. */
  readonly first: FirstPage
  readonly membership: Membership
  /** Whether an object neither enters nor leaves by a change. */
  readonly isFixed: boolean
}

async function startOf(selected: SelectedOptions, options: WatchStart, services: ApiServices): Promise<Start> {
  const isFixed = !selected.selection.isMutable
  if (options.tellsInitial) return { isFixed, ...(await startOfPresent(selected, services)) }
  const after = options.after ?? (await services.feed.latest())
  const membership = isFixed ? createFixedMembership(selected.selection) : await resumeMembership(selected, services)
  return { isFixed, after, initial: undefined, first: {}, membership }
}

/** From the objects there are: the first page tells where their changes begin. */
async function startOfPresent(selected: SelectedOptions, services: ApiServices): Promise<Omit<Start, 'isFixed'>> {
  const { selection } = selected
  const pages = selectPages(selected, services)
  const first = (await pages()) as ObjectList
  const membership = selection.isMutable ? createChangingMembership(selection) : createFixedMembership(selection)
  return { after: first.resourceVersion, initial: pagesFrom(first, pages), first, membership }
}

function pagesFrom(first: ObjectList, rest: Pages): Pages {
  let next: ObjectList | undefined = first
  return async () => {
    const page = next ?? (await rest())
    next = undefined
    return page
  }
}
