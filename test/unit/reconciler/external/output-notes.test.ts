import { describe, expect, it } from 'vitest'
import { digest } from '../../../../shared/model/digest.ts'
import type { ApiObject, Context, JsonObject } from '../../../../shared/index.ts'
import type { Outputs } from '../../../../shared/reconciler/external/external-options.ts'
import type { ExternalMemory } from '../../../../shared/reconciler/external/memory.ts'
import { keepOutputs, listNeverKept, listNews } from '../../../../shared/reconciler/external/outputs.ts'
import { thingOf } from './one-run.ts'

/** What is noted of outputs, by each function on its own. */

type Texts = Readonly<Record<string, string>>

const target = { parameter: { name: 'p' } }
const outputs: Outputs<ApiObject> = { name: () => 'login', data: (entity) => entity as Texts }

function contextOf(memory: Partial<ExternalMemory>, stored: Texts = {}): Context {
  const data = Object.fromEntries(Object.entries(stored).map(([key, text]) => [key, btoa(text)]))
  return {
    notes: { get: () => ({ round: 0, ...memory }) },
    get: async () => ({ metadata: {}, data }),
    apply: async (_: unknown, { stringData }: { readonly stringData: object }) => ({ data: stringData }),
    outside: { keepSecret: async () => {} },
  } as unknown as Context
}

describe('outputs that are kept', () => {
  const entity = { password: 'p', user: 'u' }
  const kept = async (memory: Partial<ExternalMemory>, to?: typeof target) => {
    const noted: unknown[] = []
    const noteKept = async (one: unknown) => void noted.push(one)
    const told = { ...outputs, ...(to && { to: () => to }) }
    const answer = await keepOutputs(told, thingOf({}), { entity, ctx: contextOf(memory), noteKept })
    return { noted, answer }
  }

  it.each<[string, Partial<ExternalMemory>, readonly string[]]>([
    ['all, of an entity that had none', {}, ['password', 'user']],
    ['those that are new', { outputKeys: ['user'] }, ['password']],
    ['those whose write may not have ended', { outputKeys: ['user'], outputsUnkept: ['user'] }, ['password', 'user']],
  ])('are noted before their write: %s', async (_which, memory, outputsUnkept) => {
    const { noted } = await kept(memory)
    expect(noted).toStrictEqual([{ outputsIn: 'login', outputKeys: ['password', 'user'], outputsUnkept }])
  })

  it('are noted where they are, and where they may be while they move', async () => {
    const outputKeys = ['password', 'user']
    const stay = await kept({ outputsAt: target, outputKeys: ['user'] }, target)
    expect(stay.noted).toStrictEqual([{ outputsAt: target, outputKeys, outputsUnkept: ['password'] }])
    const move = await kept({ outputsIn: 'login', outputKeys }, target)
    expect(move.noted).toStrictEqual([
      { outputsIn: 'login', outputsAlso: target, outputKeys, outputsUnkept: [] },
      { outputsAt: target, outputKeys },
    ])
  })

  it('and cannot be read for another reason than that nobody answers fail the run by that', async () => {
    const bug = new Error('a bug')
    const ctx = contextOf({ outputsAt: target, outputKeys: ['password', 'user'] })
    Object.assign(ctx.outside, { readSecret: () => Promise.reject(bug) })
    const noteKept = async () => {}
    const keeping = keepOutputs(outputs, thingOf({}), { entity: { user: 'u' }, ctx, noteKept })
    await expect(keeping).rejects.toBe(bug)
  })

  it('are known by their digest and where they are, or to be in AWS', async () => {
    expect((await kept({})).answer).toStrictEqual({ outputs: digest(JSON.stringify(entity)), outputsIn: 'login' })
    expect((await kept({}, target)).answer).toStrictEqual({ outputs: 'vault' })
  })
})

it.each<[string, Partial<Outputs<ApiObject>> | undefined, object]>([
  ['an entity that has none', undefined, {}],
  ['an entity that tells all again', {}, {}],
  ['an entity that tells nothing only once', { toldOnce: [] }, {}],
  ['an entity that tells some only once', { toldOnce: ['b', 'a'] }, { outputsUnkept: ['a', 'b'] }],
])('the outputs that are nowhere once %s is found again', (_which, more, noted) => {
  expect(listNeverKept(more && { ...outputs, ...more })).toStrictEqual(noted)
})

describe('the answer to an update', () => {
  const entity = { password: 'new' }
  const known = { outputKeys: ['password'], outputs: 'd' }
  const isNew = { outputsUnkept: ['password'], outputsBefore: 'd' }
  const all = { memory: known, before: {}, stored: { password: 'old' }, of: outputs }

  it.each<[string, object, object | undefined]>([
    ['has news', {}, isNew],
    ['has none of what has no outputs', { of: undefined }, undefined],
    ['has none where nothing was ever stored', { memory: {} }, undefined],
    ['has none if it tells nothing', { of: { ...outputs, data: () => ({}) } }, undefined],
    ['has none if that was told before, too', { before: { password: 'other' } }, undefined],
    ['has none if that is stored already', { stored: entity }, undefined],
    ['has news of what was not looked at before', { before: undefined }, isNew],
    [
      'has news of what tells the same of every entity, and was not looked at before',
      { before: undefined, of: { ...outputs, data: () => entity } },
      isNew,
    ],
    ['has news without a digest of what is stored', { memory: { outputKeys: [] } }, { outputsUnkept: ['password'] }],
    [
      'has news beside what is not stored yet',
      { memory: { ...known, outputsUnkept: ['user'] } },
      { ...isNew, outputsUnkept: ['password', 'user'] },
    ],
  ])('%s', async (_what, given, news) => {
    const { memory, before, stored, of }: GivenUpdate = { ...all, ...given }
    const ctx = contextOf(memory, stored)
    expect(await listNews(of, thingOf({}), { entity, before, ctx })).toStrictEqual(news)
  })
})

interface GivenUpdate {
  readonly memory: Partial<ExternalMemory>
  readonly before: JsonObject | undefined
  readonly stored: Texts
  readonly of: Outputs<ApiObject> | undefined
}
