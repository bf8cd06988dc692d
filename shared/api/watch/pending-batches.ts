import type { ChangeBatch, ChangeFeed, FollowOptions } from '../../ports/change-feed.ts'
import type { Clock } from '../../ports/clock.ts'
import { inPortions } from './in-portions.ts'

/** The batches of a feed, one at a time; the next one is always asked for already. */
export interface PendingBatches {
  /** Where the last batch ended. */
  readonly resourceVersion: string
  /** Waits up to `ms`; `undefined` if nothing came. */
  next(ms: number): Promise<IteratorResult<ChangeBatch> | undefined>
  /** Stops following, as the signal does. */
  end(): void
}

/** Follows a feed. Throws EXPIRED if the feed says soon that it does not reach back so far; later it is `next` that throws. */
export async function followFeed(feed: ChangeFeed, options: FollowOptions, clock: Clock): Promise<PendingBatches> {
  const ending = new AbortController()
  const signal = AbortSignal.any([options.signal, ending.signal])
  const iterator = feed.follow({ ...options, signal })[Symbol.asyncIterator]()
  let resourceVersion = options.after
  let pending = ask(iterator, clock)
  if (await pending.within(soonMs)) await pending.result

  const next: PendingBatches['next'] = async (ms) => {
    const result = (await pending.within(ms)) ? await pending.result : undefined
    if (result !== undefined && result.done !== true) {
      resourceVersion = result.value.resourceVersion
      pending = ask(iterator, clock)
    }
    return result
  }
  return {
    get resourceVersion() {
      return resourceVersion
    },
    next,
    end: () => ending.abort(),
  }
}

/** A refusal that comes by then is the status of the response; a watch of a quiet kind begins so much later. */
const soonMs = 5

interface Asked {
  readonly result: Promise<IteratorResult<ChangeBatch>>
  within(ms: number): Promise<boolean>
}

function ask(iterator: AsyncIterator<ChangeBatch>, clock: Clock): Asked {
  const result = iterator.next()
  return { result, within: inPortions(result, clock) }
}
