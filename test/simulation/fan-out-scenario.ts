import { clearOutside, clearSky } from './climate.ts'
import type { Scenario } from './scenario.ts'
import type { SimulationResult } from './simulate.ts'

/**
 * One change wakes so many objects, which have few workers and slow calls, and meanwhile a user changes another object
 * again and again.
 */
export function fanOutScenario(herd: number): Scenario {
  const step = { mood: 'plain', to: 'settings0', size: 0, afterMs: 1_000 } as const
  const wakesAll = { ...step, user: 0, act: 'apply', kind: 'ConfigMap', name: 'settings0', value: 1 } as const
  const toAndFro = Array.from({ length: 10 }, (_, i) => {
    const change = { act: 'apply', kind: 'Link', name: edited, to: `settings${i % 2}` } as const
    return { ...step, ...change, user: 1, value: i }
  })
  const climate = { ...clearSky, latencyMsMax: 100, concurrency: 3, outside: clearOutside }
  return { seed: 1, climate, resyncMinutes: 0, herd, steps: [wakesAll, ...toAndFro] }
}

const edited = 'one'

/** How long each of the user's changes waited until a run had seen it, in milliseconds. */
export function waitsOfEdits({ trace }: SimulationResult): readonly number[] {
  const waits: number[] = []
  let changedMs: number[] = []
  for (const line of trace) {
    const [, atMs, by] = new RegExp(String.raw`^(\d+) (\w+)[^:]* (?:added|modified) Link ${edited} `).exec(line) ?? []
    if (by === 'api') changedMs.push(Number(atMs))
    if (by !== 'reconcile') continue
    for (const ms of changedMs) waits.push(Number(atMs) - ms)
    changedMs = []
  }
  return waits
}
