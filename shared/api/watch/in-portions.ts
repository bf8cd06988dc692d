import type { Clock } from '../../ports/clock.ts'

/**
 * Waits for a promise in portions of time: each call waits up to `ms` and says whether the promise has settled. However
 * many portions it takes, nothing piles up on the promise, as it would with `Promise.race`.
 */
export function inPortions(promise: Promise<unknown>, clock: Clock): (ms: number) => Promise<boolean> {
  let isSettled = false
  let alarm = new AbortController()
  const settle = (): void => {
    isSettled = true
    // Without a reason, every abort makes an error with a stack.
    alarm.abort('settled')
  }
  promise.then(settle, settle)
  return async (ms) => {
    if (isSettled) return true
    alarm = new AbortController()
    await clock.sleep(ms, alarm.signal)
    return isSettled
  }
}
