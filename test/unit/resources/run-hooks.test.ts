import { describe, expect, it } from 'vitest'
import type { AdmissionHooks, AdmissionRequest, HookContext } from '../../../shared/model/admission-hooks.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import { createHookRun } from '../../../shared/resources/run-hooks.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'

const metadata = { name: 't', namespace: 'default', labels: { a: '1' }, annotations: { x: '1' } }
const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata, spec: { size: 1 } } as unknown as ApiObject

function open(hooks: AdmissionHooks, more: Partial<AdmissionRequest> = {}) {
  const clock = createVirtualClock()
  const kind = { group: 'example.com', kind: 'Thing', plural: 'things', hooks } as unknown as ServedKind & {
    hooks: AdmissionHooks
  }
  const request = { operation: 'UPDATE', user: { name: 'ann', groups: [] }, dryRun: false, ...more } as const
  return { clock, run: createHookRun(kind, request, clock) }
}

async function endOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'done'
  } catch (error) {
    return error instanceof OperatingError ? `${error.code}: ${error.message}` : String(error)
  }
}

const failed = (name: string, why: string) =>
  `HOOK_FAILED: the hook ${name} of Thing.example.com for "t" failed: ${why}`

describe('the hook default', () => {
  const completed = async (made?: unknown) => open({ default: () => made }).run.complete(thing)

  it('that is not there, or adds nothing, leaves the object, and takes no time', async () => {
    const { run, clock } = open({})
    const completing = run.complete(thing)
    expect(clock.nextDueMs()).toBeUndefined()
    expect(await completing).toBe(thing)
    expect(await completed()).toBe(thing)
  })

  it.each([
    [{}, {}, undefined],
    [{ labels: { b: '2' } }, { labels: { a: '1', b: '2' } }, undefined],
    [{ annotations: { x: '2', y: '3' } }, { annotations: { x: '2', y: '3' } }, undefined],
    [{ spec: { color: 'red' } }, {}, { color: 'red' }],
  ])('adds %j', async (made, fields, spec) => {
    expect(await completed(made)).toStrictEqual({
      ...thing,
      metadata: { ...metadata, ...fields },
      spec: spec ?? thing.spec,
    })
  })

  it.each([
    ['a text', 'x', 'it returns none of spec, labels and annotations'],
    ['nothing that is said', null, 'it returns none of spec, labels and annotations'],
    ['another field', { spec: {}, status: {} }, 'it returns none of spec, labels and annotations'],
    ['a field of another type', { labels: 'x' }, 'it returns none of spec, labels and annotations'],
    [
      'what JSON cannot say',
      { spec: { size: Number.NaN } },
      'spec.size is NaN; JSON has strings, numbers, booleans, null, lists and plain objects',
    ],
  ])('that returns %s fails', async (_what, made, why) => {
    expect(await endOf(completed(made))).toBe(failed('default', why))
  })

  it('returns what stays as it was', async () => {
    const made = { spec: { sizes: [1] } }
    const object = await completed(made)
    made.spec.sizes.push(2)
    expect(object.spec).toEqual({ sizes: [1] })
  })
})

describe('the hook validate', () => {
  const checked = async (found: unknown) => endOf(open({ validate: () => found }).run.check(thing))
  const invalid = (...causes: readonly string[]) =>
    `INVALID: Thing.example.com "t" is invalid: ${causes.length === 1 ? causes[0] : `[${causes.join(', ')}]`}`

  it('that is not there finds nothing, and takes no time', async () => {
    const { run, clock } = open({})
    const checking = run.check(thing)
    expect(clock.nextDueMs()).toBeUndefined()
    expect(await endOf(checking)).toBe('done')
  })

  it.each([
    ['nothing', undefined, 'done'],
    ['no problem', [], 'done'],
    ['a text', 'x', failed('validate', 'it returns no list of problems')],
    ['a problem', [{ field: 'spec.size', message: 'too large' }], invalid('spec.size: Invalid value: too large')],
    ['a problem of the whole', [{ field: '', message: 'odd' }], invalid('<nil>: Invalid value: odd')],
    ['words', ['odd'], invalid('<nil>: Invalid value: odd')],
    ['many words', ['x'.repeat(600)], invalid(`<nil>: Invalid value: ${'x'.repeat(500)}`)],
  ])('that returns %s', async (_what, found, end) => {
    expect(await checked(found)).toBe(end)
  })

  it('tells of twenty problems at most', async () => {
    const all = Array.from({ length: 30 }, (_, i) => `p${i}`)
    expect(await checked(all)).toBe(invalid(...all.slice(0, 20).map((text) => `<nil>: Invalid value: ${text}`)))
  })
})

describe('a hook', () => {
  it('is given a copy of the object, the request, and of what was there before', async () => {
    const given: { object: ApiObject; context: HookContext }[] = []
    const note = (object: ApiObject, context: HookContext): void => void given.push({ object, context })
    await open({ validate: note }, { old: thing, dryRun: true }).run.check(thing)
    await open({ validate: note }, { operation: 'CREATE' }).run.check(thing)
    const [update, create] = given.map(({ object, context: { signal, warn, ...rest } }) => {
      expect([signal.aborted, typeof warn]).toEqual([false, 'function'])
      return { object, ...rest }
    })
    const user = { name: 'ann', groups: [] }
    expect(update).toStrictEqual({ object: thing, operation: 'UPDATE', old: thing, user, dryRun: true })
    expect(create).toStrictEqual({ object: thing, operation: 'CREATE', user, dryRun: false })
    expect(given.flatMap(({ object, context }) => [object, context.old])).not.toContain(thing)
  })

  it('warns ten times at most, in 256 characters each', async () => {
    const warnAll = (_object: ApiObject, { warn }: HookContext): void => {
      warn('x'.repeat(300))
      for (let i = 1; i < 12; i++) warn(`w${i}`)
    }
    const { run } = open({ validate: warnAll })
    await run.check(thing)
    expect(run.warnings).toEqual(['x'.repeat(256), ...Array.from({ length: 9 }, (_, i) => `w${i + 1}`)])
  })

  it.each<[string, unknown, string]>([
    ['an error', new Error('away'), 'away'],
    ['a text', 'away', 'away'],
    ['many words', new Error('x'.repeat(600)), 'x'.repeat(500)],
    ['a refusal', new OperatingError('NOT_FOUND', 'no such user'), 'no such user'],
  ])('that throws %s keeps the write back', async (_what, thrown, why) => {
    const throwIt = (): never => {
      throw thrown
    }
    const { run, clock } = open({ validate: throwIt })
    const end = await run.check(thing).catch((error: unknown) => error)
    expect(end).toMatchObject({ code: 'HOOK_FAILED', cause: thrown })
    expect([await endOf(run.check(thing)), clock.nextDueMs()]).toEqual([failed('validate', why), undefined])
  })

  it('that throws what another hook failed of says so in its words', async () => {
    const thrown = new OperatingError('HOOK_FAILED', 'the other one')
    const rejectIt = async (): Promise<never> => {
      throw thrown
    }
    await expect(open({ default: rejectIt }).run.complete(thing)).rejects.toBe(thrown)
  })

  it('has five seconds, is told when they are over, and has no clock left behind', async () => {
    const signals: AbortSignal[] = []
    const wait = (_object: ApiObject, { signal }: HookContext): Promise<never> => {
      signals.push(signal)
      return new Promise(() => {})
    }
    const { run, clock } = open({ validate: wait, default: () => {} })
    await run.complete(thing)
    expect(clock.nextDueMs()).toBeUndefined()
    const end = endOf(run.check(thing))
    await clock.advance(4_999)
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
    await clock.advance(1)
    expect(await end).toBe(failed('validate', 'it took longer than 5 s'))
    expect(signals.map(({ aborted, reason }) => [aborted, reason as unknown])).toEqual([
      [true, 'the time of the hook is over'],
    ])
  })

  it('that ends in its time is not told that it is over', async () => {
    const signals: AbortSignal[] = []
    const { run } = open({ validate: (_object, { signal }) => void signals.push(signal) })
    await run.check(thing)
    await new Promise(setImmediate)
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
  })
})
