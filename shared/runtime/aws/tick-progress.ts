import { parseJson } from '../../model/parse-json.ts'
import type { Introduced } from '../../engine/wake/aws-introduction.ts'
import type { Share } from '../../adapters/aws/dynamodb/dynamodb-keys.ts'
import type { Checkpoint } from '../../ports/checkpoint.ts'
import type { KnownQueue } from './send-window.ts'
import type { WheelPlace } from './wheel-turn.ts'

/** How far a tick got with the objects of one kind. */
export interface SweepProgress extends Introduced, WheelPlace {
  /** Whose net wanted a run by then was woken. */
  readonly nettedMs?: number
  /** When it was last told, behind a long queue, how old changes are that nobody has run. */
  readonly toldMs?: number
}

/** What a tick leaves to the next one. */
export interface Ticked {
  readonly progress: readonly (readonly [name: string, progress: SweepProgress])[]
  readonly queues: readonly (readonly [name: string, known: KnownQueue])[]
}

export interface SavedProgress {
  /** Undefined if there was no tick yet. */
  load(): Promise<Loaded | undefined>
  save(ticked: Ticked): Promise<void>
}

export interface Loaded {
  readonly progress: ProgressByName
  readonly queues: ReadonlyMap<string, KnownQueue>
}

export type ProgressByName = Readonly<Partial<Record<string, SweepProgress>>>

/**
 * Each share has its own. One that is new, or was not there for a while, goes on about where the first one is: all of
 * them keep about the same pace.
 */
export function saveProgress({ index }: Share, checkpoint: (name: string) => Checkpoint): SavedProgress {
  const first = checkpoint('resync')
  const own = index === 0 ? first : checkpoint(`resync#${index}`)

  const near = (ofFirst: SweepProgress, ofOwn: SweepProgress | undefined): SweepProgress => {
    const place = ofOwn ?? { ...ofFirst, turnedMs: 0 }
    const leastMs = ofFirst.turnedMs - shareLagMs
    if (place.turnedMs >= leastMs) return place
    const { within: _, ...others } = place
    return { ...others, turnedMs: leastMs }
  }

  return {
    load: async () => {
      const ofOwn = parseTicked(await own.load())
      if (index === 0) return ofOwn
      const ofFirst = parseTicked(await first.load())
      const progress = Object.entries(ofFirst?.progress ?? {}).map(
        ([name, one]) => [name, one && near(one, ofOwn?.progress[name])] as const,
      )
      return { progress: Object.fromEntries(progress), queues: knownBy(ofOwn?.queues, ofFirst?.queues) }
    },
    save: (ticked) => own.save(textOf(ticked)),
  }
}

/** Of each loop, what was seen last. */
function knownBy(own: Loaded['queues'] = new Map(), first: Loaded['queues'] = new Map()): Loaded['queues'] {
  const merged = [...first].map(([name, { loops }]) => {
    const { stuck = 0, loops: seen = {} } = own.get(name) ?? {}
    const later = Object.entries(loops).filter(([loop, { seenMs }]) => seenMs > (seen[loop]?.seenMs ?? 0))
    return [name, { stuck, loops: { ...seen, ...Object.fromEntries(later) } }] as const
  })
  return new Map([...own, ...merged])
}

/** A share that is further behind the first one was not there. */
const shareLagMs = 15 * 60_000

/** Earlier versions skip names that are none of their loops; `queue ` was what one of them knew. */
const queuePrefix = 'line '

/** Most loops stand where others do: each place is said once, so that the text stays within one unit of a write. */
function textOf({ progress, queues }: Ticked): string {
  const all = [...progress, ...queues.map(([name, known]) => [`${queuePrefix}${name}`, known] as const)]
  const byPlace = Map.groupBy(all, ([, one]) => JSON.stringify(one))
  return JSON.stringify([...byPlace.values()].map((same) => [same[0]?.[1], same.map(([name]) => name)]))
}

function parseTicked(text: string | undefined): Loaded | undefined {
  if (text === undefined) return undefined
  const all = Object.entries(parsePlaces(text))
  const queues = all.flatMap(([name, known]) =>
    name.startsWith(queuePrefix) ? [[name.slice(queuePrefix.length), known as unknown as KnownQueue] as const] : [],
  )
  const progress = all.filter(([name]) => !name.startsWith(queuePrefix))
  return { progress: Object.fromEntries(progress), queues: new Map(queues) }
}

/** Earlier versions wrote the progress of each loop by its name. */
function parsePlaces(text: string): Readonly<Record<string, SweepProgress>> {
  const parsed = parseJson(text) as
    | Readonly<Record<string, SweepProgress>>
    | readonly (readonly [SweepProgress, string[]])[]
  if (!isPlaces(parsed)) return parsed
  return Object.fromEntries(parsed.flatMap(([progress, names]) => names.map((name) => [name, progress])))
}

function isPlaces(parsed: object): parsed is readonly (readonly [SweepProgress, string[]])[] {
  return Array.isArray(parsed)
}
