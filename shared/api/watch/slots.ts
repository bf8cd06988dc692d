import { OperatingError } from '../../model/errors.ts'

/** How many watches may be open at a time. */
export interface WatchSlots {
  /** Takes a slot until the signal aborts or the returned function is called. Throws THROTTLED when all are taken. */
  take(signal: AbortSignal): () => void
}

export function createWatchSlots(slotsMax: number): WatchSlots {
  let taken = 0
  return {
    take: (signal) => {
      if (taken >= slotsMax) {
        throw new OperatingError('THROTTLED', `${slotsMax} watches are open, no more are served; try again later`)
      }
      taken++
      let isHeld = true
      const release = (): void => {
        if (isHeld) taken--
        isHeld = false
      }
      if (signal.aborted) release()
      else signal.addEventListener('abort', release, { once: true })
      return release
    },
  }
}
