import { describe, expect, it } from 'vitest'
import { SecretValues } from '../../../../shared/engine/insight/secret-values.ts'
import type { ObservedRun } from '../../../../shared/engine/insight/run-observer.ts'
import { contextAbout, RunContext } from '../../../../shared/engine/turn/run-context.ts'
import { createRunMemory } from '../../../../shared/engine/turn/run-memory.ts'
import { RunTime, RunTimes } from '../../../../shared/engine/turn/run-times.ts'
import { runInTime, type RunResult } from '../../../../shared/engine/turn/run.ts'
import type { EngineOptions } from '../../../../shared/engine/turn/engine-options.ts'
import {
  again,
  attempts,
  ConfigMap,
  done,
  retryAfter,
  waiting,
  type Context,
  type Outcome,
} from '../../../../shared/index.ts'
import type { EngineState } from '../../../../shared/model/engine-state.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import type { ServedKind } from '../../../../shared/model/served-kind.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import type { Controller } from '../../../../shared/reconciler/controller.ts'
import { withReport } from '../../../../shared/reconciler/outcome.ts'
import { widgets, type WidgetObject } from '../../../acceptance/support/widgets.ts'
import { storedWidget } from '../../../support/stored-object.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

const startMs = 1_000_000

interface World {
  readonly run?: (object: WidgetObject, ctx: Context) => unknown
  readonly cleanup?: (object: WidgetObject, ctx: Context) => unknown
  readonly phase?: 'reconcile' | 'cleanup'
  readonly kind?: Partial<ServedKind>
  readonly engine?: EngineState
  readonly spec?: JsonObject
  readonly more?: Partial<EngineOptions>
  /** What every read of another object waits for. */
  readonly reads?: Promise<unknown>
  /** The value of a Secret that the run has met. */
  readonly secret?: string
  readonly time?: RunTime
}

/** One run, with what it tells. */
function worldOf({
  run = () => done(),
  cleanup,
  phase = 'reconcile',
  kind,
  engine = {},
  spec = {},
  more,
  reads,
  secret,
  ...given
}: World) {
  const clock = createVirtualClock(startMs)
  const { object } = storedWidget('w')
  const stored = { object: { ...object, apiVersion: 'test.setpoint.dev/v1', spec }, engine } as StoredObject
  const secrets = secret === undefined ? undefined : new SecretValues(stored.object)
  secrets?.note({ metadata: { name: 's' }, stringData: { k: secret ?? '' } })
  const told: unknown[] = []
  const logger = {
    debug: () => {},
    info: (...line: unknown[]) => void told.push(line),
    warn: () => {},
    error: () => {},
    with: () => logger,
  }
  const noted: JsonObject[] = []
  const outside: unknown[] = []
  const seen = {
    logger,
    resources: {
      get: async () => {
        await reads
        return { object: stored.object, engine: {} }
      },
    },
    outside: {
      recordCall: (...call: unknown[]) => void outside.push(call),
      recordDrift: () => void outside.push('drift'),
    },
    secrets,
    noteSecret: (one: JsonObject) => void noted.push(one),
    end: () => {},
  } as unknown as ObservedRun
  const events: unknown[] = []
  const store = { get: async () => stored, replace: async (one: StoredObject) => one }
  const engineOptions = {
    store,
    clock,
    catalog: { byKind: async () => ({ ...ConfigMap, builtIn: true }) },
    events: { record: async (_about: unknown, event: unknown) => void events.push(event) },
    ...more,
  } as unknown as EngineOptions
  const controller = {
    ...widgets([], run as never),
    ...(cleanup && { cleanup }),
  } as unknown as Controller
  const times = new RunTimes(controller.timeoutMs, clock)
  const stop = new AbortController()
  const time = given.time ?? times.begin(stop.signal)
  const memory = createRunMemory(engineOptions.store, stored)
  const contextOf = (): RunContext =>
    new RunContext({ controller, object: stored.object, stored, engine: engineOptions, seen, time, memory })
  const running = (): Promise<RunResult> =>
    runInTime({
      controller,
      kind: { schema: {}, ...kind } as unknown as ServedKind,
      stored,
      engine: engineOptions,
      seen,
      time,
      phase,
    })
  return { running, contextOf, clock, stop, told, noted, outside, events, end: () => times.end(time) }
}

const failedBy = (message: unknown) => ({ kind: 'failed', reason: 'ReconcileFailed', message, quiet: false })

describe('how a run ends', () => {
  it.each([
    ...[undefined, Number.NaN, -1, Infinity, '5s'].map((afterMs) => ({ kind: 'again', afterMs })),
    ...[Number.NaN, -1, Infinity, '5s'].map((resyncAfterMs) => ({ kind: 'done', resyncAfterMs })),
  ])('made by hand without a time, as %j, it fails', async (outcome) => {
    expect((await worldOf({ run: () => outcome }).running()).verdict).toMatchObject(
      failedBy('a reconciler returns done(…) or again(…), or throws'),
    )
  })

  it.each([
    ['done', () => done({ syncedAtMs: 3 }), { kind: 'done', syncedAtMs: 3 }],
    ['again', () => again('5s'), { kind: 'again', afterMs: 5_000 }],
    ['nothing', () => {}, failedBy('a reconciler returns done(…) or again(…), or throws')],
    ['something else', () => ({ kind: 'ended' }), failedBy('a reconciler returns done(…) or again(…), or throws')],
    ['a list', () => ['done'], failedBy('a reconciler returns done(…) or again(…), or throws')],
    [
      'an error',
      () => {
        throw new Error('no luck')
      },
      failedBy('no luck'),
    ],
    [
      'a wait',
      () => {
        throw retryAfter('5s', new Error('429'))
      },
      { kind: 'retryAfter', afterMs: 5_000, message: '429' },
    ],
  ] as const)('%s', async (_what, run, verdict) => {
    const { verdict: is, overrun } = await worldOf({ run }).running()
    expect([is, overrun]).toMatchObject([verdict, undefined])
  })

  it('an author who holds on to a status does not change what is written', async () => {
    const status = { seen: 'a' }
    const { verdict } = await worldOf({ run: () => done<JsonObject>({ status }) }).running()
    const failing = (): never => {
      throw withReport(new Error('no luck'), { status, retryWithin: '30s' })
    }
    const failed = await worldOf({ run: failing }).running()
    status.seen = 'b'
    expect(verdict).toMatchObject({ kind: 'done', status: { seen: 'a' } })
    expect(failed.verdict).toMatchObject({ kind: 'failed', report: { status: { seen: 'a' }, retryWithin: '30s' } })
  })

  it('a report without a status stays one', async () => {
    const { verdict } = await worldOf({ run: () => done({ conditions: {} }) }).running()
    expect('status' in verdict).toBe(false)
  })

  it.each([
    [
      'a status',
      () => done({ status: { at: new Date(0) } as never }),
      /^what is reported cannot be stored: status\.at/,
    ],
    [
      'a condition',
      () => done({ conditions: { A: { status: 'True', reason: 7n } as never } }),
      /cannot be stored: conditions\.A/,
    ],
    [
      'a failure',
      () => {
        throw withReport(new Error('no luck'), { status: { size: Number.NaN } })
      },
      /^no luck; what is reported cannot be stored: status\.size/,
    ],
  ])('%s that is no JSON is a failure that says where', async (_what, run, message) => {
    const { verdict } = await worldOf({ run }).running()
    expect(verdict).toMatchObject(failedBy(expect.stringMatching(message)))
  })

  it.each([
    ['of another type', { A: { status: true, reason: 'R' } }, 'conditions.A.status'],
    ['without a reason', { A: { status: 'True' } }, 'conditions.A.reason'],
    ['that is a text', { A: 'True' }, 'conditions.A'],
  ])('that reports a condition %s is a failure that names the field', async (_what, conditions, field) => {
    const { verdict } = await worldOf({ run: () => done({ conditions: conditions as never }) }).running()
    expect(verdict).toMatchObject(failedBy(expect.stringContaining(`what is reported is no condition: ${field}`)))
  })

  it.each([
    [
      'a status',
      () => done({ status: { size: 'x' } as never }),
      /^what is reported does not fit Widget: .*status\.size/,
    ],
    [
      'the status of a failure',
      () => {
        throw withReport(new Error('no luck'), { status: { size: 'x' } })
      },
      /^no luck; what is reported does not fit Widget: .*status\.size/,
    ],
  ])('%s that its kind does not have is a failure that says where', async (_what, run, message) => {
    const { verdict } = await worldOf({ run, kind: { kind: 'Widget', hasStatus: true } }).running()
    expect(verdict).toMatchObject(failedBy(expect.stringMatching(message)))
    expect((await worldOf({ run }).running()).verdict).not.toMatchObject(failedBy(expect.stringMatching(message)))
  })

  it('with a call under way that nobody waits for is a failure', async () => {
    const run = (_object: unknown, ctx: Context): Outcome => {
      void ctx.get(ConfigMap, 'a')
      return done()
    }
    const { verdict } = await worldOf({ run, reads: new Promise(() => {}) }).running()
    expect(verdict).toMatchObject(failedBy('the run ended while ctx.get was under way: an await is missing'))
  })

  it.each([
    ['a call that acts, and is over when that is', 'once', true],
    ['a call that reads, which may go on', 'get', false],
  ] as const)('that fails beside %s', async (_what, verb, isHeld) => {
    const ends = Promise.withResolvers<void>()
    const run = async (_object: unknown, ctx: Context): Promise<Outcome> => {
      await Promise.all([
        verb === 'once' ? ctx.once('order', () => ends.promise) : ctx.get(ConfigMap, 'a'),
        Promise.reject(new Error('no luck')),
      ])
      return done()
    }
    const { verdict, overrun } = await worldOf({ run, reads: ends.promise }).running()
    expect([verdict.kind, overrun !== undefined]).toEqual(['failed', isHeld])
    ends.resolve()
    await overrun
  })

  it('is told without the values of Secrets that it has met', async () => {
    const run = (): never => {
      throw new Error('refused: hunter2hunter2')
    }
    const { verdict } = await worldOf({ run, secret: 'hunter2hunter2' }).running()
    expect(JSON.stringify(verdict)).not.toContain('hunter2')
    const ready = waiting('Booting', 'with hunter2hunter2')
    const calm = await worldOf({ run: () => done({ ready }), secret: 'hunter2hunter2' }).running()
    expect(JSON.stringify(calm.verdict)).not.toContain('hunter2')
  })
})

describe('what a run is given', () => {
  it('is its object with all defaults, frozen', async () => {
    const run = (object: WidgetObject): Outcome => {
      expect(object.spec).toEqual({ size: 1 })
      expect(Object.isFrozen(object.spec)).toBe(true)
      return done()
    }
    expect((await worldOf({ run }).running()).verdict.kind).toBe('done')
  })

  it.each([
    [{ isConfidential: true }, 1],
    [{}, 0],
  ])('is noted as a Secret where its kind is one (%j)', async (kind, times) => {
    const { running, noted } = worldOf({ kind: kind as Partial<ServedKind> })
    await running()
    expect(noted).toHaveLength(times)
  })

  it('leaves what it notes and expects', async () => {
    const engine: EngineState = { memory: { notes: { a: 1 }, expectations: { e: 5 } } }
    const untouched = await worldOf({ engine }).running()
    expect([untouched.noteChanges, untouched.expectations]).toEqual([{}, { e: 5 }])
    const run = (_object: unknown, ctx: Context): Outcome => {
      ctx.notes.set('b', 2)
      ctx.expectations.delete('e')
      ctx.expectations.set('f', 6)
      return done()
    }
    const { noteChanges, expectations } = await worldOf({ engine, run }).running()
    expect([noteChanges, expectations]).toEqual([{ b: 2 }, { f: 6 }])
    expect((await worldOf({}).running()).expectations).toEqual({})
  })

  it.each([Infinity, Number.NaN, -1, 8.64e15 + 1, '5', undefined])('refuses to expect until %s', async (untilMs) => {
    const engine: EngineState = { memory: { expectations: { e: 5 } } }
    const run = (_object: unknown, ctx: Context): Outcome => {
      ctx.expectations.set('f', untilMs as number)
      return done()
    }
    const { verdict, expectations } = await worldOf({ engine, run }).running()
    expect(verdict).toMatchObject(
      failedBy(
        `expectations: f is expected until ${untilMs}; give milliseconds since the epoch, as ctx.now() + 60_000`,
      ),
    )
    expect(expectations).toEqual({ e: 5 })
  })
})

describe('a name that holds a value of a Secret', () => {
  const secret = 'hunter2hunter2'
  const expecting = (_object: unknown, ctx: Context): Outcome => {
    ctx.expectations.set(`login-${secret}`, 6)
    return done()
  }

  it('is not expected', async () => {
    const { verdict, expectations } = await worldOf({ run: expecting, secret }).running()
    expect(verdict).toMatchObject(failedBy(expect.stringMatching(/^expectations: a name that holds a value/)))
    expect(expectations).toEqual({})
  })

  it('is told by another one if it is from before', async () => {
    const engine: EngineState = { memory: { expectations: { [secret]: 5, e: 6 } } }
    const run = (_object: unknown, ctx: Context): Outcome => {
      expect(ctx.expectations.get(secret)).toBe(5)
      return done()
    }
    expect((await worldOf({ engine, run, secret }).running()).expectations).toEqual({ Masked: 5, e: 6 })
    expect((await worldOf({ run: expecting }).running()).expectations).toEqual({ [`login-${secret}`]: 6 })
  })
})

describe('a clean-up', () => {
  it('is run in the place of the function, and is done where there is none', async () => {
    const cleanup = () => again('5s')
    expect((await worldOf({ cleanup, phase: 'cleanup' }).running()).verdict).toMatchObject({ kind: 'again' })
    expect((await worldOf({ cleanup }).running()).verdict).toMatchObject({ kind: 'done' })
    expect((await worldOf({ phase: 'cleanup' }).running()).verdict).toMatchObject({ kind: 'done' })
  })

  it.each([
    [
      'says done while it waits',
      () => done({ ready: waiting('Draining', 'm') }),
      /a clean-up that waits \(Draining: m\)/,
    ],
    ['says nothing', () => {}, /a reconciler returns done/],
  ])('that %s has failed', async (_what, cleanup, message) => {
    const { verdict } = await worldOf({ cleanup, phase: 'cleanup' }).running()
    expect(verdict).toMatchObject(failedBy(expect.stringMatching(message)))
  })

  it('may say that it waits and comes again', async () => {
    const cleanup = () => again('5s', { ready: waiting('Draining', 'm') })
    expect((await worldOf({ cleanup, phase: 'cleanup' }).running()).verdict).toMatchObject({ kind: 'again' })
  })
})

describe('the time of a run', () => {
  it('that is over leaves the function alone, and says so', async () => {
    const ends = Promise.withResolvers<Outcome>()
    const { running, clock } = worldOf({ run: () => ends.promise })
    const ran = running()
    await clock.advance(60_000)
    const { verdict, overrun } = await ran
    expect(verdict).toEqual({
      kind: 'failed',
      reason: 'DeadlineExceeded',
      message: 'widget was aborted: it ran for longer than 60 s',
      quiet: false,
    })
    let isOver = false
    void overrun?.then(() => (isOver = true))
    await clock.advance(0)
    expect(isOver).toBe(false)
    ends.resolve(done())
    await overrun
  })

  it('is given up when the process stops', async () => {
    const ends = Promise.withResolvers<Outcome>()
    const stopped = worldOf({ run: () => ends.promise })
    const ran = Promise.allSettled([stopped.running()])
    stopped.stop.abort(new Error('stopping'))
    expect(await ran).toMatchObject([{ status: 'rejected', reason: { code: 'UNAVAILABLE' } }])
  })

  it.each([
    ['done', () => done(), 'fulfilled'],
    ['again', () => again('5s'), 'fulfilled'],
    [
      'failed',
      () => {
        throw new Error('no luck')
      },
      'rejected',
    ],
  ])('whose function has ended when the process stops is written if it is %s', async (_what, run, status) => {
    const time = new RunTime(AbortSignal.abort(new Error('stopping')), startMs + 60_000, startMs + 60_000)
    expect(await Promise.allSettled([worldOf({ run, time }).running()])).toMatchObject([{ status }])
  })

  it('that whoever runs it has no more of ends as too long', async () => {
    const { running, stop } = worldOf({ run: () => new Promise(() => {}) })
    const ran = running()
    stop.abort(new OperatingError('DEADLINE_EXCEEDED', 'no more time'))
    expect((await ran).verdict).toMatchObject({ reason: 'DeadlineExceeded' })
  })
})

describe('the context of a run', () => {
  it('knows the time, the attempt and its end', async () => {
    const failure = { attempt: 3, error: 'e' }
    const { contextOf, clock, end } = worldOf({
      engine: { wait: { kind: 'Backoff', generation: 1, atMs: 5, failure } },
    })
    const context = contextOf()
    expect([context.now(), context.attempt, context.deadlineMs, context.removed]).toEqual([
      startMs,
      3,
      startMs + 60_000,
      false,
    ])
    clock.moveTo(startMs + 5)
    expect([context.now(), context.signal.aborted]).toEqual([startMs + 5, false])
    end()
    expect(context.signal.aborted).toBe(true)
  })

  it('sleeps', async () => {
    const { contextOf, clock } = worldOf({})
    let isOver = false
    void contextOf()
      .sleep('5s')
      .then(() => (isOver = true))
    await clock.advance(4_999)
    expect(isOver).toBe(false)
    await clock.advance(1)
    expect(isOver).toBe(true)
  })

  it('does an effect once', async () => {
    const context = worldOf({}).contextOf()
    let times = 0
    for (let i = 0; i < 2; i++) expect(await context.once('k', async () => ++times)).toBe(1)
    const effect = async (): Promise<number> => ++times
    expect(await Promise.all([context.once('both', effect), context.once('both', effect)])).toEqual([2, 2])
  })

  it('tells events without the values of Secrets', async () => {
    const { contextOf, events } = worldOf({ secret: 'hunter2hunter2' })
    await contextOf().event('Normal', 'Told', 'it is hunter2hunter2')
    expect(events).toMatchObject([{ type: 'Normal', reason: 'Told', component: 'widget' }])
    expect(JSON.stringify(events)).not.toContain('hunter2')
    const plain = worldOf({})
    await plain.contextOf().event('Warning', 'Told', 'it is hunter2hunter2')
    expect(plain.events).toEqual([
      { type: 'Warning', reason: 'Told', message: 'it is hunter2hunter2', component: 'widget' },
    ])
  })

  it('tells of another object in its name, and conceals that, too', async () => {
    const { contextOf, events } = worldOf({ secret: 'hunter2hunter2' })
    const { object } = storedWidget('other')
    const controller = { ...widgets([]), name: 'others' }
    await contextAbout(contextOf(), { controller, object }).event('Normal', 'Told', 'it is hunter2hunter2')
    expect(events).toEqual([{ type: 'Normal', reason: 'Told', message: 'it is ***', component: 'others' }])
  })

  it('keeps what is made on demand in a copy', () => {
    const context = worldOf({ engine: { memory: { expectations: { e: 5 } } } }).contextOf()
    const replaced: Context = { ...(context as Context), removed: true }
    expect([replaced.removed, replaced.expectations.get('e'), replaced.signal.aborted]).toEqual([true, 5, false])
    expect(replaced.expectations).toBe(context.expectations)
  })

  it('keeps it in a run with attempts, too', async () => {
    const context = worldOf({ engine: { memory: { expectations: { e: 5 } } } }).contextOf()
    const seen: unknown[] = []
    const run = attempts<object, object>({ max: 2 }, async (_, ctx) => {
      seen.push(ctx.signal, ctx.expectations, ctx.isLastAttempt)
      return done()
    })
    await run({}, context)
    expect(seen).toEqual([context.signal, context.expectations, false])
    expect(seen[1]).toBe(context.expectations)
  })
})

describe('what a run does outside', () => {
  const credentials = {
    accessKeyId: 'id',
    secretAccessKey: 'secret-key',
    sessionToken: 'session-token',
    expiresAtMs: 9,
  }
  const roleArn = 'arn:aws:iam::210987654321:role/Shop'

  it('is counted, and drift is told', async () => {
    const { contextOf, outside, told, events } = worldOf({})
    const { outside: ctx } = contextOf()
    ctx.recordCall('create', 'error')
    await ctx.recordDrift('size was 3')
    expect(outside).toEqual([['create', 'error'], 'drift'])
    expect(told).toEqual([['drift corrected', { outside: 'size was 3' }]])
    expect(events).toMatchObject([{ type: 'Normal', reason: 'DriftCorrected', message: 'size was 3' }])
  })

  it('takes roles whose keys are told nowhere', async () => {
    const roles = { assume: async () => credentials }
    const { contextOf, noted } = worldOf({ more: { roles } })
    expect(await contextOf().outside.assumeRole({ roleArn })).toBe(credentials)
    expect(noted).toEqual([{ stringData: { secretAccessKey: 'secret-key', sessionToken: 'session-token' } }])
  })

  it('knows what accounts may be called, where many processes call them', () => {
    const allowances = {}
    expect(worldOf({ more: { allowances } as never }).contextOf().outside.allowances).toBe(allowances)
    expect('allowances' in worldOf({}).contextOf().outside).toBe(false)
  })

  it('is refused when the time of the run is over', async () => {
    const roles = { assume: async () => credentials }
    const { contextOf, end, noted } = worldOf({ more: { roles } })
    const { outside: ctx } = contextOf()
    end()
    await expect(ctx.assumeRole({ roleArn })).rejects.toThrow('the run is over')
    const target = { secretsManager: { name: 'a' } }
    for (const use of [
      () => ctx.readSecret(target),
      () => ctx.keepSecret(target, { k: 'v' }),
      () => ctx.removeSecret(target),
    ])
      expect(use).toThrow('the run is over')
    expect(noted).toEqual([])
  })
})
