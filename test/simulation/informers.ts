import { createInformer, Gone, staleness, type Held, type Informer, type InformerEvent } from '../support/informer.ts'
import { dueAtMs } from '../../shared/model/engine-state.ts'
import type { SeededRandom } from '../../shared/testing/seeded-random.ts'
import { isRestless } from './checkers/checker.ts'
import type { KindName } from './scenario.ts'
import type { Plane, SeenTable } from './plane.ts'
import { pathOf } from './addresses.ts'
import { below, type World } from './world.ts'

/** Clients that keep the objects of a kind by list and watch, and are cut off again and again. */
export interface Informers {
  /** In what they differ from what there is, and what no client should ever have seen. */
  wrong(): readonly string[]
}

export interface InformersOptions {
  readonly world: World
  readonly plane: Plane
  readonly kinds: readonly KindName[]
  /** Of each kind. */
  readonly count: number
  /** Whether a version stands for one change. Otherwise the newest states come again after a cut. */
  readonly isExact: boolean
  /** They list by so many, and now and then anew. Left out: all at once, and only if they have to. */
  readonly limit?: number | undefined
}

export function startInformers({ world, plane, kinds, count, isExact, limit }: InformersOptions): Informers {
  const random = world.random.fork('informers')
  const reading = world.random.fork('pages of informers')
  const all = kinds.flatMap((kind) =>
    Array.from({ length: count }, () => {
      const informer = createInformer({
        source: sourceOf({
          plane,
          path: pathOf({ kind, name: '' }).slice(0, -1),
          end: () => (isExact ? '' : endOf(random)),
          limit,
          readPage: () => world.sleep(below(reading, 3_000)),
          isNew: () => limit !== undefined && reading.next() < 1 / 3,
        }),
        // Who is cut off again within what comes again gets no further.
        cutAfter: () => (isExact ? 1 + below(random, 8) : 20 + below(random, 100)),
        pause: () => world.sleep(500 + below(random, 5_000)),
        isExact,
      })
      // On AWS somebody may have written before the kind is watched, and not know that it is.
      const beginsMs = isExact ? 0 : below(random, 100_000)
      world.after(beginsMs, () => void informer.run(new AbortController().signal))
      return { kind, informer }
    }),
  )
  return {
    wrong: () => {
      const newEnoughMs = isExact ? Infinity : world.nowMs() - lagMs
      return all.flatMap(({ kind, informer }) => wrongWith({ kind, informer, newEnoughMs }, plane.table))
    },
  }
}

/** On AWS, where versions are times in microseconds, a change is told so late at most. */
const lagMs = 60_000

interface Watched {
  readonly kind: KindName
  readonly informer: Informer
  /**
   * Of what changes every second it may have a state from then on; of what changes seldom any, if the newest is from
   * then on.
   */
  readonly newEnoughMs: number
}

function wrongWith({ kind, informer, newEnoughMs }: Watched, { items }: SeenTable): readonly string[] {
  const there = [...items.values()].flatMap((stored) => {
    const { object } = stored
    if (object.kind !== kind || object.metadata.namespace !== 'default') return []
    const newest = heldOf(object)
    const known = informer.cache.get(newest.name)
    const writtenMs = Number(newest.version) / 1_000
    // What is at rest may be written by its resync.
    const isSeldom = !isRestless(stored) || (dueAtMs(stored.engine) ?? Infinity) - writtenMs > lagMs
    const isNew = (isSeldom ? writtenMs : Number(known?.version) / 1_000) > newEnoughMs
    const isLate = known?.uid === newest.uid && isNew
    return [isLate ? known : newest]
  })
  return staleness([informer], there).map((text) => `watch: of ${kind}, ${text}`)
}

/** Where watches are told to end by themselves. */
function endOf(random: SeededRandom): string {
  return `&timeoutSeconds=${5 + below(random, 100)}`
}

interface SourceOptions extends Pick<InformersOptions, 'plane' | 'limit'> {
  readonly path: string
  readonly end: () => string
  /** Takes its time with a page before it asks for the next one. */
  readonly readPage: () => Promise<void>
  /** Whether it does not know any more how far it had watched. */
  readonly isNew: () => boolean
}

type Source = Parameters<typeof createInformer>[0]['source']

function sourceOf({ plane, path, end, limit, readPage, isNew }: SourceOptions): Source {
  async function* watch(version: string): AsyncGenerator<InformerEvent> {
    if (isNew()) throw new Gone()
    const query = `watch=1&allowWatchBookmarks=true&resourceVersion=${version}${end()}`
    for await (const line of linesOf(plane, `${path}?${query}`)) {
      const { type, object } = JSON.parse(line) as { readonly type: 'ERROR'; readonly object: Listed }
      if (type === 'ERROR') throw isGone(object.code) ? new Gone() : new Error('the watch failed')
      yield { type, object: heldOf(object) }
    }
  }
  const list = async (query: string): Promise<ListReply> => {
    const reply = await plane.request(`GET ${path}${query}`)
    if (reply?.status !== 200) throw new Error('the list is refused')
    return JSON.parse(String(reply.body)) as ListReply
  }
  const listByPages = async (): Promise<ListReply> => {
    let page = await list(`?limit=${limit}`)
    const items = [...page.items]
    for (let next = page.metadata.continue; next !== undefined && next !== ''; next = page.metadata.continue) {
      await readPage()
      page = await list(`?limit=${limit}&continue=${encodeURIComponent(next)}`)
      items.push(...page.items)
    }
    return { metadata: page.metadata, items }
  }
  return {
    watch,
    list: async () => {
      const { metadata, items } = await (limit === undefined ? list('') : listByPages())
      return { items: items.map(heldOf), version: metadata.resourceVersion }
    },
  }
}

interface ListReply {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  readonly items: readonly Listed[]
}

async function* linesOf({ watch }: Plane, path: string): AsyncGenerator<string> {
  if (watch === undefined) return
  let text = ''
  for await (const piece of watch(`GET ${path}`)) {
    const lines = (text + piece).split('\n')
    text = lines.pop() ?? ''
    yield* lines.filter((line) => line.trim() !== '')
  }
}

interface Listed {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string }
  readonly code?: number
}

function isGone(status: number | undefined): boolean {
  return status === 410 || status === 504
}

function heldOf({ metadata: { name, uid, resourceVersion } }: Pick<Listed, 'metadata'>): Held {
  return { name, uid, version: resourceVersion }
}
