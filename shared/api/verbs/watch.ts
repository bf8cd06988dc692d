import { hasCode, OperatingError } from '../../model/errors.ts'
import { storedAs, type ServedKind } from '../../model/served-kind.ts'
import type { ObjectList } from '../../resources/resources.ts'
import type { Clock } from '../../ports/clock.ts'
import type { HttpRequest, HttpResponse } from '../../ports/http-handler.ts'
import type { ApiServices, Call, VerbHandler } from '../call.ts'
import { foreseeDamage, withDamageWarnings } from '../damage-warnings.ts'
import { errorFields } from '../failure.ts'
import { reachVersion } from '../fresh-version.ts'
import { textParameter } from '../query.ts'
import { selectPages, type Pages, type SelectedOptions } from '../select-objects.ts'
import { selectionOf } from '../selection.ts'
import { viewOf, type View } from '../view.ts'
import { createLiveKinds, type LiveChanges } from '../watch/live-changes.ts'
import {
  createChangingMembership,
  createFixedMembership,
  resumeMembership,
  type Membership,
} from '../watch/membership.ts'
import { createSharedNames, type SharedNames } from '../watch/known-names.ts'
import { watchOptions, type WatchStart } from '../watch/options.ts'
import { beginPast, endOn } from '../watch/past.ts'
import { createWatchSlots } from '../watch/slots.ts'
import { nothingSaid, type Stream } from '../watch/stream-state.ts'
import { bookmarkMs, dueMs, pieces } from '../watch/stream.ts'
import { createUnread, type Unread } from '../watch/unread.ts'
import { createMessageWire, lineWire, silentLineWire, type Wire } from '../watch/wire.ts'
import { asksForWebsocket, checkHandshake } from '../websocket/handshake.ts'

/**
 * `GET` of a collection with `watch`: what happens to it, line by line, until the client leaves or its time is over.
 */
export function createWatch(services: ApiServices): VerbHandler {
  const slots = createWatchSlots(services.watchesMax ?? 1_000)
  const shared = {
    liveOf: createLiveKinds(services),
    names: createSharedNames(),
    unread: createUnread(services.clock),
  }
  return async (call) => {
    const answer = beginAnswer(call.request, services.clock)
    if (answer === undefined) return noWebsocket
    const release = slots.take(call.user, call.request.signal)
    try {
      const options = watchOptions(call.request)
      const fault = await versionFault(options, services, call.request.signal)
      const { status, headers, wire = lineWireOf(options) } = answer
      const { stream, first } = await open(call, { ...shared, options, services, release, wire, fault })
      return withDamageWarnings({ status, headers, body: pieces(stream) }, first)
    } catch (error) {
      release()
      throw error
    }
  }
}

/**
 * What ends a watch as soon as it has begun. A version that does not come is of a store that was lost. Kubernetes
 * leaves such a watch silent for good; at a 410 all clients list again.
 */
async function versionFault(
  { after, notOlderThan }: WatchStart,
  services: ApiServices,
  signal: AbortSignal,
): Promise<OperatingError | undefined> {
  try {
    await reachVersion(notOlderThan, services, signal)
    return undefined
  } catch (error) {
    if (after === undefined || !hasCode(error, 'VERSION_TOO_NEW')) throw error
    return new OperatingError('EXPIRED', `resource version ${after} is later than all there is: list again`)
  }
}

const headers = { 'content-type': 'application/json', 'cache-control': 'no-cache, private' }

/**
 * Where there are no websockets, as behind API Gateway. Clients that ask for one first, such as fabric8's of Java, ask
 * again without once the answer has ended; a stream would leave them waiting for its end.
 */
const noWebsocket = { status: 200, headers, body: '' } as const

/** In lines where nothing is said of another wire. */
type Begun = Pick<HttpResponse, 'status' | 'headers'> & { readonly wire?: Wire }

function lineWireOf({ timeoutMs, bookmarks }: WatchStart): Wire {
  return timeoutMs !== undefined && !bookmarks ? silentLineWire : lineWire
}

/** In lines, or over the websocket that is asked for; `undefined` if there can be none. */
function beginAnswer(request: HttpRequest, clock: Clock): Begun | undefined {
  if (!asksForWebsocket(request)) return { status: 200, headers }
  const protocol = checkHandshake(request)
  const { websocket } = request
  if (websocket === undefined) return undefined
  const agreed: Record<string, string> = protocol === undefined ? {} : { 'sec-websocket-protocol': protocol }
  return { status: 101, headers: agreed, wire: createMessageWire(websocket, clock) }
}

interface Opening {
  readonly options: WatchStart
  readonly services: ApiServices
  readonly liveOf: (kind: ServedKind) => LiveChanges
  readonly names: SharedNames
  readonly unread: Unread
  readonly release: () => void
  readonly wire: Wire
  readonly fault: OperatingError | undefined
}

async function open(call: Call, opening: Opening): Promise<{ readonly stream: Stream; readonly first: FirstPage }> {
  const selected = { kind: call.kind, selection: selectionOf(call) }
  const view = viewOf(call, opening.services.clock)
  const start = await startOf(selected, opening)
  const stream = createStream(call, opening, start, view)
  const { live, signal } = stream
  signal.addEventListener('abort', () => stream.cut(), { once: true })
  opening.wire.hear({ onOwed: stream.wake, onEnd: stream.end })
  await live.join(stream).catch((error: unknown) => {
    stream.onEnd()
    throw error
  })
  stream.past = beginPast(stream)
  endOn(stream, opening.fault ?? start.fault)
  if (signal.aborted) stream.cut()
  return { stream, first: start.first }
}

function createStream(call: Call, opening: Opening, start: Start, view: View): Stream {
  const { options, services, liveOf, release, wire } = opening
  const { clock, feed, logger } = services
  const { kind, request, info } = call
  const { signal } = request
  const live = liveOf(kind)
  const nowMs = clock.nowMs()
  const stream: Stream = {
    kind,
    view,
    wire,
    clock,
    signal,
    live,
    membership: start.membership,
    sharedAs: start.isFixed ? shareNameOf(call, [view.name, wire.name]) : undefined,
    bookmarks: options.bookmarks,
    marksInitialEnd: options.marksInitialEnd,
    endsAtMs: options.timeoutMs === undefined ? Infinity : nowMs + options.timeoutMs,
    follow: (after) => feed.follow({ after, of: storedAs(kind), signal })[Symbol.asyncIterator](),
    isStillAllowed: call.isStillAllowed,
    askedAtMs: nowMs,
    onFailure: (error) => logger.error('watch failed', { resource: info.resource, ...errorFields(error) }),
    onEnd: () => {
      live.leave(stream)
      stream.membership.end()
      stream.unread.release(stream)
      release()
    },
    wake: () => stream.resume?.(),
    // The client hears out what is on its way, and is cut off if it does not take it.
    end: () => {
      stream.isCut = true
      stream.resume?.()
    },
    cut: (failure) => {
      stream.isCut = true
      stream.failure = failure
      stream.isTorn ||= stream.rest !== undefined
      stream.rest = undefined
      stream.part = undefined
      stream.at = undefined
      stream.onEnd()
      stream.resume?.()
    },
    initial: start.initial,
    position: start.after,
    reachBack: BigInt(feed.reachBack ?? 0),
    unread: opening.unread,
    dueAtMs: 0,
    wroteAtMs: nowMs,
    bookmarkAtMs: nowMs + bookmarkMs,
    ...nothingSaid(),
  }
  stream.dueAtMs = dueMs(stream)
  return stream
}

/** Who is told the same: a selection by name and namespace only, in one form. */
function shareNameOf({ info, kind, request: { query } }: Call, form: readonly string[]): string {
  return JSON.stringify([...form, kind.namespaced ? info.namespace : '', textParameter(query, 'fieldSelector') ?? ''])
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
  /** Why it is over before it began: as by an old version, the client lists again. */
  readonly fault?: OperatingError
}

async function startOf(selected: SelectedOptions, { options, services, names }: Opening): Promise<Start> {
  const { selection } = selected
  const isFixed = !selection.isMutable
  if (options.tellsInitial) return { isFixed, ...(await startOfPresent(selected, services, names)) }
  const after = options.after ?? (await services.feed.latest())
  const start = { isFixed, after, initial: undefined, first: {} }
  const fixed = createFixedMembership(selection)
  if (isFixed) return { ...start, membership: fixed }
  try {
    return { ...start, membership: await resumeMembership(selected, services, names) }
  } catch (error) {
    if (error instanceof OperatingError && hasCode(error, 'EXPIRED'))
      return { ...start, membership: fixed, fault: error }
    throw error
  }
}

/** From the objects there are: the first page tells where their changes begin. */
async function startOfPresent(
  selected: SelectedOptions,
  services: ApiServices,
  names: SharedNames,
): Promise<Omit<Start, 'isFixed'>> {
  const { selection } = selected
  const pages = selectPages(selected, services)
  const first = (await pages()) as ObjectList
  const membership = selection.isMutable ? createChangingMembership(selection, names) : createFixedMembership(selection)
  const told = first.continue === undefined ? first : foreseeDamage(first, selected, services)
  return { after: first.resourceVersion, initial: pagesFrom(first, pages), first: told, membership }
}

function pagesFrom(first: ObjectList, rest: Pages): Pages {
  let next: ObjectList | undefined = first
  return async () => {
    const page = next ?? (await rest())
    next = undefined
    return page
  }
}
