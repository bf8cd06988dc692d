import { setTimeout as sleep } from 'node:timers/promises'

const state: { limit: Promise<never> } = { limit: new Promise(() => {}) }

/**
 * So long all steps may take from now on: then each that is under way fails. None: as long as they like, as those that
 * clean up.
 */
export function limitSteps(seconds?: number): void {
  state.limit = seconds === undefined ? new Promise(() => {}) : failAfter(seconds)
  state.limit.catch(() => {})
}

async function failAfter(seconds: number): Promise<never> {
  await sleep(seconds * 1_000, undefined, { ref: false })
  throw new Error(`the script is not done after ${seconds} s, which is all that it may take (--within)`)
}

/** Does one step of a script, and prints how long it took. Throws what it throws, with its name. */
export async function step<Result>(what: string, act: () => Promise<Result>): Promise<Result> {
  const startMs = performance.now()
  try {
    const result = await Promise.race([act(), state.limit])
    console.log(`  ok     ${secondsSince(startMs)}  ${what}`)
    return result
  } catch (error) {
    console.log(`  FAILED ${secondsSince(startMs)}  ${what}`)
    throw error
  }
}

function secondsSince(startMs: number): string {
  return `${((performance.now() - startMs) / 1_000).toFixed(1).padStart(5)} s`
}

/**
 * Looks until it sees what it looks for; a look that fails has seen nothing. Throws, with what it saw last, after so
 * long: ten minutes, which a loaded machine may take for what is there in ten seconds elsewhere.
 */
export async function until<Seen>(
  look: () => Promise<Seen>,
  isThere: (seen: Seen) => boolean,
  withinSeconds = 600,
  pauseMs = 500,
): Promise<Seen> {
  const endMs = performance.now() + withinSeconds * 1_000
  for (;;) {
    let last: unknown
    try {
      const seen = await look()
      if (isThere(seen)) return seen
      last = seen
    } catch (error) {
      last = String(error)
    }
    if (performance.now() > endMs) throw new Error(`not within ${withinSeconds} s; last seen: ${JSON.stringify(last)}`)
    await sleep(pauseMs)
  }
}

export function expect(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new Error(otherwise)
}
