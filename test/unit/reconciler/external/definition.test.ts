import * as z from 'zod'
import { expect, it } from 'vitest'
import {
  ConfigMap,
  createRateBudget,
  defineExternal,
  defineKind,
  externalStatus,
  mapped,
  requires,
  Secret,
  type ApiObject,
  type Context,
  type ExternalApi,
} from '../../../../shared/index.ts'
import { nowMs } from './one-run.ts'

const Box = defineKind({
  group: 'example.dev',
  version: 'v1',
  kind: 'Box',
  spec: z.object({ size: z.number() }),
  status: externalStatus,
})

async function nothing(): Promise<undefined> {}

const api: ExternalApi<undefined> = {
  get: nothing,
  find: nothing,
  create: async (_, declared) => declared,
  update: async (_, __, declared) => declared,
  delete: async () => {},
  idOf: ({ id }) => String(id),
}

function define(boxes: ExternalApi<undefined>): unknown {
  return defineExternal(Box, { connect: nothing, declared: ({ spec }) => ({ ...spec }), api: boxes })
}

it('refuses a way to find entities without a way to tell whose they are', () => {
  expect(() => define(api)).toThrow("Box: api.find needs api.ownerOf, which reads the owner's uid from an entity")
  expect(() => define({ ...api, ownerOf: ({ owner }) => String(owner) })).not.toThrow()
  const { find, ...unfound } = api
  expect(find).toBeDefined()
  expect(() => define(unfound)).not.toThrow()
})

const whole = {
  connect: nothing,
  declared: ({ spec }: { readonly spec: object }) => ({ ...spec }),
  api: { ...api, ownerOf: () => {} },
}

it('owns a Secret if it has outputs, and watches what it refers to, beside what was said', () => {
  const bare = defineExternal(Box, whole as never)
  expect([bare.owns, bare.references, bare.maps]).toEqual([[], [], []])
  expect(bare).not.toHaveProperty('callBudgets')
  const { owns, references, maps } = defineExternal(Box, {
    ...whole,
    owns: [ConfigMap],
    watches: [mapped(ConfigMap, () => {})],
    references: { Box: requires(Box, () => ({ name: 'b' })) },
    outputs: { name: () => 'n', data: () => ({}) },
  } as never)
  expect(owns.map(({ kind }) => kind)).toEqual([ConfigMap, Secret])
  expect([references.map(({ kind }) => kind.kind), maps.map(({ kind }) => kind)]).toEqual([['Box'], [ConfigMap]])
})

/** The calls and the outcome of a run of an entity that is there, as declared, and was asserted so long ago. */
async function runAfter(agoMs: number, options: object, createdAgoMs = agoMs) {
  const calls: string[] = []
  let noted: object = {}
  const entity = { id: 'x', size: 1 }
  const told = (call: string): typeof entity => {
    calls.push(call)
    return entity
  }
  const far = {
    ...whole.api,
    get: async () => told('get'),
    create: async () => entity,
    update: async () => told('update'),
    find: nothing,
  }
  const runs = defineExternal(Box, { ...whole, ...options, api: far } as never)
  const at = (time: number): Context =>
    ({
      now: () => time,
      notes: { get: () => noted, set: (_: string, value: object) => void (noted = value), keep: nothing },
      outside: { recordCall: () => {}, recordDrift: nothing, conceal: String },
      event: nothing,
    }) as unknown as Context
  const object = { metadata: { name: 'b', uid: 'u' }, kind: 'Box', spec: { size: 1 } } as unknown as ApiObject
  await runs.reconcile(object, at(nowMs - agoMs))
  noted = { ...noted, createdAtMs: nowMs - createdAgoMs }
  const outcome = await runs.reconcile(object, at(nowMs))
  return { calls, outcome, runs }
}

it.each([
  ['a minute', {}, 59_999, []],
  ['a minute', {}, 60_000, ['get', 'update']],
  ['what was said', { syncPeriod: '5m' }, 299_999, []],
  ['what was said', { syncPeriod: '5m' }, 300_000, ['get', 'update']],
  ['a minute, and only if it differs', { assert: 'onDrift' }, 60_000, ['get']],
])('asserts an entity after %s', async (_what, options, agoMs, calls) => {
  expect((await runAfter(agoMs, options)).calls).toEqual(calls)
})

it('says how the last sync went by a condition of any name', async () => {
  expect((await runAfter(0, {})).outcome.conditions).toHaveProperty('Synced')
  expect((await runAfter(0, { condition: 'Programmed' })).outcome.conditions).toHaveProperty('Programmed')
})

it.each([
  [{}, 29_999, false],
  [{}, 30_000, true],
  [{ grace: '5s' }, 4_999, false],
  [{ grace: '5s' }, 5_000, true],
])(
  'takes an entity for gone that is not seen after its grace: with %j after %d ms %j',
  async (options, agoMs, isGone) => {
    const created: string[] = []
    const create = async () => {
      created.push('create')
      return { id: 'y', size: 1 }
    }
    const gone = { get: nothing, create }
    const far = defineExternal(Box, { ...whole, ...options, api: { ...whole.api, ...gone } } as never)
    const noted = { round: 0, id: 'x', createdAtMs: nowMs - agoMs }
    const ctx = {
      now: () => nowMs,
      notes: { get: () => noted, set: () => {}, keep: nothing },
      outside: { recordCall: () => {}, recordDrift: nothing, conceal: String },
    } as unknown as Context
    const object = { metadata: { name: 'b', uid: 'u' }, kind: 'Box', spec: { size: 1 } } as unknown as ApiObject
    await far.reconcile(object, ctx)
    expect(created).toEqual(isGone ? ['create'] : [])
  },
)

it('tells the budgets that its runs have called by', async () => {
  const budget = createRateBudget({ perSecond: 10, burst: 10 })
  const { runs } = await runAfter(0, { budget: () => budget })
  expect(runs.callBudgets?.()).toEqual([{ order: 1, budget }])
  expect(Object.isFrozen(runs)).toBe(true)
})

it.each(['syncPeriod', 'grace'])('says that its %s is no duration', (option) => {
  const options = { connect: nothing, declared: () => ({}), api: { ...api, ownerOf: () => 'u' } }
  expect(() => defineExternal(Box, { ...options, [option]: 'soon' })).toThrow(`Box: ${option}: not a duration: "soon"`)
})

it.each([
  [{ resyncPeriod: '5m' }, 'Box: there is no option resyncPeriod: syncPeriod is probably meant'],
  [{ conect: nothing }, 'Box: there is no option conect: connect is probably meant'],
  [{ reconcile: nothing }, 'Box: there is no option reconcile: there are references, connect, declared, '],
  [{ connect: undefined }, 'Box: connect is missing: give a function'],
  [{ declared: {} }, 'Box: declared is missing: give a function'],
  [{ api: undefined }, 'Box: api: get is missing: give a function'],
  [{ api: { ...api, idOf: undefined } }, 'Box: api: idOf is missing: give a function'],
])('refuses what it does not know or lacks: %j', (wrong, why) => {
  expect(() => defineExternal(Box, { ...whole, ...wrong } as never)).toThrow(why)
})
