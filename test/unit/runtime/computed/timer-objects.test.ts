import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ConfigMap, defineReconciler, done, Namespace, type Controller } from '../../../../shared/index.ts'
import type { PageEnd } from '../../../../shared/api/computed/computed-objects.ts'
import type { EngineState } from '../../../../shared/model/engine-state.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import type { ApiObject } from '../../../../shared/model/object.ts'
import type { DueTimer } from '../../../../shared/ports/object-index.ts'
import { timerObjects } from '../../../../shared/runtime/computed/timer-objects.ts'

const reconcile = async () => done()
const maps = defineReconciler(ConfigMap, { name: 'maps', reconcile })
const spaces = defineReconciler(Namespace, { name: 'maps.spaces', reconcile })

interface Due {
  readonly controller: Controller
  readonly namespace?: string
  readonly name: string
  readonly engine: EngineState
}

const resync = (atMs: number): EngineState => ({ wait: { kind: 'Resync', generation: 1, atMs } })

/** An index and a store that have these. */
function sourceOf(timers: readonly Due[], damaged?: string) {
  const keyOf = ({ controller: { kind }, namespace = '', name }: Due) => ({
    group: kind.group,
    kind: kind.kind,
    namespace,
    name,
  })
  return timerObjects({
    controllers: [maps, spaces],
    index: {
      due: async ({ kind }, untilMs, limit, fromMs = 0): Promise<readonly DueTimer[]> =>
        timers
          .filter(({ controller }) => controller.kind.kind === kind)
          .map((timer) => ({ key: keyOf(timer), dueAtMs: timer.engine.wait?.atMs ?? timer.engine.wakeAtMs ?? 0 }))
          .filter(({ dueAtMs }) => dueAtMs >= fromMs && dueAtMs <= untilMs)
          .toSorted((a, b) => a.dueAtMs - b.dueAtMs)
          .slice(0, limit),
    },
    store: {
      get: async ({ kind, namespace, name }) => {
        if (name === damaged) throw new OperatingError('DAMAGED', 'it is damaged')
        const found = timers.find(
          (one) => one.controller.kind.kind === kind && (one.namespace ?? '') === namespace && one.name === name,
        )
        return found && { object: {} as ApiObject, engine: found.engine }
      },
    },
  })
}

const all = { namespace: '', limit: 100 }
const failure = { attempt: 1, error: 'no route' }

describe('timers', () => {
  it('are told the soonest first, with what their objects wait for', async () => {
    const source = sourceOf([
      { controller: maps, namespace: 'a', name: 'late', engine: resync(3_000) },
      {
        controller: maps,
        namespace: 'a',
        name: 'failed',
        engine: { wait: { kind: 'Backoff', generation: 1, atMs: 2_000, failure } },
      },
      { controller: spaces, name: 'a', engine: { wakeAtMs: 1_000 } },
    ])
    const { items, end } = await source.list(all)
    expect(end).toBeUndefined()
    expect(items.map(({ metadata, status }) => ({ ...metadata, ...status }))).toEqual([
      {
        name: 'maps.spaces.a',
        namespace: 'default',
        controller: 'maps.spaces',
        object: { group: '', kind: 'Namespace', name: 'a' },
        dueTime: '1970-01-01T00:00:01.000Z',
        waiting: 'Change',
      },
      expect.objectContaining({ name: 'maps.failed', waiting: 'Backoff', error: 'no route' }),
      expect.objectContaining({ name: 'maps.late', namespace: 'a', waiting: 'Resync' }),
    ])
    for (const { metadata } of items) {
      const { name, namespace = '' } = metadata
      expect((await source.find({ name, namespace }))?.metadata).toEqual(metadata)
    }
    expect(await source.find({ namespace: 'a', name: 'maps.other' })).toBeUndefined()
    expect(await source.find({ namespace: 'a', name: 'maps.spaces.a' })).toBeUndefined()
  })

  it('leave out what cannot be read', async () => {
    const source = sourceOf(
      [
        { controller: maps, namespace: 'a', name: 'bad', engine: resync(1) },
        { controller: maps, namespace: 'a', name: 'good', engine: resync(2) },
      ],
      'bad',
    )
    expect((await source.list(all)).items.map(({ metadata }) => metadata.name)).toEqual(['maps.good'])
  })

  it('are all told once, page by page, in order, however many are due at one time', async () => {
    const timer = fc.record({
      controller: fc.constantFrom(maps, spaces),
      atMs: fc.integer({ min: 0, max: 3 }),
      inB: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(timer, { maxLength: 30 }),
        fc.integer({ min: 1, max: 7 }),
        fc.constantFrom('', 'b'),
        async (drawn, limit, namespace) => {
          const timers = drawn.map(({ controller, atMs, inB }, i): Due => ({
            controller,
            ...(controller === maps && { namespace: inB ? 'b' : 'a' }),
            name: `n${i}`,
            engine: resync(atMs),
          }))
          const source = sourceOf(timers)
          const told: ApiObject[] = []
          let after: PageEnd | undefined
          do {
            const page = await source.list({ namespace, limit, ...(after && { after }) })
            expect(page.items.length).toBeLessThanOrEqual(limit)
            told.push(...page.items)
            after = page.end
          } while (after !== undefined)
          const wanted = timers.filter((one) => namespace === '' || one.namespace === namespace)
          expect(told.map(({ status }) => Date.parse(String(status?.['dueTime'])))).toEqual(
            wanted.map(({ engine }) => engine.wait?.atMs ?? 0).toSorted((a, b) => a - b),
          )
          expect(new Set(told.map(({ metadata }) => metadata.name)).size).toBe(wanted.length)
        },
      ),
    )
  })
})
