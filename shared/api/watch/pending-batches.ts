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

/** Follows a feed. Throws EXPIRED at once if the feed says within a turn that it does not reach back; `next` says it later. */
export async function followFeed(feed: ChangeFeed, options: FollowOptions, clock: Clock): Promise<PendingBatches> {
  const ending = new AbortController()
  const signal = AbortSignal.any([options.signal, ending.signal])
  const iterator = feed.follow({ ...options, signal })[Symbol.asyncIterator]()
  let resourceVersion = options.after
  let pending = ask(iterator, clock)
  if (await pending.within(0)) await pending.result

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

interface Asked {
  readonly result: Promise<IteratorResult<ChangeBatch>>
  within(ms: number): Promise<boolean>
}

function ask(iterator: AsyncIterator<ChangeBatch>, clock: Clock): Asked {
  const result = iterator.next()
  return { result, within: inPortions(result, clock) }
}
