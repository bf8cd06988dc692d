import { join } from 'node:path'
import { residentMb } from './memory.ts'
import type { CellResult } from './messages.ts'
import { benchDirectory, startGenerator, startPlane } from './processes.ts'
import { median } from './quantiles.ts'

/** What it costs that many objects change in turn, beside few. */
export interface KeysFigures {
  readonly keys: number
  readonly perSecond: number
  readonly serverUs: number
  /** Resident after every object has changed and the server has been at rest for a moment. */
  readonly residentMb: number
  /** The median of its changes per second by those of the fewest keys, of each repetition. */
  readonly ratio: number
}

export interface KeysOptions {
  readonly keys: readonly number[]
  readonly reps: number
  readonly clients: number
  readonly durationMs: number
}

type Sample = Pick<CellResult, 'perSecond' | 'serverUs'> & { readonly residentMb: number }

export async function measureKeys(options: KeysOptions): Promise<readonly KeysFigures[]> {
  using directory = benchDirectory()
  const reps: (readonly Sample[])[] = []
  for (let rep = 0; rep < options.reps; rep++) reps.push(await measureOnce(join(directory.path, `rep-${rep}`), options))
  return options.keys.map((keys, i) => {
    const middle = (of: (samples: readonly Sample[]) => number): number => median(reps.map(of))
    const at = (samples: readonly Sample[], place = i): Sample => samples[place] as Sample
    return {
      keys,
      perSecond: middle((samples) => at(samples).perSecond),
      serverUs: middle((samples) => at(samples).serverUs),
      residentMb: middle((samples) => at(samples).residentMb),
      ratio: middle((samples) => at(samples).perSecond / at(samples, 0).perSecond),
    }
  })
}

/** A server for each number of keys, all filled first, then measured one after the other. */
async function measureOnce(directory: string, options: KeysOptions): Promise<readonly Sample[]> {
  const { keys, clients, durationMs } = options
  const generator = startGenerator()
  const servers = await Promise.all(keys.map((count) => startPlane(join(directory, String(count)))))
  try {
    const samples: Sample[] = []
    for (const [i, server] of servers.entries()) {
      await generator.connect(String(keys[i]), server.ready, true)
      await generator.measure({ ...creating, server: String(keys[i]), clients, changesMax: keys[i] as number })
      const update = { ...updating, server: String(keys[i]), clients, keys: keys[i] as number }
      // Every object once more, and then the time that counts.
      await generator.measure({ ...update, durationMs: longMs, changesMax: Math.max(keys[i] as number, 10_000) })
      const { perSecond, serverUs } = await generator.measure({ ...update, durationMs })
      await sleep(settleMs)
      samples.push({ perSecond, serverUs, residentMb: residentMb(server.pid) })
    }
    return samples
  } finally {
    await Promise.all([generator.end(), ...servers.map((server) => server.end())])
  }
}

const longMs = 600_000
const settleMs = 3_000
const creating = { verb: 'create', prefix: 'gadget', durationMs: longMs } as const
const updating = { verb: 'update', prefix: 'gadget' } as const

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

export function keysTable(figures: readonly KeysFigures[]): string {
  const rows = figures.map(
    ({ keys, perSecond, serverUs, residentMb: mb, ratio }) =>
      `| ${keys} | ${perSecond.toFixed(0)} | ${ratio.toFixed(2)} | ${serverUs.toFixed(0)} | ${mb.toFixed(0)} |`,
  )
  return ['| keys | changes/s | of the first row | CPU µs | resident MB |', '|---|---|---|---|---|', ...rows].join('\n')
}
