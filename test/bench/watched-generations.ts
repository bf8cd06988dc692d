import { connect, requestText, type Target } from './connection.ts'

/** Up to which generation each object's status has come, as a watch of the collection tells it. */
export interface Generations {
  /** Resolves once the status of this object is of this generation or a later one. */
  reached(name: string, generation: number): Promise<void>
  /** Events per piece of the stream since the last `resetBatches`. */
  eventsTogether(): number
  resetBatches(): void
  close(): void
}

interface Watched {
  readonly object: {
    readonly metadata: { readonly name: string }
    readonly status?: { readonly observedGeneration?: number }
  }
}

/** Opens the watch at the present. */
export async function watchGenerations(target: Target, collection: string): Promise<Generations> {
  const latest = await latestVersion(target, collection)
  const connection = await connect(target)
  const observed = new Map<string, number>()
  const waiting = new Map<string, { readonly generation: number; resolve(): void }>()
  let events = 0
  let pieces = 0
  let cutOff = ''

  const note = ({ object: { metadata, status } }: Watched): void => {
    const generation = status?.observedGeneration ?? 0
    observed.set(metadata.name, generation)
    const waiter = waiting.get(metadata.name)
    if (waiter === undefined || generation < waiter.generation) return
    waiting.delete(metadata.name)
    waiter.resolve()
  }

  const path = `${collection}?watch=1&resourceVersion=${latest}`
  connection.stream(requestText(target, { method: 'GET', path }), (piece) => {
    const lines = (cutOff + piece).split('\n')
    cutOff = lines.pop() ?? ''
    // A watch that is silent sends blanks, which an earlier commit ends with a line.
    const told = lines.filter((line) => line.trim() !== '')
    for (const line of told) note(JSON.parse(line) as Watched)
    events += told.length
    pieces++
  })

  return {
    reached: (name, generation) => {
      if ((observed.get(name) ?? 0) >= generation) return Promise.resolve()
      return new Promise((resolve) => waiting.set(name, { generation, resolve }))
    },
    eventsTogether: () => events / pieces,
    resetBatches: () => {
      events = 0
      pieces = 0
    },
    close: () => connection.close(),
  }
}

async function latestVersion(target: Target, collection: string): Promise<string> {
  const connection = await connect(target)
  const { body } = await connection.send(requestText(target, { method: 'GET', path: `${collection}?limit=1` }))
  connection.close()
  return (JSON.parse(body.toString()) as { metadata: { resourceVersion: string } }).metadata.resourceVersion
}
