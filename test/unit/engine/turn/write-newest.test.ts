import { describe, expect, it } from 'vitest'
import { writeNewest } from '../../../../shared/engine/turn/write-newest.ts'
import { withRunSpan } from '../../../../shared/engine/turn/run-span.ts'
import { ContextCalls } from '../../../../shared/engine/turn/context-calls.ts'
import { OperatingError, type ErrorCode } from '../../../../shared/model/errors.ts'
import type { EngineState } from '../../../../shared/model/engine-state.ts'
import { keyOf } from '../../../../shared/model/object-key.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import type { ObjectStore } from '../../../../shared/ports/object-store.ts'
import type { SpanEnd, Tracing } from '../../../../shared/ports/tracing.ts'
import type { Verdict } from '../../../../shared/reconciler/verdict.ts'
import { storedWidget, withSpec } from '../../../support/stored-object.ts'

const before = storedWidget('w')
const after = withSpec(before, { size: 2 })

/** A store whose writes throw these first. */
function storeWith(stored: StoredObject | undefined, errors: readonly ErrorCode[] = []) {
  const calls: string[] = []
  const left = [...errors]
  const write =
    (what: string) =>
    async (one: StoredObject, touched: readonly string[] = []) => {
      calls.push([what, ...touched].join(' '))
      const code = left.shift()
      if (code !== undefined) throw new OperatingError(code, 'no')
      return one
    }
  const get = async (): Promise<StoredObject | undefined> => stored
  return { calls, store: { get, create: write('create'), replace: write('replace') } as unknown as ObjectStore }
}

describe('writeNewest', () => {
  const written = (store: ObjectStore, next: StoredObject | undefined) =>
    writeNewest(
      store,
      keyOf(before.object),
      () => next,
      () => ['spec'],
    )

  it.each([
    ['what is there already', before, before, { stored: before, isWritten: false }, []],
    ['nothing where nothing is to be', before, undefined, { stored: undefined, isWritten: false }, []],
    ['what is another by now', before, after, { stored: after, isWritten: true }, ['replace spec']],
    ['what is new', undefined, after, { stored: after, isWritten: true }, ['create']],
  ])('%s', async (...[, stored, next, result, writes]) => {
    const { store, calls } = storeWith(stored)
    expect(await written(store, next)).toEqual(result)
    expect(calls).toEqual(writes)
  })

  it.each(['VERSION_CONFLICT', 'NOT_FOUND', 'ALREADY_EXISTS'] as const)('is tried again after %s', async (code) => {
    const { store, calls } = storeWith(before, [code])
    expect((await written(store, after)).isWritten).toBe(true)
    expect(calls).toHaveLength(2)
  })

  it('is not tried again where it could not come about', async () => {
    const { store, calls } = storeWith(before, ['TOO_LARGE'])
    await expect(written(store, after)).rejects.toThrow('no')
    expect(calls).toHaveLength(1)
  })
})

describe('the span of a run', () => {
  async function spanOf(engine: EngineState, verdict: Verdict, stored = before) {
    let seen: { readonly asked: Parameters<Tracing['span']>[0]; readonly end: SpanEnd } | undefined
    const tracing = {
      span: async (
        asked: Parameters<Tracing['span']>[0],
        run: () => Promise<Verdict>,
        tell: (one: Verdict) => SpanEnd,
      ) => {
        const ended = await run()
        seen = { asked, end: tell(ended) }
        return ended
      },
    } as unknown as Tracing
    await withRunSpan(tracing, { ...stored, engine }, 'widget', async () => verdict)
    return seen
  }

  const failure = { attempt: 3, error: 'e' }
  it('names its object, its attempt, and the write that it deals with', async () => {
    const wait = { kind: 'Backoff', generation: 1, atMs: 5, failure } as const
    const change = { verb: 'changed', atMs: 1, by: 'me', trace: '00-a-b-01' } as const
    const seen = await spanOf({ wait, change }, { kind: 'done' })
    expect(seen?.asked).toEqual({
      name: 'run widget',
      kind: 'consumer',
      parent: '00-a-b-01',
      attributes: {
        'setpoint.controller': 'widget',
        'setpoint.kind': 'Widget',
        'setpoint.name': 'w',
        'setpoint.namespace': 'default',
        'setpoint.generation': 1,
        'setpoint.attempt': 3,
      },
    })
    const { namespace: _, ...metadata } = before.object.metadata
    const bare = await spanOf({}, { kind: 'done' }, { ...before, object: { ...before.object, metadata } })
    expect([bare?.asked.parent, 'setpoint.namespace' in (bare?.asked.attributes ?? {})]).toEqual(['none', false])
  })

  it.each([
    [{ kind: 'done' }, undefined],
    [{ kind: 'again', afterMs: 1 }, undefined],
    [{ kind: 'retryAfter', afterMs: 1, message: 'm' }, undefined],
    [{ kind: 'failed', reason: 'R', message: 'm', quiet: false }, 'R: m'],
    [{ kind: 'stopped', reason: 'R', message: 'm' }, 'R: m'],
  ] as const)('of %j ends with the error %s', async (verdict, error) => {
    const end = { attributes: { 'setpoint.outcome': verdict.kind }, ...(error !== undefined && { error }) }
    expect((await spanOf({}, verdict))?.end).toEqual(end)
  })
})

describe('calls of a context', () => {
  it('are forgotten while they are under way, and not before or after', async () => {
    const calls = new ContextCalls()
    expect(calls.findForgotten()).toBeUndefined()
    const first = Promise.withResolvers<number>()
    const call = calls.track('get', first.promise)
    void calls.track('list', new Promise(() => {}))
    expect(calls.findForgotten()).toBe('get')
    first.resolve(7)
    expect(await call).toBe(7)
    expect(calls.findForgotten()).toBe('list')
  })

  it('end no process that fail when the run is over', async () => {
    const calls = new ContextCalls()
    const unheard: unknown[] = []
    const hear = (error: unknown): void => void unheard.push(error)
    process.on('unhandledRejection', hear)
    const failing = Promise.withResolvers<number>()
    void calls.track('apply', failing.promise)
    expect(calls.findForgotten()).toBe('apply')
    const end = calls.endOfActing()
    failing.reject(new Error('late'))
    await end
    await new Promise(setImmediate)
    process.off('unhandledRejection', hear)
    expect(unheard).toEqual([])
  })

  it.each([
    ['get', false],
    ['list', false],
    ['children', false],
    ['outside.assumeRole', false],
    ['outside.readSecret', false],
    ['once', true],
    ['apply', true],
    ['create', true],
    ['patch', true],
    ['delete', true],
    ['notes.keep', true],
    ['outside.keepSecret', true],
    ['outside.removeSecret', true],
  ] as const)('%s acts when the run is over: %s', (verb, acts) => {
    const calls = new ContextCalls()
    expect(calls.endOfActing()).toBeUndefined()
    void calls.track(verb, new Promise(() => {}))
    expect(calls.endOfActing() !== undefined).toBe(acts)
  })
})
