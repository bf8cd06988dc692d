import { describe, expect, it } from 'vitest'
import { createPrometheusTelemetry } from '../../../../shared/adapters/local/prometheus-telemetry.ts'
import { createAllEventsRunner } from '../../../../shared/engine/loops/removed/runner.ts'
import { isMarked, recordFinalizer, recordKey, withRemoved } from '../../../../shared/engine/state/removed-record.ts'
import type { Turn } from '../../../../shared/engine/state/turn.ts'
import type { EngineOptions } from '../../../../shared/engine/turn/engine-options.ts'
import { again, ConfigMap, done, stop, type Context, type Outcome } from '../../../../shared/index.ts'
import type { EngineState } from '../../../../shared/model/engine-state.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import { keyOf, keyText, type ObjectKey } from '../../../../shared/model/object-key.ts'
import type { ApiObject, ObjectMeta } from '../../../../shared/model/object.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import type { Reserve } from '../../../../shared/ports/reservations.ts'
import type { WakeUp } from '../../../../shared/ports/work-queue.ts'
import type { Controller } from '../../../../shared/reconciler/controller.ts'
import { builtInKinds } from '../../../../shared/resources/built-in-kinds.ts'
import { widgets, type WidgetObject } from '../../../acceptance/support/widgets.ts'
import { storedWidget } from '../../../support/stored-object.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

const nowMs = 1_000_000
const key: ObjectKey = { group: 'test.setpoint.dev', kind: 'Widget', namespace: 'default', name: 'w' }
const at = recordKey(key)

function objectOf(uid: string, spec: object = { size: 1 }, metadata: Partial<ObjectMeta> = {}): ApiObject {
  const { object } = storedWidget('w', { uid, resourceVersion: '1', ...metadata })
  return { ...object, apiVersion: 'test.setpoint.dev/v1', spec } as ApiObject
}

/** The record of these, the oldest first. */
function recordOf(
  removed: readonly ApiObject[],
  engine: EngineState = {},
  metadata: Partial<ObjectMeta> = {},
): StoredObject {
  let record: StoredObject | undefined
  for (const object of removed) record = withRemoved(record, object, nowMs)
  const { object } = record ?? expect.fail('there is a removed object')
  return { object: { ...object, metadata: { ...object.metadata, resourceVersion: '1', ...metadata } }, engine }
}

type Run = (object: WidgetObject, ctx: Context) => Promise<Outcome> | Outcome

interface World {
  readonly present?: StoredObject
  readonly record?: StoredObject
  readonly run?: Run
  readonly controller?: Partial<Controller>
  readonly engine?: Partial<EngineOptions>
  /** Called ahead of each read, with its number. */
  readonly onRead?: (reads: number, stored: Map<string, StoredObject>) => void
}

/** What is stored, and what a runner does with it. */
function worldOf({ present, record, run = () => done(), controller, engine, onRead }: World) {
  const clock = createVirtualClock(nowMs)
  const stored = new Map<string, StoredObject>()
  if (present) stored.set(keyText(key), present)
  if (record) stored.set(keyText(at), record)
  const did: string[] = []
  const events: object[] = []
  const asked: string[] = []
  let reads = 0
  const nameOf = (one: ObjectKey): string => (one.group === at.group ? 'record' : 'object')
  const checkNewest = ({ object }: StoredObject): void => {
    const { resourceVersion } = stored.get(keyText(keyOf(object)))?.object.metadata ?? {}
    if (resourceVersion !== object.metadata.resourceVersion)
      throw new OperatingError('VERSION_CONFLICT', 'another was ahead')
  }
  const write = (next: StoredObject): StoredObject => {
    checkNewest(next)
    const { metadata } = next.object
    const before = metadata.resourceVersion
    const resourceVersion = String(Number(before) + 1)
    const written = { ...next, object: { ...next.object, metadata: { ...metadata, resourceVersion } } }
    stored.set(keyText(keyOf(next.object)), written)
    return written
  }
  const store = {
    get: async (of: ObjectKey) => {
      reads++
      onRead?.(reads, stored)
      return stored.get(keyText(of))
    },
    replace: async (next: StoredObject, touched: readonly string[]) => {
      did.push(`write ${touched.join()} of the ${nameOf(keyOf(next.object))}`)
      return write(next)
    },
    remove: async (next: StoredObject) => {
      did.push(`remove the ${nameOf(keyOf(next.object))}`)
      checkNewest(next)
      stored.delete(keyText(keyOf(next.object)))
      return next
    },
  }
  const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => logger }
  const widgetKind = { group: key.group, kind: 'Widget', version: 'v1', namespaced: true, hasStatus: true, schema: {} }
  const ports = {
    store,
    index: {},
    resources: {
      patch: async (kind: { readonly kind: string }) => {
        did.push(`apply a ${kind.kind}`)
        return { stored: storedWidget('c') }
      },
    },
    catalog: {
      byKind: async (group: string, kind: string) => {
        asked.push(`${kind}.${group}`)
        return kind === 'Widget' ? widgetKind : builtInKinds.find((one) => one.kind === kind)
      },
    },
    clock,
    random: { next: () => 0.5, uuid: () => 'uuid' },
    logger,
    telemetry: createPrometheusTelemetry(),
    events: { record: async (about: ApiObject, event: object) => void events.push([about.metadata.uid, event]) },
    ...engine,
  } as unknown as EngineOptions
  const given = widgets([], (widget, ctx) => {
    did.push(`${ctx.removed ? 'last run' : 'run'} of ${widget.metadata.uid}`)
    return run(widget, ctx)
  })
  const runner = createAllEventsRunner({ ...given, onRemoved: 'reconcile', ...controller }, ports)
  const take = (origin: WakeUp['origin'] = 'change', signal = new AbortController().signal): Promise<void> => {
    const turn: Turn = {
      key,
      wakeUps: [{ origin, reason: 'r' } as WakeUp],
      receiveCount: 1,
      handle: 'h',
      isNearReceiveLimit: false,
      isRepeated: false,
      hold: async (ms) => void did.push(`hold ${ms}`),
      delay: async (ms) => void did.push(`delay ${ms}`),
      isWanted: async () => {
        did.push('is it wanted?')
        return false
      },
      settle: async () => void did.push('settle'),
    }
    return runner(turn, signal)
  }
  return {
    take,
    did,
    events,
    asked,
    clock,
    runs: () => did.filter((one) => one.includes('run of')),
    countReads: () => reads,
    recordNow: () => stored.get(keyText(at)),
    objectNow: () => stored.get(keyText(key)),
    stored,
  }
}

/** It is due, too. */
const present: StoredObject = { object: objectOf('new'), engine: { wakeAtMs: nowMs } }
const backoff = (generation: number, atMs: number): EngineState => ({
  wait: { kind: 'Backoff', generation, atMs, failure: { attempt: 1, error: 'e' } },
})
const stopped: EngineState = { wait: { kind: 'Stopped', generation: 1, failure: { attempt: 1, error: 'e' } } }

describe('a key of a controller that is told of removals', () => {
  it('that has no record is its object', async () => {
    const { take, runs } = worldOf({ present })
    await take()
    expect(runs()).toEqual(['run of new'])
  })

  it('that has a record and no object is its record', async () => {
    const { take, runs, did, recordNow } = worldOf({ record: recordOf([objectOf('old')]) })
    await take()
    expect(runs()).toEqual(['last run of old'])
    expect([did.at(-1), recordNow()]).toEqual(['settle', undefined])
  })

  it('gives each of its objects effects and notes of its own, which no other of that name has', async () => {
    const begun: unknown[] = []
    const { take, recordNow, clock } = worldOf({
      record: recordOf([objectOf('a'), objectOf('b')]),
      run: async ({ metadata: { uid } }, { once, notes }) => {
        const noted = [notes.get('n'), notes.get('other')]
        notes.set('n', `of ${uid}`)
        notes.set('other', 1)
        notes.set('other', undefined)
        await notes.keep()
        const result = await once('drop', async ({ token, mayHaveHappened }) => {
          begun.push([uid, token.split('.').length, mayHaveHappened, ...noted])
          return uid
        })
        expect(result).toBe(uid)
        return uid === 'b' && noted[0] === undefined ? again('5s') : done()
      },
    })
    await take()
    expect(begun).toEqual([
      ['a', 3, false, undefined, undefined],
      ['b', 3, false, undefined, undefined],
    ])
    // What is left is of the second, whose last run goes on, and who is not done to twice.
    expect(recordNow()?.engine.memory).toMatchObject({ notes: { b: { n: 'of b' } } })
    expect(Object.keys(recordNow()?.engine.memory?.once ?? {})).toEqual(['b.drop'])
    await clock.advance(5_000)
    await take('timer')
    expect([begun.length, recordNow()]).toEqual([2, undefined])
  })

  it('gives each of its objects expectations of its own, which end with its last run', async () => {
    const seen: unknown[] = []
    const { take, recordNow } = worldOf({
      record: recordOf([objectOf('a'), objectOf('b')]),
      run: async ({ metadata: { uid } }, { expectations, now }) => {
        seen.push([uid, ...expectations.keys()])
        expectations.set('JobEnded', now() + 60_000).set('MailSent', now() + 1)
        expectations.delete('MailSent')
        return uid === 'b' ? again('5s') : done()
      },
    })
    await take()
    expect(seen).toEqual([['a'], ['b']])
    expect(recordNow()?.engine.memory?.expectations).toEqual({ 'b.JobEnded': nowMs + 60_000 })
    await take('timer')
  })

  it('keeps the notes of who was done, until that is written', async () => {
    let isUnreadable = false
    const { take, recordNow } = worldOf({
      record: recordOf([objectOf('a'), objectOf('b')]),
      run: ({ metadata: { uid } }, { notes }) => {
        notes.set('n', `of ${uid}`)
        isUnreadable = uid === 'a'
        return done()
      },
      onRead: () => {
        if (isUnreadable) throw new OperatingError('THROTTLED', 'try later')
      },
    })
    await take()
    expect(recordNow()?.engine.memory?.notes).toEqual({ a: { n: 'of a' } })
  })

  it('has nobody seen off twice of whom a run was done while another one was removed', async () => {
    const meanwhile = recordOf([objectOf('a'), objectOf('b')], {}, { resourceVersion: '2' })
    const world = worldOf({
      record: recordOf([objectOf('a')]),
      run: ({ metadata: { uid } }) => {
        if (uid === 'a') world.stored.set(keyText(at), meanwhile)
        return done()
      },
    })
    await world.take()
    await world.take()
    expect(world.runs()).toEqual(['last run of a', 'last run of b'])
    expect(world.recordNow()).toBeUndefined()
  })

  it.each([
    ['that has not run', 'change', {}, true],
    ['that has not run', 'timer', { wakeAtMs: nowMs }, true],
    ['to which something came since', 'change', backoff(0, nowMs + 1), true],
    ['that waits', 'change', backoff(1, nowMs), false],
    ['that waits', 'resync', backoff(1, nowMs), false],
    ['that was stopped', 'change', stopped, true],
    ['that was stopped', 'timer', stopped, false],
    ['whose timer is due', 'timer', backoff(1, nowMs), true],
    ['whose timer is not due', 'timer', backoff(1, nowMs + 1), false],
  ] as const)('has a record %s ahead of its object, woken by a %s: %j → %j', async (_what, origin, engine, is) => {
    const { take, runs } = worldOf({ present, record: recordOf([objectOf('old')], engine) })
    await take(origin)
    expect(runs()).toEqual(is ? ['last run of old', 'run of new'] : ['run of new'])
  })

  it('settles once for both, without a handle of the first', async () => {
    const fails = worldOf({
      present,
      record: recordOf([objectOf('old')]),
      run: (_, ctx) => (ctx.removed ? again('5s') : done()),
    })
    await fails.take()
    expect(fails.did.filter((one) => /settle|hold|wanted/.test(one))).toEqual(['settle'])
    expect(fails.recordNow()?.engine).toEqual({ wait: { kind: 'Requeue', generation: 1, atMs: nowMs + 5_000 } })
    expect(fails.runs()).toEqual(['last run of old', 'run of new'])
  })

  it.each([
    ['change', nowMs + 60_000],
    ['timer', undefined],
  ] as const)('has its object run by the time of the record’s run, after a %s', async (origin, wakeAtMs) => {
    const seen: unknown[] = []
    const world = worldOf({
      present: { ...present, engine: {} },
      record: recordOf([objectOf('old')], { wakeAtMs: nowMs }),
      run: (_, ctx) => {
        if (ctx.removed) seen.push(world.objectNow()?.engine.wakeAtMs)
        return done()
      },
    })
    await world.take(origin)
    expect(seen).toEqual([wakeAtMs])
  })

  it('whose object goes meanwhile has its record run', async () => {
    const { take, runs } = worldOf({
      present,
      record: recordOf([objectOf('old')]),
      onRead: (reads, stored) => {
        if (reads === 3) stored.delete(keyText(key))
      },
    })
    await take()
    expect(runs()).toEqual(['last run of old'])
  })

  it('does not go on to its object while the last run goes on after its time, and comes again', async () => {
    const held = Promise.withResolvers<void>()
    const { take, runs, did, clock } = worldOf({
      present,
      record: recordOf([objectOf('old')]),
      run: async (_, ctx) => {
        if (ctx.removed) await held.promise
        return done()
      },
    })
    const taken = take()
    await clock.advance(60_000)
    await taken
    expect([runs(), did.includes('settle'), did.includes('hold 0')]).toEqual([['last run of old'], false, false])
    held.resolve()
    await clock.advance(0)
    expect([runs(), did.at(-1)]).toEqual([['last run of old'], 'hold 0'])
  })
})

describe('a record', () => {
  it('is held by the finalizer that its run lets go of, written only if it is not', async () => {
    const marks = recordOf([objectOf('old')], {}, { finalizers: ['x/y'] })
    const opened = worldOf({ record: marks })
    await opened.take()
    expect(opened.did[0]).toBe('write meta of the record')
    expect(opened.recordNow()?.object.metadata.finalizers).toEqual(['x/y'])

    const closed = worldOf({ record: recordOf([objectOf('old')]) })
    await closed.take()
    expect(closed.did).toEqual(['last run of old', 'remove the record', 'settle'])
  })

  it('has each of its objects seen off, the oldest first, and forgets each at once', async () => {
    const left: unknown[] = []
    const removed = ['a', 'b', 'c'].map((uid) => objectOf(uid))
    const world = worldOf({
      record: recordOf(removed),
      run: () => {
        const now = world.recordNow()?.object as { readonly removed?: readonly ApiObject[] } | undefined
        left.push(now?.removed?.map(({ metadata }) => metadata.uid).join(''))
        return done()
      },
    })
    expect(isMarked(world.recordNow()?.object as ApiObject)).toBe(true)
    await world.take()
    expect(left).toEqual(['abc', 'bc', 'c'])
    expect(world.did).toEqual([
      'last run of a',
      'write meta of the record',
      'last run of b',
      'write meta of the record',
      'last run of c',
      // Without its marks. The end of the run, which has not seen that, is tried twice.
      'write meta of the record',
      'write meta of the record',
      'remove the record',
      'settle',
    ])
    expect(world.recordNow()).toBeUndefined()
  })

  it('without marks is not read to take them away', async () => {
    const { take, countReads } = worldOf({ record: recordOf([objectOf('old')]) })
    await take()
    // The record, its object, and the record as the run begins.
    expect(countReads()).toBe(3)
  })

  it('that went while its run was under way is nothing to write', async () => {
    const world = worldOf({
      record: recordOf([objectOf('a'), objectOf('b')]),
      run: () => {
        world.stored.delete(keyText(at))
        return done()
      },
    })
    await world.take()
    expect(world.did).toEqual(['last run of a', 'last run of b', 'write meta of the record', 'settle'])
    expect(world.recordNow()).toBeUndefined()
  })

  it('waits with the first of its objects that is not done', async () => {
    const world = worldOf({
      record: recordOf([objectOf('a'), objectOf('b'), objectOf('c')]),
      run: ({ metadata }) => (metadata.uid === 'b' ? again('5s') : done()),
    })
    await world.take()
    expect(world.runs()).toEqual(['last run of a', 'last run of b'])
    expect(world.recordNow()?.engine.wait).toMatchObject({ kind: 'Requeue', atMs: nowMs + 5_000 })
    expect(isMarked(world.recordNow()?.object as ApiObject)).toBe(true)
  })

  it('has no further object seen off when the time of its run is over', async () => {
    const world = worldOf({
      record: recordOf([objectOf('a'), objectOf('b')]),
      run: (_, ctx) => new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve(done()))),
    })
    const taken = world.take()
    await world.clock.advance(60_000)
    await taken
    await world.clock.advance(0)
    expect(world.runs()).toEqual(['last run of a'])
  })

  it('is stopped by an object that does not fit its kind, which is looked at again', async () => {
    const world = worldOf({ record: recordOf([objectOf('a', { size: 'x' })]) })
    await world.take()
    expect(world.runs()).toEqual([])
    expect(world.recordNow()?.engine.wait).toMatchObject({ kind: 'Stopped', atMs: nowMs + 900_000 })
  })

  it('says nothing of it in a status', async () => {
    const world = worldOf({
      record: recordOf([objectOf('a')]),
      run: () => {
        throw stop('No', 'no')
      },
    })
    await world.take()
    expect(world.recordNow()?.object.status).toBeUndefined()
  })

  it.each([
    ['one process has', false, []],
    ['processes share', true, ['widget 1']],
  ])('goes by the limit of its controller that %s', async (_what, isShared, lines) => {
    const asked: string[] = []
    const reserve: Reserve = async (line, count) => {
      asked.push(`${line} ${count}`)
      return [nowMs]
    }
    const world = worldOf({
      record: recordOf([objectOf('a')]),
      controller: { controllerLimit: { perSecond: 1, burst: 1 } },
      ...(isShared && { engine: { reserve } }),
    })
    await world.take()
    expect([asked, world.runs()]).toEqual([lines, ['last run of a']])
  })
})

describe('the context of a last run', () => {
  it('applies what is to stay, and refuses children', async () => {
    const config = { metadata: { name: 'c' } }
    const answers: unknown[] = []
    const world = worldOf({
      record: recordOf([objectOf('a')]),
      run: async (_, ctx) => {
        for (const options of [{ owned: false }, {}, undefined, { owned: true }])
          await ctx.apply(ConfigMap, config, options).then(
            () => answers.push('applied'),
            (error: unknown) => answers.push(String(error).replace(/^.*?: /, '')),
          )
        return done()
      },
    })
    await world.take()
    const refused = expect.stringMatching(/^Widget w is gone and its children go with it/)
    expect(answers).toEqual(['applied', refused, refused, refused])
    expect(world.did).toContain('apply a ConfigMap')
    expect(world.asked).toEqual(['ConfigMap.'])
  })

  it('tells events of the object', async () => {
    const world = worldOf({
      record: recordOf([objectOf('a')]),
      run: async (_, ctx) => {
        await ctx.event('Normal', 'Gone', 'it is gone')
        return done()
      },
    })
    await world.take()
    expect(world.events).toMatchObject([
      ['a', { type: 'Normal', reason: 'Gone', message: 'it is gone', component: 'widget' }],
    ])
  })
})

it('the finalizer of a record is the one that its runs let go of', () => {
  expect(recordOf([objectOf('a')]).object.metadata.finalizers).toEqual([recordFinalizer])
})
