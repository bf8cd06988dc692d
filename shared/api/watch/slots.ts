import { isSuperuser } from '../../model/access/authorize.ts'
import { OperatingError } from '../../model/errors.ts'
import type { User } from '../../ports/authenticator.ts'

/** How many watches may be open at a time. */
export interface WatchSlots {
  /**
   * Takes a slot until the signal aborts or the returned function is called. Throws THROTTLED when all are taken, and
   * for a user who has as many as are left: so one leaves half of them to others, who leave half of that. An
   * administrator may take all.
   */
  take(user: User, signal: AbortSignal): () => void
}

export function createWatchSlots(slotsMax: number): WatchSlots {
  let taken = 0
  const takenBy = new Map<string, number>()

  const change = (name: string, by: 1 | -1): void => {
    taken += by
    const own = (takenBy.get(name) ?? 0) + by
    if (own === 0) takenBy.delete(name)
    else takenBy.set(name, own)
  }

  const requireFree = (user: User): void => {
    if (taken >= slotsMax)
      throw new OperatingError('THROTTLED', `${slotsMax} watches are open, no more are served; try again later`)
    const own = takenBy.get(user.name) ?? 0
    if (own < slotsMax - taken || isSuperuser(user)) return
    const why = `${own} of them by this user, and the others are left for others`
    throw new OperatingError('THROTTLED', `${taken} of ${slotsMax} watches are open, ${why}; try again later`)
  }

  return {
    take: (user, signal) => {
      requireFree(user)
      change(user.name, 1)
      let isHeld = true
      const release = (): void => {
        if (isHeld) change(user.name, -1)
        isHeld = false
      }
      if (signal.aborted) release()
      else signal.addEventListener('abort', release, { once: true })
      return release
    },
  }
}
