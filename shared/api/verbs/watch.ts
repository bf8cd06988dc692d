import type { StoredObject } from '../../model/stored-object.ts'
import type { ObjectList } from '../../resources/resources.ts'
import type { ApiServices, Call, VerbHandler } from '../call.ts'
import { errorFields } from '../failure.ts'
import { reachVersion } from '../fresh-version.ts'
import { selectedPages, type SelectedOptions } from '../selected-objects.ts'
import { selectionOf } from '../selection.ts'
import { viewOf } from '../view.ts'
import { eventLines, type Stream } from '../watch/events.ts'
import { changingMembership, fixedMembership, resumedMembership, type Membership } from '../watch/membership.ts'
import { watchOptions, type WatchOptions } from '../watch/options.ts'
import { followFeed } from '../watch/pending-batches.ts'
import { createWatchSlots } from '../watch/slots.ts'

/** `GET` of a collection with `watch`: what happens to it, line by line, until the client leaves or its time is over. */
export function createWatch(services: ApiServices): VerbHandler {
  const slots = createWatchSlots(services.watchesMax ?? 1_000)
  return async (call) => {
    const release = slots.take(call.request.signal)
    try {
      return { status: 200, headers, body: releasing(eventLines(await open(call, services)), release) }
    } catch (error) {
      release()
      throw error
    }
  }
}

const headers = { 'content-type': 'application/json', 'cache-control': 'no-cache, private' }

async function* releasing(lines: AsyncIterable<string>, release: () => void): AsyncGenerator<string> {
  try {
    yield* lines
  } finally {
    release()
  }
}

async function open(call: Call, services: ApiServices): Promise<Stream> {
  const { clock, feed, logger } = services
  const { kind, request, info } = call
  const view = viewOf(call, clock)
  const options = watchOptions(request)
  await reachVersion(options.notOlderThan, services, request.signal)
  const start = await startOf({ kind, selection: selectionOf(call) }, options, services)
  const of = { group: kind.group, kind: kind.kind }
  return {
    kind,
    view,
    clock,
    initial: start.initial,
    initialEnd: options.marksInitialEnd ? start.after : undefined,
    membership: start.membership,
    changes: await followFeed(feed, { after: start.after, of, signal: request.signal }, clock),
    bookmarks: options.bookmarks,
    endsAtMs: options.timeoutMs === undefined ? Infinity : clock.nowMs() + options.timeoutMs,
    onFailure: (error) => logger.error('watch failed', { resource: info.resource, ...errorFields(error) }),
  }
}

interface Start extends Pick<Stream, 'initial' | 'membership'> {
  readonly after: string
}

async function startOf(selected: SelectedOptions, options: WatchOptions, services: ApiServices): Promise<Start> {
  if (options.tellsInitial) return startOfPresent(selected, services)
  const after = options.after ?? (await services.feed.latest())
  return { after, initial: [], membership: await membershipOf(selected, () => resumedMembership(selected, services)) }
}

/** From the objects there are: the first page tells where their changes begin. */
async function startOfPresent(selected: SelectedOptions, services: ApiServices): Promise<Start> {
  const pages = selectedPages(selected, services)
  const first = (await pages.next()).value as ObjectList
  const membership = await membershipOf(selected, () => changingMembership(selected.selection))
  return { after: first.resourceVersion, initial: itemsOf(first, pages), membership }
}

function membershipOf(
  { selection }: SelectedOptions,
  changing: () => Membership | Promise<Membership>,
): Membership | Promise<Membership> {
  return selection.isMutable ? changing() : fixedMembership(selection)
}

async function* itemsOf(first: ObjectList, rest: AsyncIterable<ObjectList>): AsyncGenerator<readonly StoredObject[]> {
  yield first.items
  for await (const { items } of rest) yield items
}
