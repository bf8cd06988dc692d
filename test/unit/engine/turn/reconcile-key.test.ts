import { describe, expect, it } from 'vitest'
import { createPrometheusTelemetry } from '../../../../shared/adapters/local/prometheus-telemetry.ts'
import type { EngineOptions } from '../../../../shared/engine/turn/engine-options.ts'
import { createReconcileKey } from '../../../../shared/engine/turn/reconcile-key.ts'
import type { Turn } from '../../../../shared/engine/state/turn.ts'
import {
  again,
  done,
  stop,
  type Context,
  type Kind,
  type Outcome,
  type ReconcilerOptions,
} from '../../../../shared/index.ts'
import { conditionOf } from '../../../../shared/model/conditions.ts'
import type { EngineState } from '../../../../shared/model/engine-state.ts'
import { OperatingError, type ErrorCode } from '../../../../shared/model/errors.ts'
import type { ObjectKey } from '../../../../shared/model/object-key.ts'
import type { ObjectMeta } from '../../../../shared/model/object.ts'
import type { ServedKind } from '../../../../shared/model/served-kind.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import type { WakeUp } from '../../../../shared/ports/work-queue.ts'
import type { Controller } from '../../../../shared/reconciler/controller.ts'
import { Widget, widgets, type WidgetObject } from '../../../acceptance/support/widgets.ts'
import { storedWidget } from '../../../support/stored-object.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

const startMs = 1_000_000

interface World {
  readonly reconcile?: (object: WidgetObject, ctx: Context) => Promise<Outcome> | Outcome
  readonly options?: Partial<Omit<ReconcilerOptions<WidgetObject>, 'finalizer' | 'cleanup'>> & {
    readonly finalizer?: string
    readonly cleanup?: () => Promise<Outcome>
  }
  readonly metadata?: Partial<ObjectMeta>
  readonly spec?: object
  readonly status?: object
  /** What it has beside metadata and spec. */
  readonly content?: object
  readonly engine?: EngineState
  readonly isGone?: true
  readonly kind?: Partial<ServedKind>
  readonly more?: Partial<EngineOptions>
  readonly controller?: Partial<Controller>
  /** What writes throw, one after the other. */
  readonly errors?: readonly (ErrorCode | undefined)[]
}

/** A control loop over one object, and all it does. */
function worldOf({
  reconcile = () => done(),
  options,
  metadata,
  spec = { size: 1 },
  status,
  engine = {},
  ...given
}: World) {
  const { kind, more, controller: changed, errors = [], isGone, content } = given
  const did: string[] = []
  const advice: unknown[] = []
  const events: string[] = []
  const clock = createVirtualClock(startMs)
  const { object } = storedWidget('w', { resourceVersion: '1', ...metadata })
  let stored: StoredObject | undefined = isGone
    ? undefined
    : ({
        object: { ...object, apiVersion: 'test.setpoint.dev/v1', spec, ...(status && { status }), ...content },
        engine,
      } as StoredObject)
  const left = [...errors]
  const write = async (next: StoredObject): Promise<StoredObject> => {
    const code = left.shift()
    if (code !== undefined) throw new OperatingError(code, 'no')
    if (next.object.metadata.resourceVersion !== stored?.object.metadata.resourceVersion)
      throw new OperatingError('VERSION_CONFLICT', 'another was ahead')
    const resourceVersion = String(Number(next.object.metadata.resourceVersion) + 1)
    stored = { ...next, object: { ...next.object, metadata: { ...next.object.metadata, resourceVersion } } }
    return stored
  }
  const store = {
    get: async () => stored,
    replace: async (next: StoredObject, touched: readonly string[]) => {
      did.push(`write ${touched.join()}`)
      return write(next)
    },
    remove: async (next: StoredObject) => {
      did.push('remove')
      await write(next)
      stored = undefined
      return next
    },
  }
  const served = {
    group: 'test.setpoint.dev',
    kind: 'Widget',
    version: 'v1',
    hasStatus: true,
    builtIn: false,
    namespaced: true,
    schema: {},
    ...kind,
  }
  const logger = {
    debug: () => {},
    info: () => {},
    warn: (_line: string, { advice: name }: { readonly advice?: string } = {}) => void advice.push(name),
    error: () => {},
    with: () => logger,
  }
  const ports = {
    store,
    index: {},
    resources: {},
    catalog: { byKind: async () => served },
    clock,
    random: { next: () => 0.5, uuid: () => 'uuid' },
    logger,
    telemetry: createPrometheusTelemetry(),
    events: { record: async (_about: unknown, { reason }: { readonly reason: string }) => events.push(reason) > 0 },
    ...more,
  } as unknown as EngineOptions
  const controller = widgets(
    [],
    (widget, ctx) => {
      did.push('run')
      return reconcile(widget, ctx)
    },
    options as unknown as Partial<ReconcilerOptions<WidgetObject>>,
  )
  const loop = createReconcileKey({ ...controller, ...changed }, ports)
  const take = (turn: Partial<Turn> = {}, signal = new AbortController().signal): Promise<void> =>
    loop(
      {
        key: { group: 'test.setpoint.dev', kind: 'Widget', namespace: 'default', name: 'w' },
        wakeUps: [{ origin: 'change', reason: 'r' } as WakeUp],
        receiveCount: 1,
        handle: 'h',
        isNearReceiveLimit: false,
        isRepeated: false,
        hold: async (ms) => void did.push(`hold ${ms}`),
        delay: async (ms) => void did.push(`delay ${ms}`),
        isWanted: async () => false,
        settle: async () => void did.push('settle'),
        ...turn,
      },
      signal,
    )
  /** Somebody else writes it. */
  const meddle = (metadataMore: Partial<ObjectMeta> = {}, engineMore: EngineState = stored?.engine ?? {}): void => {
    if (stored === undefined) return
    const resourceVersion = String(Number(stored.object.metadata.resourceVersion) + 1)
    const metadataNext = { ...stored.object.metadata, resourceVersion, ...metadataMore }
    stored = { object: { ...stored.object, metadata: metadataNext }, engine: engineMore }
  }
  return { take, did, advice, events, clock, meddle, stored: () => stored, now: () => stored?.engine }
}

const readyOf = (stored: StoredObject | undefined) => stored && conditionOf(stored.object, 'Ready')?.reason

describe('a turn', () => {
  it.each([
    ['of another kind', { kind: 'Gadget' }],
    ['of another group', { group: 'x.dev' }],
  ])('of a key %s is settled, and nothing read', async (_what, key) => {
    const { take, did } = worldOf({ more: { catalog: {} as never } })
    const own: ObjectKey = { group: 'test.setpoint.dev', kind: 'Widget', namespace: 'default', name: 'w' }
    await take({ key: { ...own, ...key } })
    expect(did).toEqual(['settle'])
  })

  it('of an object that is gone is settled', async () => {
    const { take, did } = worldOf({ isGone: true })
    await take()
    expect(did).toEqual(['settle'])
  })

  it('runs, writes how it went, and settles', async () => {
    const { take, did, stored } = worldOf({})
    await take()
    expect(did).toEqual(['run', 'write status', 'settle'])
    expect(readyOf(stored())).toBe('Reconciled')
  })

  it('writes no status where the kind keeps none, or the controller reports none', async () => {
    for (const world of [{ kind: { hasStatus: false } }, { controller: { reportsStatus: false } }]) {
      const { take, did } = worldOf(world)
      await take()
      expect(did).toEqual(['run', 'settle'])
    }
  })

  it('of an object that does not fit its kind runs nothing, and says where', async () => {
    const { take, did, stored, events } = worldOf({ spec: { size: 'x' } })
    await take()
    expect(did).toEqual(['write status,engine', 'settle'])
    expect([readyOf(stored()), events]).toEqual(['SpecInvalid', ['SpecInvalid']])
  })

  it('of a kind whose definition was refused runs nothing, and those of other kinds do', async () => {
    const refusalsOf = (name: string) => ({ refusals: new Map([[name, 'no such schema']]) })
    const refused = worldOf({ more: refusalsOf('test.setpoint.dev/Widget') })
    await refused.take()
    expect(readyOf(refused.stored())).toBe('SpecInvalid')
    for (const more of [refusalsOf('test.setpoint.dev/Gadget'), { refusals: new Map() }]) {
      const other = worldOf({ more })
      await other.take()
      expect(other.did).toContain('run')
    }
  })

  it('that is put off by a limit says until when, and does not run', async () => {
    const options = { rateLimit: { object: { runs: 1, within: '10s' } } } as const
    const window = { startMs: startMs - 4_000, runs: 1 }
    const { take, did, now } = worldOf({ options, engine: { memory: { window } } })
    await take()
    expect(did).toEqual(['write engine', 'hold 6000'])
    expect(now()?.wait).toMatchObject({ kind: 'RateLimited', atMs: startMs + 6_000 })
  })

  it('counts its run for the limit of its object', async () => {
    const options = { rateLimit: { object: { runs: 2, within: '10s' } } } as const
    const { take, now } = worldOf({ options })
    await take()
    expect(now()?.memory?.window).toEqual({ startMs, runs: 1 })
  })

  it('of a hot loop is put off, with advice, and says when it is looked at', async () => {
    const { take, did, advice, now, stored } = worldOf({ options: { name: 'widget' }, reconcile: () => again('1s') })
    for (let i = 0; i < 100; i++) await take()
    expect(advice).not.toContain('HotLoop')
    did.length = 0
    await take()
    expect(did).toEqual(['write status,engine', 'settle'])
    expect([now()?.wait?.kind, conditionOf(stored()?.object as never, 'HotLoop')?.status]).toEqual(['HotLoop', 'True'])
    expect(advice).toContain('HotLoop')
  })

  it.each([
    [again('5s'), 'HotLoop'],
    [done(), undefined],
  ])('whose probes end with %j waits by %s in the end', async (outcome, kind) => {
    let ends: Outcome = again('5s')
    const world = worldOf({ reconcile: () => ends })
    for (let i = 0; i < 101; i++) await world.take()
    ends = outcome
    for (const afterMs of [31_000, 62_000]) {
      expect(world.now()?.wait?.kind).toBe('HotLoop')
      world.clock.moveTo(startMs + afterMs)
      await world.take({ wakeUps: [{ origin: 'timer', reason: '' } as WakeUp] })
    }
    expect(world.now()?.wait?.kind).toBe(kind)
  })
})

describe('an object of a kind that others define', () => {
  const own = Widget as unknown as Kind
  const { definition: _, ...foreign } = own
  const servedWith = (size: 'string' | 'integer') => ({
    ...foreign,
    hasStatus: true,
    builtIn: false,
    schema: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: size } } } } },
  })

  it.each([
    ['runs where it fits what is known', 'integer', 'string', foreign, [undefined], 'Reconciled'],
    ['runs where it fits the newest definition', 'string', 'integer', foreign, [undefined, 1_000], 'Reconciled'],
    ['does not run where it does not fit that, either', 'string', 'string', foreign, [undefined, 1_000], 'SpecInvalid'],
    [
      'runs whatever is served, where its reconciler defines the kind',
      'string',
      'string',
      own,
      [undefined],
      'Reconciled',
    ],
  ] as const)('%s', async (...[, known, newest, kind, ages, reason]) => {
    const asked: unknown[] = []
    const byKind = async (_group: string, _kind: string, oldestMs?: number) => {
      asked.push(oldestMs)
      return servedWith(oldestMs === undefined ? known : newest)
    }
    const { take, did, stored } = worldOf({ controller: { kind }, more: { catalog: { byKind } as never } })
    await take()
    expect([asked, readyOf(stored())]).toEqual([ages, reason])
    expect(did.includes('run')).toBe(reason === 'Reconciled')
  })

  it('that does not fit what its reconciler defines needs no newest definition', async () => {
    const ages: unknown[] = []
    const byKind = async (...[, , oldestMs]: unknown[]) => {
      ages.push(oldestMs)
      return servedWith('string')
    }
    const { take, stored } = worldOf({ spec: { size: 'x' }, more: { catalog: { byKind } as never } })
    await take()
    expect([ages, readyOf(stored())]).toEqual([[undefined], 'SpecInvalid'])
  })

  it('that is gone needs no newest definition', async () => {
    const asked: unknown[] = []
    const byKind = async (...question: unknown[]) => void asked.push(question)
    const { take, did } = worldOf({
      isGone: true,
      controller: { kind: foreign },
      more: { catalog: { byKind } as never },
    })
    await take()
    expect([asked, did]).toEqual([[['test.setpoint.dev', 'Widget']], ['settle']])
  })
})

describe('a run that begins', () => {
  const cleanup = async (): Promise<Outcome> => done()

  it('has its finalizer first, and writes that before', async () => {
    const { take, did, stored } = worldOf({ options: { cleanup, finalizer: 'a/ours' } })
    await take()
    expect(did).toEqual(['write engine', 'run', 'write status', 'settle'])
    expect(stored()?.object.metadata.finalizers).toEqual(['a/ours'])
  })

  it.each(['VERSION_CONFLICT', 'NOT_FOUND'] as const)('looks again if that meets %s', async (code) => {
    const { take, did } = worldOf({ options: { cleanup, finalizer: 'a/ours' }, errors: [code] })
    await take()
    expect(did).toEqual(['write engine', 'write engine', 'run', 'write status', 'settle'])
  })

  it('gives the turn back if that cannot be written, or the object never stands still', async () => {
    const away = worldOf({ options: { cleanup, finalizer: 'a/ours' }, errors: ['UNAVAILABLE'] })
    await expect(away.take()).rejects.toThrow('no')
    expect(away.did).toEqual(['write engine'])
    const errors = Array.from({ length: 20 }, () => 'VERSION_CONFLICT' as const)
    const restless = worldOf({ options: { cleanup, finalizer: 'a/ours' }, errors })
    await expect(restless.take()).rejects.toThrow('the object changed during 10 looks at it')
    expect(restless.did).toHaveLength(10)
  })

  it('is a clean-up where the object is being deleted, whose end removes it', async () => {
    const calls: string[] = []
    const { take, did, stored } = worldOf({
      options: {
        cleanup: async () => {
          calls.push('cleanup')
          return done()
        },
        finalizer: 'a/ours',
      },
      metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a/ours'] },
    })
    await take()
    expect([calls, did, stored()]).toEqual([['cleanup'], ['remove', 'settle'], undefined])
  })

  it('is a clean-up that goes on as any other run while it is not done', async () => {
    const { take, did, now, stored } = worldOf({
      options: { cleanup: async () => again('5s'), finalizer: 'a/ours' },
      metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a/ours'] },
    })
    await take()
    expect(did).toEqual(['write status,engine', 'hold 5000'])
    expect([now()?.wait?.kind, stored()?.object.metadata.finalizers]).toEqual(['Requeue', ['a/ours']])
  })
})

describe('a run that fails', () => {
  const failing = () => {
    throw new Error('no luck')
  }

  it('waits for its backoff, and for the budget of all retries', async () => {
    const plain = worldOf({ reconcile: failing })
    await plain.take()
    expect([plain.did, plain.events]).toEqual([['run', 'write status,engine', 'hold 1000'], ['ReconcileFailed']])
    const shared = worldOf({ reconcile: failing, more: { retryBudget: () => 9_000 } })
    await shared.take()
    expect(shared.now()?.wait?.atMs).toBe(startMs + 9_000)
  })

  it('takes from that budget, and a run that does not fail takes nothing', async () => {
    for (const [reconcile, times] of [
      [failing, 1],
      [() => done(), 0],
      [
        () => {
          throw stop('Taken', 'm')
        },
        0,
      ],
    ] as const) {
      let asked = 0
      await worldOf({ reconcile, more: { retryBudget: () => ++asked } }).take()
      expect(asked).toBe(times)
    }
  })

  it('says so if what it reports cannot be written', async () => {
    for (const code of ['TOO_LARGE'] as const) {
      const { take, did, stored } = worldOf({
        errors: [code],
        reconcile: () => done({ status: { seen: 'x' } }),
      })
      await take()
      expect(did).toEqual(['run', 'write status', 'write status,engine', 'settle'])
      expect(readyOf(stored())).toBe('Refused')
    }
  })

  it.each([
    ['were', { token: 'plain' }],
    ['were, and what the run met', { token: 'plain', again: 'hunter2hunter2' }],
  ])('and has no room for its notes leaves secret what they %s', async (_what, noted) => {
    const memory = { notes: { token: 'hunter2hunter2' }, secretPaths: [['notes', 'token']] }
    const reconcile = (_widget: WidgetObject, ctx: Context): Outcome => {
      for (const [name, value] of Object.entries(noted)) ctx.notes.set(name, value)
      return done()
    }
    const { take, stored, now } = worldOf({ engine: { memory }, reconcile, errors: ['TOO_LARGE'] })
    await take()
    expect(readyOf(stored())).toBe('Refused')
    expect(now()?.memory?.notes).toEqual(memory.notes)
    expect(now()?.memory?.secretPaths).toEqual([['notes', 'token'], ...('again' in noted ? [['notes', 'again']] : [])])
  })

  it('keeps the status that it has if there is no room even to say so', async () => {
    const { take, did, now } = worldOf({ errors: ['TOO_LARGE', 'TOO_LARGE'], reconcile: () => again('5m') })
    await take()
    expect(did).toEqual(['run', 'write status,engine', 'write status,engine', 'write engine', 'settle'])
    expect(now()?.wait?.kind).toBe('Stopped')
  })

  it('is given back where the store is away', async () => {
    const { take, did } = worldOf({ errors: ['UNAVAILABLE'] })
    await expect(take()).rejects.toThrow('no')
    expect(did).toEqual(['run', 'write status'])
  })
})

describe('a run that took long', () => {
  it.each([
    [30_000, []],
    [30_001, ['LongRun']],
  ])('%d ms of a minute: %j', async (ms, advices) => {
    const world = worldOf({
      reconcile: async () => {
        world.clock.moveTo(startMs + ms)
        return done()
      },
    })
    await world.take()
    expect(world.advice).toEqual(advices)
  })

  it('leaves no timer behind', async () => {
    const { take, clock } = worldOf({})
    await take()
    await Promise.resolve()
    expect(clock.nextDueMs()).toBeUndefined()
  })
})

describe('a change during a run', () => {
  it('of its desired state is not taken for observed', async () => {
    const change = { verb: 'changed', atMs: 1, by: 'me' } as const
    const world = worldOf({
      reconcile: () => {
        world.meddle({ generation: 2 }, { change })
        return done()
      },
    })
    await world.take()
    expect(world.stored()?.object.status?.['observedGeneration']).toBe(1)
    expect(world.now()).toEqual({ change })
  })

  it('that asks for a run at another time keeps its wish, and the one it began with is met', async () => {
    const kept = worldOf({
      engine: { wakeAtMs: 5 },
      reconcile: () => {
        kept.meddle({}, { wakeAtMs: 6 })
        return done()
      },
    })
    await kept.take()
    expect(kept.now()).toEqual({ wakeAtMs: 6 })
    const met = worldOf({ engine: { wakeAtMs: 5 } })
    await met.take()
    expect(met.now()).toEqual({})
  })
})

describe('what a run leaves to the next', () => {
  it('are its notes and what it expects', async () => {
    const { take, now } = worldOf({
      reconcile: (_object, ctx) => {
        ctx.notes.set('a', 1)
        ctx.expectations.set('e', startMs + 50_000)
        return done()
      },
    })
    await take()
    expect(now()?.memory).toEqual({ notes: { a: 1 }, expectations: { e: startMs + 50_000 } })
    expect(now()?.wait).toMatchObject({ kind: 'Expectation', atMs: startMs + 50_000 })
  })

  it('is what it expected before, where nobody asked for that', async () => {
    const { take, now } = worldOf({ engine: { memory: { expectations: { e: startMs + 50_000 } } } })
    await take()
    expect(now()?.memory?.expectations).toEqual({ e: startMs + 50_000 })
  })
})

describe('the limit that processes share', () => {
  const options = { rateLimit: { controller: { perSecond: 1, burst: 1 } } } as const
  const reserveAt = (...places: readonly number[]) => {
    const left = [...places]
    return { reserve: async () => [left.shift() ?? 0] }
  }

  it('is waited for if the place is near, and what was read is read again', async () => {
    const world = worldOf({ options, more: reserveAt(startMs + 700) })
    const taken = world.take()
    await world.clock.advance(699)
    expect(world.did).toEqual([])
    world.meddle({ labels: { a: 'b' } })
    await world.clock.advance(1)
    await taken
    expect(world.did).toEqual(['run', 'write status', 'settle'])
    expect(world.stored()?.object.metadata.labels).toEqual({ a: 'b' })
  })

  it('puts the run off if the place is far', async () => {
    const { take, did, now } = worldOf({ options, more: reserveAt(startMs + 5_000) })
    await take()
    expect(did).toEqual(['write engine', 'hold 5000'])
    expect(now()?.memory?.reservedMs).toBe(startMs + 5_000)
  })

  it('strikes a place out before its run begins', async () => {
    const world = worldOf({ options, engine: { memory: { reservedMs: startMs } }, more: reserveAt(startMs + 20_000) })
    await world.take()
    expect(world.did).toEqual(['write engine', 'run', 'write status,engine', 'settle'])
    expect(world.now()?.memory?.unended).toBeUndefined()
  })

  it('is left at the end, so that others need not wait', async () => {
    const asked: number[] = []
    const world = worldOf({
      options,
      more: {
        reserve: async (_line, count) => {
          asked.push(count)
          return Array.from({ length: count }, () => startMs)
        },
      },
      metadata: { annotations: { 'setpoint.dev/paused': 'true' } },
    })
    await world.take()
    world.meddle({ annotations: {} })
    await world.take()
    expect(asked).toEqual([1])
    expect(world.did.filter((one) => one === 'run')).toHaveLength(1)
  })
})

it('is told to who keeps the last runs', async () => {
  const told: unknown[] = []
  const note = (...run: unknown[]): void => void told.push(run)
  const { take } = worldOf({ more: { history: { note, noteQuiet: note } as never } })
  await take()
  expect(told).toHaveLength(1)
})

it('is told to them as failed if its end could not be written, and comes again', async () => {
  const told: unknown[] = []
  const history = {
    note: (_uid: string, run: unknown) => void told.push(run),
    noteQuiet: () => expect.fail('it failed'),
  }
  const { take, did } = worldOf({ errors: ['UNAVAILABLE'], more: { history: history as never } })
  await expect(take()).rejects.toThrow('no')
  expect(told).toMatchObject([{ outcome: 'failed', message: expect.stringContaining('no') }])
  expect(did).toEqual(['run', 'write status'])
})

it.each([
  ['tells the value of a Secret', 'refused: hunter2hunter2', ['SecretTold']],
  ['tells none', 'refused', []],
])('a run that %s has this advice: %s', async (_what, message, advices) => {
  const { take, advice, stored } = worldOf({
    kind: { isConfidential: true },
    content: { stringData: { k: 'hunter2hunter2' } },
    reconcile: () => {
      throw new Error(message)
    },
  })
  await take()
  expect(advice.filter((name) => name !== undefined)).toEqual(advices)
  expect(JSON.stringify(stored()?.object.status)).not.toContain('hunter2')
})

it('runs in a span where runs are traced', async () => {
  const spans: string[] = []
  const tracing = {
    span: async ({ name }: { readonly name: string }, run: () => Promise<unknown>) => {
      spans.push(name)
      return run()
    },
  } as never
  const { take, did } = worldOf({ more: { tracing } })
  await take()
  expect([spans, did]).toEqual([['run widget'], ['run', 'write status', 'settle']])
})
