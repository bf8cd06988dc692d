import { describe, expect, it } from 'vitest'
import { createRunObserver, type ObservedRun } from '../../../../shared/engine/insight/run-observer.ts'
import type { Turn } from '../../../../shared/engine/state/turn.ts'
import type { EngineState } from '../../../../shared/model/engine-state.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import { metrics, type Metric } from '../../../../shared/model/metrics.ts'
import type { ObjectMeta } from '../../../../shared/model/object.ts'
import type { Logger } from '../../../../shared/ports/logger.ts'
import type { Origin, WakeUp } from '../../../../shared/ports/work-queue.ts'
import type { Controller } from '../../../../shared/reconciler/controller.ts'
import type { Verdict } from '../../../../shared/reconciler/verdict.ts'
import { storedWidget } from '../../../support/stored-object.ts'

const startMs = 10_000_000

interface Given {
  readonly engine?: EngineState
  readonly metadata?: Partial<ObjectMeta>
  readonly isReady?: boolean
  readonly origins?: readonly Origin[]
  readonly verdict?: Verdict
  readonly tookMs?: number
  readonly keeps?: boolean
  readonly isOneOfMany?: boolean
  /** What the run does. */
  readonly act?: (run: ObservedRun) => Promise<void> | void
}

/** Observes runs; what is counted, kept and said of them. */
function createWorld({ keeps = false, isOneOfMany = false }: Pick<Given, 'keeps' | 'isOneOfMany'> = {}) {
  let nowMs = startMs
  const counted = new Map<string, number>()
  const kept: unknown[] = []
  const lines: unknown[] = []
  let oldest = (): number => NaN
  const add = ({ name }: Metric, labels: object) => {
    const { result } = labels as { readonly result?: string }
    const text = result === undefined ? name : `${name} ${result}`
    return (by = 1) => void counted.set(text, (counted.get(text) ?? 0) + by)
  }
  const saying = (identity: JsonObject): Logger => {
    const say =
      (level: string) =>
      (message: string, fields?: JsonObject | (() => JsonObject)): void =>
        void lines.push([level, message, { ...identity, ...(typeof fields === 'function' ? fields() : fields) }])
    return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error'), with: saying }
  }
  const observe = createRunObserver(
    { name: 'widget', timeoutMs: 60_000, kind: { kind: 'Widget' } } as Controller,
    {
      clock: { nowMs: () => nowMs, sleep: async () => {} },
      random: { next: () => 0.5, uuid: () => 'uuid' },
      logger: saying({}),
      telemetry: {
        counter: add,
        histogram: add,
        read: (_metric: Metric, _labels: object, value: () => number) => void (oldest = value),
        isOneOfMany,
      },
      resources: {
        get: async () => storedWidget('c'),
        create: async () => ({ outcome: 'created', stored: storedWidget('c') }),
        patch: async (_kind: object, _at: object, { type }: { readonly type: string }) => ({
          outcome: type === 'apply' ? 'created' : 'updated',
          stored: storedWidget('c'),
        }),
        delete: async () => ({ gone: true }),
      },
      ...(keeps && {
        history: {
          note: (uid: string, run: object) => void kept.push([uid, run]),
          noteQuiet: (uid: string, run: object) => void kept.push([uid, 'quiet', run]),
        },
      }),
    } as never,
  )
  const run = async ({
    engine = {},
    metadata,
    isReady = true,
    origins = ['change'],
    ...given
  }: Given): Promise<void> => {
    const { verdict = { kind: 'done' }, tookMs = 1_500, act } = given
    const { object } = storedWidget('w', metadata)
    const ready = {
      type: 'Ready',
      status: isReady ? 'True' : 'False',
      reason: 'R',
      message: '',
      lastTransitionTime: '',
    }
    const status = { observedGeneration: 1, conditions: [ready] }
    const wakeUps = origins.map((origin) => ({ origin, reason: `by ${origin}` }) as WakeUp)
    const seen = observe({ object: { ...object, status }, engine }, { wakeUps, isRepeated: false } as unknown as Turn)
    await act?.(seen)
    nowMs += tookMs
    seen.end(verdict)
  }
  return { run, counted, kept, lines, moveTo: (ms: number) => (nowMs = ms), oldest: () => oldest() }
}

const changedAgo = (ms: number): EngineState => ({ change: { verb: 'changed', by: 'somebody', atMs: startMs - ms } })
const failed: Verdict = { kind: 'failed', reason: 'Broken', message: 'no luck', quiet: false }
const again: Verdict = { kind: 'again', afterMs: 5 }
const backoff = (ms: number): EngineState => ({
  ...changedAgo(ms),
  wait: { kind: 'Backoff', generation: 1, atMs: 0, failure: { attempt: 1, error: 'x' } },
})
const resting = (ms: number): EngineState => ({ ...changedAgo(ms), wait: { kind: 'Resync', generation: 1, atMs: 0 } })
const converged = metrics.timeToConverge.name
const repairs = metrics.repairs.name
const steady = `${metrics.steadyRuns.name} quiet`

describe('what is counted of a run', () => {
  it.each<[string, Given, Readonly<Record<string, number>>]>([
    ['of no change', {}, {}],
    ['of a change', { engine: changedAgo(1_000) }, { [converged]: 2.5 }],
    ['of a change by a clock that was ahead', { engine: changedAgo(-60_000) }, { [converged]: 0 }],
    ['that asks for another', { engine: changedAgo(1_000), verdict: again }, { [converged]: 2.5 }],
    ['that failed', { engine: changedAgo(1_000), verdict: failed }, {}],
    ['of a deletion', { engine: changedAgo(1_000), metadata: { deletionTimestamp: 't' } }, { [converged]: 2.5 }],
    [
      'of a deletion that is not over',
      { engine: changedAgo(1_000), metadata: { deletionTimestamp: 't' }, verdict: again },
      {},
    ],
    ['of a late change', { engine: changedAgo(60_000) }, { [converged]: 61.5 }],
    [
      'of a change nobody told of',
      { engine: changedAgo(58_500), origins: ['timer'] },
      { [converged]: 60, [repairs]: 1, [steady]: 1 },
    ],
    [
      'of one that may be told of',
      { engine: changedAgo(58_499), origins: ['timer'] },
      { [converged]: 59.999, [steady]: 1 },
    ],
    [
      'of one nobody told of, found by a resync',
      { engine: resting(90_000), origins: ['resync'] },
      { [converged]: 91.5, [repairs]: 1, [steady]: 1 },
    ],
    ['of a change that failed before', { engine: backoff(90_000), origins: ['timer'] }, { [converged]: 91.5 }],
    ['that nothing asked for', { origins: ['resync'] }, { [steady]: 1 }],
    ['that nothing asked for, of what is not ready', { origins: ['resync'], isReady: false }, {}],
    ['that something asked for, too', { origins: ['resync', 'change'] }, {}],
  ])('%s', async (_what, given, expected) => {
    const { run, counted } = createWorld()
    await run(given)
    const told = Object.fromEntries([...counted].filter(([name]) => [converged, repairs, steady].includes(name)))
    expect(told).toEqual(expected)
    expect(counted.get(metrics.reconcileSeconds.name)).toBe(1.5)
  })

  it('is no negative time', async () => {
    const { run, counted } = createWorld()
    await run({ tookMs: -5_000 })
    expect(counted.get(metrics.reconcileSeconds.name)).toBe(0)
  })

  it.each([
    [3, undefined],
    [4, 1],
  ])('is the same failure after %d like it: %s', async (sameErrors, count) => {
    const { run, counted } = createWorld()
    const failure = { attempt: 9, error: 'no luck', sameErrors }
    await run({
      engine: { wait: { kind: 'Backoff', generation: 1, atMs: 0, failure } },
      verdict: failed,
    })
    expect(counted.get(metrics.repeatedErrors.name)).toBe(count)
  })

  it('is what it reads and writes, calls outside and corrects', async () => {
    const { run, counted, lines } = createWorld()
    const act = async (seen: ObservedRun): Promise<void> => {
      await seen.resources.get({} as never, {} as never)
      await seen.resources.create({} as never, {}, { manager: 'widget' })
      await seen.resources.patch({} as never, {} as never, { type: 'apply' } as never, { manager: 'widget' })
      seen.outside.recordDrift()
      expect(seen.resources).toBe(seen.resources)
      expect(seen.logger).toBe(seen.logger)
    }
    await run({ act })
    expect([counted.get(metrics.reads.name), counted.get(`${metrics.writes.name} created`)]).toEqual([1, 2])
    expect(counted.get(metrics.driftFound.name)).toBe(2)
    expect(lines).toHaveLength(2)
    await run({ act, isReady: false })
    expect(counted.get(metrics.driftFound.name)).toBe(3)
  })
})

describe('the oldest change that no run has observed', () => {
  it('is told in seconds, and not once it is observed', async () => {
    const world = createWorld()
    expect(world.oldest()).toBe(0)
    await world.run({ verdict: failed })
    expect(world.oldest()).toBe(0)
    await world.run({ engine: changedAgo(1_000), verdict: failed, tookMs: 0 })
    expect([world.oldest(), world.oldest()]).toEqual([2.5, 2.5])
    await world.run({ engine: changedAgo(1_000) })
    expect(world.oldest()).toBe(0)
  })

  it('is as old as the first of several', async () => {
    const world = createWorld()
    const { change } = changedAgo(1_000)
    await world.run({
      engine: { change: { ...change, sinceMs: startMs - 9_000 } as never },
      verdict: failed,
      tookMs: 0,
    })
    expect(world.oldest()).toBe(9)
  })

  it.each([
    ['the longest backoff, a run, and a minute', failed, 1_120_000],
    ['the time that it asked for, and a minute', { kind: 'retryAfter', afterMs: 5_000_000, message: 'm' }, 5_060_000],
  ] as const)('is forgotten after %s', async (_what, verdict, ms) => {
    const world = createWorld()
    await world.run({ engine: changedAgo(0), verdict, tookMs: 0 })
    world.moveTo(startMs + ms)
    expect(world.oldest()).toBe(ms / 1_000)
    world.moveTo(startMs + ms + 1)
    expect(world.oldest()).toBe(0)
  })

  it('is told once by one of many processes', async () => {
    const world = createWorld({ isOneOfMany: true })
    await world.run({ engine: changedAgo(1_000), verdict: failed, tookMs: 0 })
    expect([world.oldest(), world.oldest()]).toEqual([1, 0])
  })
})

const about = { controller: 'widget', kind: 'Widget', namespace: 'default', name: 'w', reconcileID: 'uuid' }
const shown = { ...about, durationMs: 1_500, reasons: ['by change'], reads: 0, writes: 0 }

describe('what is said of a run', () => {
  it.each<[string, Verdict, unknown]>([
    ['that is done', { kind: 'done' }, ['debug', 'reconciled', { ...shown, outcome: 'done' }]],
    ['that asks for another', again, ['debug', 'reconciled', { ...shown, outcome: 'again', afterMs: 5 }]],
    [
      'that met a conflict',
      { ...failed, quiet: true },
      ['debug', 'reconcile met a conflict', { ...shown, outcome: 'failed' }],
    ],
    [
      'that failed',
      failed,
      ['warn', 'reconcile did not succeed', { ...shown, outcome: 'failed', reason: 'Broken', error: 'no luck' }],
    ],
    [
      'that failed by a slip',
      { ...failed, stack: 'at x' },
      [
        'warn',
        'reconcile did not succeed',
        { ...shown, outcome: 'failed', reason: 'Broken', error: 'no luck', stack: 'at x' },
      ],
    ],
    [
      'that was stopped',
      { kind: 'stopped', reason: 'No', message: 'never' },
      ['warn', 'reconcile did not succeed', { ...shown, outcome: 'stopped', reason: 'No', error: 'never' }],
    ],
    [
      'that asks for a time',
      { kind: 'retryAfter', afterMs: 5, message: 'busy' },
      ['warn', 'reconcile did not succeed', { ...shown, outcome: 'retryAfter', reason: 'RetryAfter', error: 'busy' }],
    ],
  ])('%s', async (_what, verdict, line) => {
    const { run, lines } = createWorld()
    await run({ verdict })
    expect(lines).toStrictEqual([line])
  })

  it('is what it read and wrote', async () => {
    const { run, lines } = createWorld()
    await run({
      act: async ({ resources }) => {
        await resources.get({} as never, {} as never)
        await resources.create({} as never, {}, { manager: 'widget' })
        for (let i = 0; i < 2; i++)
          await resources.patch({} as never, {} as never, { type: 'merge' } as never, { manager: 'widget' })
        for (let i = 0; i < 4; i++) await resources.delete({} as never, {} as never)
      },
    })
    expect(lines).toMatchObject([['debug', 'reconciled', { reads: 1, writes: 7 }]])
  })

  it('of an object of the cluster names none', async () => {
    const { run, lines } = createWorld()
    await run({ metadata: { namespace: undefined } as never })
    expect(lines).toMatchObject([['debug', 'reconciled', { namespace: '', name: 'w' }]])
  })

  it('tells no value of a Secret that the run has met, also of two', async () => {
    const { run, lines } = createWorld()
    await run({
      act: (seen) => {
        expect(seen.secrets).toBeUndefined()
        seen.noteSecret({ stringData: { a: 'Geheim123' } })
        seen.noteSecret({ stringData: { b: 'Verborgen456' } })
        seen.logger.info('Geheim123 and Verborgen456')
        expect(seen.secrets?.hasMasked).toBe(true)
      },
    })
    expect(lines[0]).toMatchObject(['info', '*** and ***', {}])
  })
})

describe('what is kept of a run', () => {
  const quiet = { atMs: startMs, ms: 1_500, causes: ['by change'] }

  it.each<[string, Given, unknown]>([
    ['that did nothing', {}, ['uid-default-w', 'quiet', quiet]],
    [
      'of a change',
      { engine: changedAgo(0) },
      ['uid-default-w', expect.objectContaining({ ...quiet, outcome: 'done' })],
    ],
    ['that failed', { verdict: failed }, ['uid-default-w', expect.objectContaining({ ...quiet, outcome: 'failed' })]],
    [
      'that said something',
      { act: ({ logger }) => logger.info('hello') },
      ['uid-default-w', expect.objectContaining({ log: [{ atMs: startMs, level: 'info', message: 'hello' }] })],
    ],
  ])('%s', async (_what, given, kept) => {
    const world = createWorld({ keeps: true })
    await world.run(given)
    expect(world.kept).toEqual([kept])
  })

  it('is all that it said', async () => {
    const world = createWorld({ keeps: true })
    await world.run({
      act: ({ logger }) => {
        logger.info('one')
        logger.warn('two')
      },
    })
    expect(world.kept).toMatchObject([['uid-default-w', { log: [{ message: 'one' }, { message: 'two' }] }]])
  })
})
