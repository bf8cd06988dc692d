/**
 * The cache of a client, as informers keep it: it lists, watches from the version of the list, is cut off now and then,
 * goes on from the last version it has seen, and lists anew when that is refused as gone. Whatever happens, it must be
 * as the store is in the end. It knows nothing of how it is served, so that a feed, an API or a simulation can stand
 * behind it.
 */
export interface Informer {
  /** What the client believes there is, by name. */
  readonly cache: ReadonlyMap<string, Held>
  /** What no client should ever see. */
  readonly faults: readonly string[]
  /** How often it has listed, and how often it went on after a cut. */
  readonly counts: { lists: number; resumes: number; events: number }
  /** Lists and watches until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
}

export interface Held {
  readonly name: string
  readonly uid: string
  readonly version: string
}

export interface InformerEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  readonly object: Held
}

/** What an informer is served by. */
export interface InformerSource {
  /** Rejects if it cannot be had just now. */
  list(signal: AbortSignal): Promise<{ readonly items: readonly Held[]; readonly version: string }>
  /** Throws `Gone` if the version is forgotten or unknown, anything else if the watch breaks off. */
  watch(version: string, signal: AbortSignal): AsyncIterable<InformerEvent>
}

/** A watch is refused: 410, or 504 for a version that is too new. */
export class Gone extends Error {}

export interface InformerOptions {
  readonly source: InformerSource
  /** After how many events the next watch is cut off. */
  readonly cutAfter: () => number
  /** Between two attempts, where the source may be away. */
  readonly pause?: (signal: AbortSignal) => Promise<void>
  /** Whether a version stands for one change, so that no two events of a watch may have the same, nor go back. */
  readonly isExact: boolean
}

export function createInformer({ source, cutAfter, pause = async () => {}, isExact }: InformerOptions): Informer {
  const cache = new Map<string, Held>()
  const faults: string[] = []
  const counts = { lists: 0, resumes: 0, events: 0 }
  let version: string | undefined

  const list = async (signal: AbortSignal): Promise<string> => {
    const listed = await source.list(signal)
    counts.lists++
    cache.clear()
    for (const item of listed.items) {
      const isLater = isExact && BigInt(item.version) > BigInt(listed.version)
      if (isLater) faults.push(`the list at ${listed.version} shows ${item.name} at ${item.version}`)
      cache.set(item.name, item)
    }
    return listed.version
  }

  const note = ({ type, object }: InformerEvent, before: string, told: Set<string>): void => {
    counts.events++
    const isBack = isExact && type !== 'BOOKMARK' && BigInt(object.version) <= BigInt(before)
    if (isBack) faults.push(`${type} ${object.name} at ${object.version} came after ${before}`)
    if (type === 'BOOKMARK') return
    const state = `${type === 'DELETED' ? 'DELETED ' : ''}${object.name} at ${object.version}`
    if (told.has(state)) faults.push(`${state} was told twice`)
    told.add(state)
    const held = cache.get(object.name)
    if (held?.uid === object.uid && BigInt(held.version) > BigInt(object.version))
      faults.push(`${object.name} went back from ${held.version} to ${object.version}`)
    if (type === 'DELETED') cache.delete(object.name)
    else cache.set(object.name, object)
  }

  const watch = async (from: string, signal: AbortSignal): Promise<void> => {
    let left = cutAfter()
    const told = new Set<string>()
    for await (const event of source.watch(from, signal)) {
      note(event, version ?? from, told)
      version = event.object.version
      if (--left <= 0) break
    }
    counts.resumes++
  }

  const step = async (signal: AbortSignal): Promise<void> => {
    try {
      version ??= await list(signal)
      await watch(version, signal)
    } catch (error) {
      if (error instanceof Gone) version = undefined
      else await pause(signal)
    }
  }

  return {
    cache,
    faults,
    counts,
    run: async (signal) => {
      while (!signal.aborted) await step(signal)
    },
  }
}

/** In what the caches differ from what there is. */
export function staleness(informers: readonly Informer[], there: readonly Held[]): readonly string[] {
  const names = new Map(there.map((held) => [held.name, held]))
  return informers.flatMap(({ cache, faults }, i) => {
    const missing = there.filter(({ name, version }) => cache.get(name)?.version !== version)
    const left = [...cache.keys()].filter((name) => !names.has(name))
    return [
      ...faults,
      ...missing.map(({ name, version }) => `informer ${i} has ${name} at ${cache.get(name)?.version}, not ${version}`),
      ...left.map((name) => `informer ${i} has ${name}, which is gone`),
    ]
  })
}
