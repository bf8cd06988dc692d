import * as z from 'zod'
import {
  attempts,
  ConfigMap,
  defineKind,
  defineReconciler,
  done,
  modify,
  progressing,
  waiting,
  withReport,
  type ConfigMapObject,
  type Context,
  type Controller,
  type ObjectOf,
  type Outcome,
} from '../../../shared/index.ts'
import type { Life } from '../life.ts'
import type { RunWatcher } from '../runs.ts'

/** An object that keeps its children by hand: it lists, creates, patches and deletes them. Its runs end in odd ways. */
export const Shelf = defineKind({
  group: 'simulation.setpoint.dev',
  version: 'v1',
  kind: 'Shelf',
  spec: z.object({ value: z.number().int(), size: z.number().int() }),
  status: z.object({ boxes: z.number().int() }),
})

type ShelfObject = ObjectOf<typeof Shelf>

/** How the first run of a value ends, or the first two; the next ones are as they should be. */
const ways = [
  'plain',
  'plain',
  /** A call is not awaited, and one is made when the run is over. */
  'forgets',
  'calls late',
  /** Its status is not what its kind says, or has a field that its kind does not have. */
  'misfit',
  'surplus',
  'throws text',
  'throws nothing',
  'returns nothing',
  'returns no outcome',
  'reports',
  /** Each run fails, until it is given up. */
  'exhausts',
] as const
export type Way = (typeof ways)[number]

export function wayOf(value: number): Way {
  return ways[value % ways.length] ?? 'plain'
}

export const wayCount = ways.length

/**
 * A ConfigMap on a shelf. What is on the last two places was put there by a call that nobody waited for, or too late.
 */
export function boxOf(shelf: string, place: number): string {
  return `${shelf}-box-${place}`
}

const forgottenPlace = 8
export const latePlace = 9

export function boxValue({ value }: { readonly value: number }, place: number): string {
  return String(value * 10 + place)
}

const attemptsMax = 3

export interface ShelfOptions {
  readonly life: Life
  readonly watcher: RunWatcher
  readonly resync: `${number}m` | false
}

export function shelfController({ life, watcher, resync }: ShelfOptions): Controller {
  /** As it should be. A run that is to end oddly counts as one that failed. */
  const keep = (shelf: ShelfObject, ctx: Context, isOdd: boolean): Promise<Outcome<{ boxes: number }>> =>
    watcher.run('reconcile', shelf, life, async () => {
      const { metadata, spec } = shelf
      const own = await ownBoxes(shelf, ctx)
      for (let place = 0; place < spec.size; place++)
        await keepBox(own.get(boxOf(metadata.name, place)), { shelf, ctx, place })
      const wanted = Array.from({ length: spec.size }, (_, place) => boxOf(metadata.name, place))
      for (const [
        name,
        {
          metadata: { uid },
        },
      ] of own)
        if (!wanted.includes(name)) await ctx.delete(ConfigMap, { name, uid })
      await ctx.event('Normal', 'Shelved', `${spec.size} boxes`)
      if (isOdd) throw new Odd('its end is to be odd')
      return done({ status: { boxes: spec.size }, conditions: mendedConditions })
    })

  return defineReconciler(Shelf, {
    owns: [ConfigMap],
    resync,
    timeout: '30s',
    reconcile: attempts({ max: 100 }, async (shelf, ctx) => {
      const way = wayOf(shelf.spec.value)
      if (way === 'exhausts') return exhaust(shelf, ctx)
      const hasRun = Number(shelf.status?.observedGeneration) === shelf.metadata.generation
      const oddMost = hasRun || ['plain', 'surplus'].includes(way) ? 0 : way === 'reports' ? 2 : 1
      const isOdd = ctx.attempt < oddMost
      try {
        const outcome = await keep(shelf, ctx, isOdd)
        return way === 'surplus'
          ? done({ status: { ...surplus, boxes: shelf.spec.size }, conditions: mendedConditions })
          : outcome
      } catch (error) {
        if (!(error instanceof Odd)) throw error
        return end(way, { shelf, ctx, life })
      }
    }),
  })

  function exhaust(shelf: ShelfObject, ctx: Context): Promise<Outcome<{ boxes: number }>> {
    const run = attempts<ShelfObject, { boxes: number }>({ max: attemptsMax }, (given, own) => keep(given, own, true))
    return run(shelf, ctx)
  }
}

/** These conditions take back what an earlier run has reported. */
const mendedConditions = { Broken: null, ...progressing(false) }

/** More than the type says, which a compiler does not see. */
const surplus: object = { extra: 'nobody knows this' }

class Odd extends Error {
  override readonly name = 'Odd'
}

/** Its boxes are those of the ConfigMaps that it is the owner of. */
async function ownBoxes({ metadata }: ShelfObject, ctx: Context): Promise<ReadonlyMap<string, ConfigMapObject>> {
  const all = await ctx.list(ConfigMap)
  const own = all.filter((box) => box.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid))
  return new Map(own.map((box) => [box.metadata.name, box]))
}

interface Place {
  readonly shelf: ShelfObject
  readonly ctx: Context
  readonly place: number
}

async function keepBox(box: ConfigMapObject | undefined, { shelf, ctx, place }: Place): Promise<void> {
  const name = boxOf(shelf.metadata.name, place)
  const data = { value: boxValue(shelf.spec, place) }
  if (box === undefined) await ctx.create(ConfigMap, { metadata: { name }, data })
  else if (box.data?.['value'] !== data.value) await changeBox(name, { ctx, place, data })
}

async function changeBox(
  name: string,
  { ctx, place, data }: Omit<Place, 'shelf'> & { readonly data: { readonly value: string } },
): Promise<void> {
  if (place % 2 === 0) await ctx.patch(ConfigMap, name, { data })
  else await modify(ctx, { kind: ConfigMap, at: name, change: () => ({ data }) })
}

interface End {
  readonly shelf: ShelfObject
  readonly ctx: Context
  readonly life: Life
}

/** How a run ends whose author has made a mistake. */
function end(way: Way, { shelf, ctx, life }: End): Outcome<{ boxes: number }> {
  const { name } = shelf.metadata
  const put = (place: number): Promise<unknown> =>
    ctx.create(ConfigMap, { metadata: { name: boxOf(name, place) }, data: { value: 'odd' } })
  const boxes = shelf.spec.size
  switch (way) {
    case 'forgets':
      void put(forgottenPlace)
      return done({ status: { boxes } })
    case 'calls late':
      void life.pass(2_000).then(() => put(latePlace).catch(() => {}))
      throw new Error('it goes on all the same')
    case 'misfit':
      return done({ status: { boxes: 'many' } as unknown as { boxes: number } })
    case 'throws text':
      throw `there are ${boxes} boxes` as unknown as Error
    case 'throws nothing':
      throw undefined as unknown as Error
    case 'returns nothing':
      return undefined as unknown as Outcome<{ boxes: number }>
    case 'returns no outcome':
      return { kind: 'finished', status: { boxes } } as unknown as Outcome<{ boxes: number }>
    default:
      throw withReport(new Error('it has more to report'), {
        status: { boxes: -1 },
        conditions: { Broken: { status: 'True', reason: 'Odd', message: name }, ...progressing(waiting('Odd', 'so')) },
        retryWithin: '3s',
      })
  }
}
