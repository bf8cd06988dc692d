import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { KindName } from '../../ports/object-index.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import { keyText, type ObjectKey } from '../../model/object-key.ts'
import { listPages } from '../../resources/list-pages.ts'

export interface DamageLookOptions {
  readonly store: Pick<ObjectStore, 'list'>
  /** All kinds that have had objects. */
  readonly kinds: () => readonly KindName[]
  readonly clock: Clock
  readonly logger: Logger
}

/** One look at every object after a start, beside all else: who cannot be read is known before somebody asks for it. */
export interface DamageLook {
  /** Whether every object was read since the process began. */
  isDone(): boolean
  /** Never rejects. Ends early when the signal aborts, and where the store cannot be read. */
  run(signal: AbortSignal): Promise<void>
}

/** Some five hundredths of the time of the process: 100,000 objects take less than a minute. */
const pageObjects = 50
const pauseMs = 20

export function createDamageLook({ store, kinds, clock, logger }: DamageLookOptions): DamageLook {
  let isDone = false

  /** The store notes what it cannot read. */
  const lookAt = async (kind: KindName, signal: AbortSignal): Promise<readonly ObjectKey[]> => {
    const found: ObjectKey[] = []
    for await (const { damaged = [], more } of listPages(store, kind, pageObjects)) {
      found.push(...damaged)
      if (more) await clock.sleep(pauseMs, signal)
      if (signal.aborted) break
    }
    return found
  }

  const look = async (signal: AbortSignal): Promise<void> => {
    const found = new Set<string>()
    for (const kind of kinds()) for (const key of await lookAt(kind, signal)) found.add(keyText(key))
    isDone = !signal.aborted
    if (found.size === 0) return
    logger.error('objects are damaged and cannot be read', {
      count: found.size,
      objects: [...found].slice(0, namedMax),
    })
  }

  return {
    isDone: () => isDone,
    run: async (signal) => {
      try {
        await look(signal)
      } catch (error) {
        if (!signal.aborted) logger.error('not every object could be looked at', { error: String(error) })
      }
    },
  }
}

const namedMax = 20
