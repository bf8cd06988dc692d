import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createPrometheusTelemetry } from '../../../../shared/adapters/local/prometheus-telemetry.ts'
import { runLocalEngine, type LocalEngineOptions } from '../../../../shared/engine/loops/local-engine.ts'
import { defineKind } from '../../../../shared/index.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import type { Change, ChangeBatch } from '../../../../shared/ports/change-feed.ts'
import type { KindName } from '../../../../shared/ports/object-index.ts'
import type { Delivery, WakeUp } from '../../../../shared/ports/work-queue.ts'
import { createSeededRandom } from '../../../../shared/testing/seeded-random.ts'
import { widgets } from '../../../acceptance/support/widgets.ts'
import { storedWidget } from '../../../support/stored-object.ts'
import { createVirtualClock, type VirtualClock } from '../../../support/virtual-clock.ts'

const beginMs = 1_000_000_000
const widget = widgets([])
const widgetKey = { group: 'test.setpoint.dev', kind: 'Widget', namespace: 'default', name: 'w' }
/** Of the engine itself and of the widgets. */
const allLoops = [
  'widget Widget.test.setpoint.dev',
  'namespace-lifecycle Namespace.',
  'customresourcedefinition-lifecycle CustomResourceDefinition.apiextensions.k8s.io',
  'event-expiry Event.',
]

function changeAt(resourceVersion: string): Change {
  const { object } = storedWidget('w', { resourceVersion })
  return {
    type: 'modified',
    touched: ['spec'],
    stored: { object: { ...object, apiVersion: 'test.setpoint.dev/v1' }, engine: {} },
  }
}

/** Batches and failures that somebody who follows is given, and then those to come. */
function createFeed(latest: () => Promise<string>) {
  const followed: string[] = []
  const left: (ChangeBatch | Error)[] = []
  let call = (): void => {}
  const tell = (next: ChangeBatch | Error): void => {
    left.push(next)
    call()
  }
  async function* follow({ after, signal }: { readonly after: string; readonly signal: AbortSignal }) {
    followed.push(after)
    while (!signal.aborted) {
      const next = left.shift()
      if (next instanceof Error) throw next
      if (next) yield next
      else
        await new Promise<void>((resolve) => {
          call = resolve
          signal.addEventListener('abort', () => resolve())
        })
    }
  }
  return { feed: { follow, latest }, followed, tell }
}

/** How many of the next sends are refused. */
const refusals = { left: 0 }

/** Hands out what is in it when it is told to. */
function createQueue(clock: VirtualClock) {
  const sent: WakeUp[] = []
  const asked: number[] = []
  let ready: Delivery[] = []
  let call = (): void => {}
  const receive = async (max: number, signal: AbortSignal): Promise<readonly Delivery[]> => {
    asked.push(max)
    if (ready.length === 0)
      await new Promise<void>((resolve) => {
        call = resolve
        signal.addEventListener('abort', () => resolve())
      })
    return ready.splice(0, max)
  }
  const queue = {
    send: async (wakeUps: readonly WakeUp[]) => {
      if (refusals.left-- > 0) throw new OperatingError('UNAVAILABLE', 'no queue')
      sent.push(...wakeUps)
    },
    receive,
    settle: async () => {},
    hold: async () => {},
    wake: async () => {},
  }
  const deliver = async (): Promise<void> => {
    ready = sent.map((wakeUp, i) => ({ wakeUp, handle: `h${i}`, receiveCount: 1 }))
    call()
    await clock.advance(0)
  }
  return { queue, sent, asked, deliver }
}

interface Given extends Partial<Pick<LocalEngineOptions, 'controllers' | 'canBeDue' | 'tickMs'>> {
  /** What was saved before. */
  readonly relayed?: string
  readonly turned?: string
  readonly introduced?: readonly string[]
  readonly latest?: () => Promise<string>
  readonly onWheel?: (kind: KindName, from: number, to: number) => Promise<readonly object[]>
  readonly due?: () => Promise<readonly object[]>
  readonly childrenOf?: () => Promise<readonly object[]>
  /** Whether a checkpoint can be written. */
  readonly isFull?: () => boolean
}

/** An engine over nothing but what a test gives it, with everything that it asks for. */
async function startEngine({ relayed, turned, introduced, ...given }: Given = {}) {
  const clock = createVirtualClock(beginMs)
  const { feed, followed, tell } = createFeed(given.latest ?? (async () => '100'))
  const queues = new Map<string, ReturnType<typeof createQueue> & { readonly visibilityMs: number }>()
  const saved: string[] = []
  const lines: string[] = []
  const looks: string[] = []
  const checkpoint = (name: string, value: string | undefined) => ({
    load: async () => value,
    save: async (next: string) => {
      if (given.isFull?.() === true) throw new Error('the disk is full')
      saved.push(`${name} ${next}`)
    },
  })
  const log = (message: string, fields: object) => void lines.push(`${message} ${JSON.stringify(fields)}`)
  const logger = { debug: log, info: log, warn: log, error: log, with: () => logger }
  const index = {
    due: async ({ kind }: KindName, untilMs: number) => {
      looks.push(`due ${kind} ${untilMs - beginMs}`)
      return (await given.due?.()) ?? []
    },
    onWheel: async (kind: KindName, from: number, to: number) => {
      if (from === 0) looks.push(`all ${kind.kind}`)
      return (await given.onWheel?.(kind, from, to)) ?? []
    },
    childrenOf: async () => (await given.childrenOf?.()) ?? [],
  }
  const listed: number[] = []
  const stop = new AbortController()
  const options = {
    controllers: given.controllers ?? [widget],
    store: { get: async () => {} },
    index,
    resources: {},
    catalog: {
      byKind: async () => {},
      listStored: async () => {
        listed.push(clock.nowMs() - beginMs)
        return [{ group: '', kind: 'ConfigMap' }]
      },
    },
    clock,
    random: createSeededRandom(1),
    logger,
    telemetry: createPrometheusTelemetry(),
    events: { record: async () => true },
    feed,
    createQueue: (name: string, visibilityMs: number) => {
      const made = { ...createQueue(clock), visibilityMs }
      queues.set(name, made)
      return made.queue
    },
    relayed: checkpoint('relayed', relayed),
    turned: checkpoint('turned', turned),
    introduced: checkpoint('introduced', introduced && JSON.stringify(introduced)),
    tickMs: given.tickMs ?? 1_000,
    ...(given.canBeDue && { canBeDue: given.canBeDue }),
  } as unknown as LocalEngineOptions
  let hasEnded = false
  const running = runLocalEngine(options, { stop: stop.signal, abandon: new AbortController().signal }).then(
    () => (hasEnded = true),
  )
  await clock.advance(0)
  return {
    clock,
    queues,
    saved,
    lines,
    looks,
    listed,
    followed,
    tell,
    hasEnded: () => hasEnded,
    stop: async () => {
      stop.abort('over')
      await running
    },
    abort: () => stop.abort('over'),
    queueOf: (name: string) => queues.get(name) ?? expect.fail(`there is a queue ${name}`),
    /** What was saved last. */
    savedOf: (name: string) => saved.findLast((line) => line.startsWith(name))?.slice(name.length + 1),
  }
}

type World = Awaited<ReturnType<typeof startEngine>>

/** Of loops that have looked at everything before. */
const known = { introduced: allLoops, relayed: '40' }
const reasonsOf = (world: World, name = 'widget') => world.queueOf(name).sent.map(({ dedupId }) => dedupId)

describe('an engine that starts', () => {
  it('has a queue for each loop, whose deliveries are its own for six timeouts', async () => {
    const world = await startEngine(known)
    expect([...world.queues.keys()]).toEqual([
      ...allLoops.slice(0, 3).map((loop) => loop.split(' ')[0]),
      'garbage-collector',
      'event-expiry',
      'quota-usage',
    ])
    expect(new Set([...world.queues.values()].map(({ visibilityMs }) => visibilityMs))).toEqual(new Set([360_000]))
    await world.stop()
  })

  it('advises on commands in a spec', async () => {
    const spec = z.object({ restart: z.boolean() })
    const kind = defineKind({ group: 'test.setpoint.dev', version: 'v1', kind: 'Widget', spec })
    const world = await startEngine({ ...known, controllers: [{ ...widget, kind } as never] })
    expect(world.lines).toEqual([expect.stringContaining('"advice":"ImperativeSpec"')])
    await world.stop()
  })

  it.each([
    ['as many as it has slots for', undefined, 10],
    ['no more than its limit lets it', { perSecond: 1, burst: 2 }, 2],
  ])('takes %s: %j', async (_what, controllerLimit, count) => {
    const world = await startEngine({ ...known, controllers: [{ ...widget, controllerLimit }] })
    expect(world.queueOf('widget').asked).toEqual([count])
    await world.stop()
  })

  it.each([
    ['the beginning', undefined, '0'],
    ['where it was safe', '40', '40'],
  ])('follows the feed from %s', async (_what, relayed, after) => {
    const world = await startEngine({ introduced: allLoops, ...(relayed !== undefined && { relayed }) })
    expect(world.followed).toEqual([after])
    await world.stop()
  })

  it.each([
    ['where it stood', String(beginMs - 60_000), -60_000],
    ['now', undefined, 0],
  ])('turns the wheel from %s', async (_what, turned, atMs) => {
    const world = await startEngine({
      ...known,
      ...(turned !== undefined && { turned }),
      // Each slot holds a widget, so that whoever is woken first says where the wheel stood.
      onWheel: async ({ kind }) => (kind === 'Widget' ? [widgetKey] : []),
    })
    await world.clock.advance(60_000)
    const [first] = world.queueOf('widget').sent
    expect((first?.notBeforeMs ?? 0) - beginMs).toBe(atMs)
    await world.stop()
  })
})

describe('the relay of an engine', () => {
  it('passes changes on, and is safe behind those that have run', async () => {
    const world = await startEngine(known)
    world.tell({ changes: [changeAt('50')], resourceVersion: '50' })
    await world.clock.advance(1_000)
    expect(reasonsOf(world)).toEqual(['uid-default-w:50'])
    expect(world.savedOf('relayed')).toBe('40')
    await world.queueOf('widget').deliver()
    await world.clock.advance(1_000)
    expect(world.savedOf('relayed')).toBe('50')
    await world.stop()
  })

  it('is safe where nothing happened', async () => {
    const world = await startEngine(known)
    world.tell({ changes: [], resourceVersion: '60' })
    await world.clock.advance(1_000)
    expect(world.savedOf('relayed')).toBe('60')
    await world.stop()
  })

  it('says that it failed, and goes on from the same position a second later', async () => {
    const world = await startEngine(known)
    world.tell({ changes: [], resourceVersion: '60' })
    world.tell(new Error('no feed'))
    await world.clock.advance(999)
    expect(world.followed).toEqual(['40'])
    expect(world.lines).toEqual([expect.stringMatching(/^relay failed.*Error: no feed\\n +at /)])
    await world.clock.advance(1)
    expect(world.followed).toEqual(['40', '60'])
    await world.stop()
  })

  it.each([
    ['an error without a stack', Object.assign(new Error('no feed'), { stack: undefined }), '{"error":"no feed"}'],
    ['no error', Object.setPrototypeOf(new Error('x'), { toString: () => 'odd' }) as Error, '{"error":"odd"}'],
  ])('tells of %s', async (_what, thrown, text) => {
    const world = await startEngine({ ...known, latest: () => Promise.reject(thrown) })
    world.tell(new OperatingError('EXPIRED', 'too old'))
    await world.clock.advance(0)
    expect(world.lines).toEqual([expect.stringContaining(text)])
    await world.stop()
  })
})

describe('an engine whose feed does not reach back', () => {
  const expired = new OperatingError('EXPIRED', 'too old')
  const looking = { ...known, onWheel: async ({ kind }: KindName) => (kind === 'Widget' ? [widgetKey] : []) }

  it('looks at everything while it goes on from where the feed is, and is safe when that has run', async () => {
    const world = await startEngine(looking)
    world.tell(expired)
    await world.clock.advance(0)
    expect(world.followed).toEqual(['40', '100'])
    expect(world.lines).toEqual([])
    expect(new Set(reasonsOf(world))).toEqual(new Set(['all:100']))
    expect(world.looks.filter((look) => look.startsWith('all'))).toEqual(
      expect.arrayContaining(['all Widget', 'all Namespace', 'all ConfigMap', 'all ResourceQuota']),
    )
    await world.clock.advance(1_000)
    expect(world.savedOf('relayed')).toBe('40')
    await world.queueOf('widget').deliver()
    await world.clock.advance(1_000)
    expect(world.savedOf('relayed')).toBe('100')
    await world.stop()
  })

  it('is safe when the look is over, without another tick', async () => {
    const world = await startEngine(known)
    world.tell(expired)
    await world.clock.advance(0)
    await world.stop()
    expect(world.savedOf('relayed')).toBe('100')
  })

  it('begins again where it began when it ends before the look does', async () => {
    const held = Promise.withResolvers<readonly object[]>()
    const world = await startEngine({
      ...known,
      onWheel: ({ kind }) => (kind === 'Widget' ? held.promise : Promise.resolve([])),
    })
    world.tell(expired)
    world.tell({ changes: [], resourceVersion: '120' })
    await world.clock.advance(2_000)
    expect(world.savedOf('relayed')).toBe('40')
    world.abort()
    await world.clock.advance(1_000)
    expect(world.hasEnded()).toBe(false)
    held.resolve([])
    await world.stop()
    expect(world.savedOf('relayed')).toBe('40')
  })

  it('looks at so many objects in a tick as can run, and ends in the midst of it', async () => {
    let looks = 0
    const many = Array.from({ length: 1_000 }, (_, i) => ({ ...widgetKey, name: `w${i}` }))
    const world = await startEngine({
      ...known,
      onWheel: async ({ kind }) => {
        if (kind !== 'Widget') return []
        looks++
        return many
      },
    })
    const before = looks
    world.tell(expired)
    await world.clock.advance(500)
    expect(looks - before).toBe(1)
    expect(world.queueOf('widget').sent).toHaveLength(1_000)
    await world.clock.advance(2_000)
    expect(looks - before).toBe(1)
    await world.queueOf('widget').deliver()
    for (let i = 0; i < 120; i++) await world.clock.advance(0)
    await world.clock.advance(1_000)
    expect(looks - before).toBe(2)
    await world.stop()
    expect(world.savedOf('relayed')).toBe('40')
  })

  it('says that a look failed, and goes on a second later', async () => {
    let fails = 1
    const world = await startEngine({
      ...known,
      tickMs: 60_000,
      onWheel: async () => {
        if (fails-- > 0) throw new Error('no index')
        return []
      },
    })
    // The wheel failed first, in the tick.
    expect(world.lines).toHaveLength(0)
    world.tell(expired)
    await world.clock.advance(999)
    expect(world.lines).toEqual([expect.stringContaining('no index')])
    expect(world.looks.filter((look) => look === 'all Widget')).toHaveLength(1)
    await world.clock.advance(1)
    expect(world.looks.filter((look) => look === 'all Widget')).toHaveLength(2)
    await world.stop()
    expect(world.savedOf('relayed')).toBe('100')
  })

  it('any more while it looks, begins anew, and is safe when both looks are over', async () => {
    const held = [Promise.withResolvers<readonly object[]>(), Promise.withResolvers<readonly object[]>()]
    const latest = [Promise.resolve('100'), new Promise<string>((resolve) => setTimeout(resolve, 20, '200'))]
    let looks = 0
    const world = await startEngine({
      ...known,
      latest: () => latest.shift() ?? Promise.resolve('300'),
      onWheel: async ({ kind }) => (kind === 'Widget' ? ((await held[looks++]?.promise) ?? []) : []),
    })
    world.tell(expired)
    await world.clock.advance(0)
    world.tell(expired)
    await world.clock.advance(0)
    held[0]?.resolve([])
    await world.clock.advance(0)
    await new Promise((resolve) => {
      setTimeout(resolve, 40)
    })
    await world.clock.advance(1_000)
    expect(world.followed).toEqual(['40', '100', '200'])
    expect(world.savedOf('relayed')).toBe('40')
    held[1]?.resolve([])
    await world.clock.advance(1_000)
    expect(world.savedOf('relayed')).toBe('200')
    await world.stop()
  })
})

describe('the tick of an engine', () => {
  const duesOf = ({ looks }: World) => looks.filter((look) => look.startsWith('due'))

  it('looks for timers that are due by the next one', async () => {
    const world = await startEngine({ ...known, tickMs: 5_000 })
    const kinds = ['Widget', 'Namespace', 'CustomResourceDefinition', 'Event']
    expect(duesOf(world)).toEqual(kinds.map((kind) => `due ${kind} 5000`))
    await world.clock.advance(4_999)
    expect(duesOf(world)).toHaveLength(4)
    await world.clock.advance(1)
    expect(duesOf(world).slice(4)).toEqual(kinds.map((kind) => `due ${kind} 10000`))
    await world.stop()
  })

  it('asks only for kinds of which a timer can be due', async () => {
    const asked: number[] = []
    const world = await startEngine({
      ...known,
      canBeDue: ({ kind }, untilMs) => {
        asked.push(untilMs - beginMs)
        return kind === 'Event'
      },
    })
    expect([duesOf(world), new Set(asked)]).toEqual([['due Event 1000'], new Set([1_000])])
    await world.stop()
  })

  it('turns the wheel every five seconds, for garbage, too', async () => {
    const world = await startEngine(known)
    await world.clock.advance(11_000)
    expect(world.listed).toEqual([0, 5_000, 10_000])
    await world.stop()
  })

  it('saves how far the wheel was turned once a minute, or when it woke somebody', async () => {
    const idle = await startEngine(known)
    await idle.clock.advance(119_000)
    const turned = idle.saved
      .filter((line) => line.startsWith('turned'))
      .map((line) => Number(line.split(' ')[1]) - beginMs)
    expect(turned).toEqual([0, 60_000])
    await idle.stop()

    const busy = await startEngine({ ...known, onWheel: async ({ kind }) => (kind === 'Widget' ? [widgetKey] : []) })
    await busy.clock.advance(15_000)
    await busy.queueOf('widget').deliver()
    await busy.clock.advance(15_000)
    expect(busy.saved.filter((line) => line.startsWith('turned')).length).toBeGreaterThan(1)
    await busy.stop()
  })

  it('that fails says so and is repeated', async () => {
    let fails = 1
    const world = await startEngine({
      ...known,
      due: async () => {
        if (fails-- > 0) throw new Error('no index')
        return []
      },
    })
    expect(world.lines).toEqual([expect.stringMatching(/^tick failed.*no index/)])
    await world.clock.advance(1_000)
    expect([world.lines.length, duesOf(world).length]).toEqual([1, 5])
    await world.stop()
  })
})

describe('the progress of an engine', () => {
  it('is saved when it ends', async () => {
    const world = await startEngine(known)
    world.tell({ changes: [], resourceVersion: '60' })
    await world.clock.advance(0)
    expect(world.savedOf('relayed')).toBe('40')
    await world.stop()
    expect(world.savedOf('relayed')).toBe('60')
  })

  it('that cannot be saved then is said to be repeated', async () => {
    let isFull = false
    const world = await startEngine({ ...known, isFull: () => isFull })
    world.tell({ changes: [], resourceVersion: '60' })
    await world.clock.advance(0)
    isFull = true
    await world.stop()
    expect(world.lines).toEqual([expect.stringContaining('the disk is full')])
  })

  it('of the wheel is safe behind whom it has woken: a turn that is not over is made again', async () => {
    const world = await startEngine({
      ...known,
      turned: String(beginMs - 60_000),
      onWheel: async ({ kind }) => (kind === 'Widget' ? [widgetKey] : []),
    })
    await world.clock.advance(1_000)
    expect(world.savedOf('turned')).toBe(String(beginMs - 60_000))
    await world.queueOf('widget').deliver()
    await world.clock.advance(60_000)
    expect(Number(world.savedOf('turned'))).toBeGreaterThanOrEqual(beginMs)
    await world.stop()
  })

  it('of the wheel waits for no timer', async () => {
    const due = [{ key: widgetKey, dueAtMs: beginMs }]
    const world = await startEngine({ ...known, due: async () => due })
    expect(world.queueOf('widget').sent).toMatchObject([{ origin: 'timer', notBeforeMs: beginMs }])
    await world.clock.advance(60_000)
    expect(world.savedOf('turned')).toBe(String(beginMs + 60_000))
    await world.stop()
  })
})

describe('loops that were not there before', () => {
  const wakesAll = { relayed: '40', onWheel: async ({ kind }: KindName) => (kind === 'Widget' ? [widgetKey] : []) }
  const introducedIn = ({ saved }: World) => saved.filter((line) => line.startsWith('introduced'))

  it.each([
    ['all, in a new plane', undefined],
    ['one of them', allLoops.slice(1)],
  ])('look at every object, and are known once that has run: %s', async (_what, introduced) => {
    const world = await startEngine({ ...wakesAll, ...(introduced && { introduced }) })
    world.tell({ changes: [], resourceVersion: '110' })
    expect(new Set(reasonsOf(world))).toEqual(new Set(['all:100']))
    expect(world.looks.includes('all Event')).toBe(introduced === undefined)
    await world.clock.advance(1_000)
    expect(introducedIn(world)).toEqual([])
    await world.queueOf('widget').deliver()
    await world.clock.advance(5_000)
    expect(introducedIn(world)).toEqual([`introduced ${JSON.stringify(allLoops)}`])
    await world.stop()
  })

  it('are none where all are known', async () => {
    const latest: number[] = []
    const world = await startEngine({
      ...wakesAll,
      introduced: allLoops,
      latest: async () => {
        latest.push(1)
        return '100'
      },
    })
    await world.clock.advance(3_000)
    expect([introducedIn(world), latest, world.looks.filter((look) => look.startsWith('all'))]).toEqual([[], [], []])
    await world.stop()
  })

  it('are forgotten when they are gone', async () => {
    const world = await startEngine({ ...wakesAll, introduced: ['gadget', ...allLoops] })
    await world.clock.advance(3_000)
    expect(new Set(introducedIn(world))).toEqual(new Set([`introduced ${JSON.stringify(allLoops)}`]))
    expect(reasonsOf(world)).not.toContain('all:100')
    await world.stop()
  })

  it('are forgotten before another one is known', async () => {
    const world = await startEngine({ ...wakesAll, introduced: ['gadget', ...allLoops.slice(1)] })
    world.tell({ changes: [], resourceVersion: '110' })
    await world.clock.advance(1_000)
    expect(introducedIn(world)).toEqual([`introduced ${JSON.stringify(allLoops.slice(1))}`])
    await world.queueOf('widget').deliver()
    await world.clock.advance(1_000)
    expect(introducedIn(world).slice(1)).toEqual([`introduced ${JSON.stringify(allLoops)}`])
    await world.stop()
  })

  it('are those that had their names for another kind', async () => {
    const introduced = ['widget Gadget.test.setpoint.dev', ...allLoops.slice(1)]
    const world = await startEngine({ ...wakesAll, introduced })
    expect(new Set(reasonsOf(world))).toEqual(new Set(['all:100']))
    await world.stop()
  })

  it('keep no timer and no progress waiting while they cannot look', async () => {
    const onWheel = () => Promise.reject(new Error('the index is away'))
    const world = await startEngine({ relayed: '40', introduced: allLoops.slice(1), onWheel })
    const before = world.looks.length
    world.tell({ changes: [], resourceVersion: '110' })
    await world.clock.advance(3_000)
    expect(world.looks.slice(before).filter((look) => look.startsWith('due Widget'))).toHaveLength(3)
    expect(world.savedOf('relayed')).toBe('110')
    expect(new Set(world.lines)).toContain('tick failed; the next tick repeats it {"error":"Error: the index is away"}')
    await world.stop()
  })

  it('are those that watch something else than before', async () => {
    const watching = { ...widget, maps: [{ kind: { group: '', kind: 'Secret' }, source: 'x', primaries: () => [] }] }
    const world = await startEngine({ ...wakesAll, introduced: allLoops, controllers: [watching as never] })
    await world.clock.advance(1_000)
    expect(new Set(reasonsOf(world))).toEqual(new Set(['all:100']))
    await world.stop()
  })
})

it('a batch that could not be relayed is taken from the feed again', async () => {
  const world = await startEngine(known)
  refusals.left = 1
  world.tell({ changes: [changeAt('50')], resourceVersion: '50' })
  await world.clock.advance(1_000)
  expect(world.followed).toEqual(['40', '40'])
  world.tell({ changes: [changeAt('50')], resourceVersion: '50' })
  await world.clock.advance(1_000)
  expect(reasonsOf(world)).toEqual(['uid-default-w:50'])
  await world.stop()
})

it('a batch that is under way when the engine ends passes nothing of a look that is not over', async () => {
  // The relay asks whether a removed object had children, which it had not.
  const answered = Promise.withResolvers<readonly object[]>()
  const many = Array.from({ length: 1_000 }, (_, i) => ({ ...widgetKey, name: `w${i}` }))
  const last = { ...widgetKey, name: 'last' }
  const world = await startEngine({
    introduced: allLoops,
    relayed: '40',
    childrenOf: () => answered.promise,
    onWheel: async ({ kind }, from, to) => {
      if (kind !== 'Widget') return []
      return [...(from === 0 ? many : []), ...(from <= 3_000 && 3_000 < to ? [last] : [])]
    },
  })
  world.tell(new OperatingError('EXPIRED', 'too old'))
  await world.clock.advance(0)
  // A thousand Widgets have been woken, and run. The last one is for the next tick.
  await world.queueOf('widget').deliver()
  const metadata = { name: 'c', namespace: 'default', uid: 'u', resourceVersion: '120', generation: 1 }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata }
  const removed = { type: 'removed', touched: ['delete'], stored: { object, engine: {} } } as unknown as Change
  world.tell({ changes: [removed], resourceVersion: '120' })
  await world.clock.advance(0)
  world.abort()
  await world.clock.advance(0)
  answered.resolve([])
  await world.stop()
  const woken = new Set(world.queueOf('widget').sent.map(({ key }) => key.name))
  expect([woken.size, woken.has('last')]).toEqual([1_000, false])
  expect(world.savedOf('relayed') ?? '40').toBe('40')
})
