import { join } from 'node:path'
import type { CellResult } from './messages.ts'
import { benchDirectory, startGenerator, startPlane, startServer } from './processes.ts'
import { median } from './quantiles.ts'
import { serverHalfOf } from './server-half.ts'

/** Our changes and those of another commit, by turns in one run. */
export interface AgainstFigures {
  readonly clients: number
  readonly ours: Half
  readonly theirs: Half
  /** The median of our changes per second by theirs, of each repetition; and the least and the most of them. */
  readonly ratio: { readonly median: number; readonly least: number; readonly most: number }
}

interface Half {
  readonly perSecond: number
  readonly serverUs: number
  readonly p99: number
}

export interface AgainstOptions {
  readonly commit: string
  readonly reps: number
  readonly clients: readonly number[]
  /** How many objects are changed in turn. */
  readonly keys: number
  readonly durationMs: number
}

interface Sample {
  readonly clients: number
  readonly ours: CellResult
  readonly theirs: CellResult
}

export async function measureAgainst(options: AgainstOptions): Promise<readonly AgainstFigures[]> {
  using directory = benchDirectory()
  using half = serverHalfOf(options.commit, directory.path)
  const samples: Sample[] = []
  for (let rep = 0; rep < options.reps; rep++)
    samples.push(
      ...(await measureOnce(join(directory.path, `rep-${rep}`), half.program, {
        ...options,
        isOursFirst: rep % 2 === 0,
      })),
    )
  return [...Map.groupBy(samples, ({ clients }) => clients)].map(([clients, same]) => figuresOf(clients, same))
}

type Once = AgainstOptions & { readonly isOursFirst: boolean }

/** Both servers run all the time; only one of them has work. */
async function measureOnce(
  directory: string,
  theirProgram: URL,
  { clients, keys, durationMs, isOursFirst }: Once,
): Promise<readonly Sample[]> {
  const ours = await startPlane(join(directory, 'ours'))
  const theirs = await startServer(theirProgram, join(directory, 'theirs'))
  const generator = startGenerator()
  const update = (server: string, count: number, forMs = durationMs): Promise<CellResult> =>
    generator.measure({ server, verb: 'update', prefix: 'gadget', keys, clients: count, durationMs: forMs })
  try {
    await generator.connect('ours', ours.ready, true)
    await generator.connect('theirs', theirs.ready, true)
    for (const server of ['ours', 'theirs']) {
      await generator.measure({ ...creating, server, changesMax: keys })
      await update(server, 64, 2 * durationMs)
    }
    const samples: Sample[] = []
    for (const count of clients) {
      const first = await update(isOursFirst ? 'ours' : 'theirs', count)
      const second = await update(isOursFirst ? 'theirs' : 'ours', count)
      samples.push({ clients: count, ours: isOursFirst ? first : second, theirs: isOursFirst ? second : first })
    }
    return samples
  } finally {
    await Promise.all([generator.end(), ours.end(), theirs.end()])
  }
}

const creating = { verb: 'create', prefix: 'gadget', clients: 16, durationMs: 600_000 } as const

function figuresOf(clients: number, samples: readonly Sample[]): AgainstFigures {
  const half = (of: (sample: Sample) => CellResult): Half => ({
    perSecond: median(samples.map((sample) => of(sample).perSecond)),
    serverUs: median(samples.map((sample) => of(sample).serverUs)),
    p99: median(samples.map((sample) => of(sample).converge.p99)),
  })
  const ratios = samples.map(({ ours, theirs }) => ours.perSecond / theirs.perSecond)
  return {
    clients,
    ours: half(({ ours }) => ours),
    theirs: half(({ theirs }) => theirs),
    ratio: { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) },
  }
}

export function againstTable(figures: readonly AgainstFigures[]): string {
  const head = '| clients | changes/s | then | ratio (least to most) | CPU µs | then | p99 ms | then |'
  const rows = figures.map(({ clients, ours, theirs, ratio }) => {
    const spread = `${ratio.median.toFixed(2)} (${ratio.least.toFixed(2)} to ${ratio.most.toFixed(2)})`
    const cells = [
      ours.perSecond.toFixed(0),
      theirs.perSecond.toFixed(0),
      spread,
      ours.serverUs.toFixed(0),
      theirs.serverUs.toFixed(0),
      ours.p99.toFixed(2),
      theirs.p99.toFixed(2),
    ]
    return `| ${clients} | ${cells.join(' | ')} |`
  })
  return [head, '|---|---|---|---|---|---|---|---|', ...rows].join('\n')
}
