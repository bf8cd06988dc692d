import { describe, expect, it } from 'vitest'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import { objectText } from '../../../shared/model/object-text.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { AdmissionBudget } from '../../../shared/model/policy/admission-budget.ts'
import { creation, deletion, endOf, mutating, openAdmission, rule, thing, webhooks } from './admission-world.ts'

const ifNeeded = { reinvocationPolicy: 'IfNeeded' }
const set = (field: string, value: string | number) => [{ op: 'add', path: `/spec/${field}`, value }]
const sizeOf = (request: JsonObject) => (request['object'] as unknown as ApiObject).spec?.['size'] as number
/** It makes the object another one each time. */
const grow = (request: JsonObject) => set('size', sizeOf(request) + 10)
const onePlus = 'int(object.spec.size) + 1'
const plusOne = (name: string, spec: JsonObject = {}) =>
  mutating(name, [`[JSONPatch{op: "add", path: "/spec/size", value: ${onePlus}}]`], { spec })

type Says = (request: JsonObject, asked: number) => JsonObject | readonly JsonObject[] | Error | undefined

/** Webhooks by their names, what each of them says the first, second, … time, and which of them are asked again. */
function openHooks(
  says: Readonly<Record<string, Says>>,
  { again = '', more = {}, objects = [] as readonly ApiObject[] } = {},
) {
  const hooks = Object.keys(says).map((name) => ({ name, ...(again.includes(name) ? ifNeeded : {}), ...more }))
  const times = new Map<string, number>()
  const answer = (name: string, request: JsonObject) => {
    times.set(name, (times.get(name) ?? 0) + 1)
    return says[name]?.(request, times.get(name) ?? 0)
  }
  return openAdmission({ objects: [webhooks('Mutating', ...hooks), ...objects], answer })
}

const nothing: Says = () => ({})

describe('webhooks that change an object', () => {
  it.each<[string, Readonly<Record<string, Says>>, string, string, number]>([
    ['are asked once', { a: nothing, b: grow }, '', 'a b', 11],
    ['are asked again behind a change, if they want', { a: nothing, b: grow }, 'a', 'a b a', 11],
    ['are asked once ahead of their own change', { a: grow, b: nothing }, 'ab', 'a b', 11],
    ['are asked once behind the last change', { a: grow, b: nothing, c: nothing }, 'abc', 'a b c', 11],
    ['are each asked again behind a change', { a: nothing, b: grow, c: grow }, 'ab', 'a b c a b', 31],
    [
      'are asked again behind a change of the second round',
      {
        a: (request, i) => (i === 2 ? grow(request) : {}),
        b: (request, i) => (i === 1 ? grow(request) : {}),
        c: nothing,
      },
      'ac',
      'a b c a c',
      21,
    ],
    [
      'are not asked again behind no change of the second round',
      { a: nothing, b: (request, i) => (i === 1 ? grow(request) : {}), c: nothing },
      'ac',
      'a b c a',
      11,
    ],
    ['are not asked again behind what changes nothing', { a: nothing, b: () => set('size', 1) }, 'ab', 'a b', 1],
    ['are asked twice at most', { a: grow, b: grow }, 'ab', 'a b a b', 41],
  ])('%s', async (...row) => {
    const [, says, again, order, size] = row
    const { mutate, did } = openHooks(says, { again })
    const mutated = await mutate(creation)
    expect([did.join(' '), mutated?.object?.spec?.['size']]).toEqual([order, size])
  })

  it('leave the object as it is if they change nothing, which they see with its defaults', async () => {
    const { mutate, requests } = openHooks({ a: nothing })
    const { metadata } = creation.object
    const bare = { ...creation, object: { ...creation.object, metadata } }
    const mutated = await mutate(bare)
    expect(mutated).toStrictEqual({ object: bare.object, warnings: [] })
    expect(mutated?.object).toBe(bare.object)
    expect(requests).toMatchObject([{ object: { spec: { size: 1, made: 1 } } }])
  })

  it('warn each time that they are asked', async () => {
    const warn =
      (name: string): Says =>
      (_request, i) => ({ warnings: [`${name}${i}`] })
    const { mutate } = openHooks({ a: warn('a'), b: grow }, { again: 'a' })
    expect((await mutate(creation))?.warnings).toEqual(['a1', 'a2'])
    expect((await openHooks({ a: warn('a') }).mutate(creation))?.warnings).toEqual(['a1'])
  })

  it('are asked of a deletion, of which there is nothing to change', async () => {
    const { mutate, requests } = openHooks({ a: () => ({ warnings: ['w'] }) })
    expect(await mutate(deletion)).toStrictEqual({ warnings: ['w'] })
    expect(requests).toMatchObject([{ object: null, oldObject: { spec: { size: 1 } }, operation: 'DELETE' }])
    expect(await endOf(openHooks({ a: () => set('size', 2) }).mutate(deletion))).toBe(
      'HOOK_FAILED: Internal error occurred: admission webhook "a" attempted to modify the object, which is not supported for this operation',
    )
  })

  it('see the object in the version that they name, and what they make of it is in that of the request', async () => {
    const more = { rules: [{ ...rule, apiVersions: ['v2'] }] }
    const { mutate, requests } = openHooks({ a: grow }, { more })
    const mutated = await mutate(creation)
    expect(requests).toMatchObject([{ kind: { version: 'v2' }, object: { apiVersion: 'g.dev/v2' } }])
    expect(mutated?.object).toMatchObject({ apiVersion: 'g.dev/v1', spec: { size: 11 } })
  })

  it('change nothing in another version if they change nothing in theirs', async () => {
    const { mutate, did } = openHooks(
      { a: nothing, b: nothing },
      { again: 'a', more: { rules: [{ ...rule, apiVersions: ['v2'] }] } },
    )
    expect((await mutate(creation))?.object).toBe(creation.object)
    expect(did).toEqual(['a', 'b'])
  })

  it('are asked of what their selectors let through', async () => {
    const { mutate, did } = openHooks({ a: grow }, { more: { objectSelector: { matchLabels: { a: 'b' } } } })
    await mutate(creation)
    expect(did).toEqual([])
    await mutate({ ...creation, object: thing({ size: 1 }, { a: 'b' }) })
    expect(did).toEqual(['a'])
  })

  const away: Says = () => new OperatingError('UNAVAILABLE', 'no answer')
  const does = 'HOOK_FAILED: Internal error occurred: the patch of admission webhook "a" does not fit: '
  it.each<[string, Says, JsonObject, unknown]>([
    [
      'that is away is ignored, if that is said',
      away,
      { failurePolicy: 'Ignore' },
      { object: creation.object, warnings: [] },
    ],
    [
      'that is away keeps the write back',
      away,
      {},
      'HOOK_FAILED: Internal error occurred: failed calling webhook "a": failed to call webhook: no answer',
    ],
    [
      'whose patch does not fit keeps the write back',
      () => [{ op: 'remove', path: '/none' }],
      {},
      `${does}the server rejected our request due to an error in our request: operation 0, remove /none`,
    ],
  ])('one %s', async (_what, says, more, end) => {
    const given = await endOf(openHooks({ a: says }, { more }).mutate(creation))
    if (typeof end === 'string') expect(given).toContain(end.slice(0, 90))
    else expect(given).toEqual(end)
  })

  it('take what their patches cost, and fail of the budget ahead of the patch', async () => {
    const spent: number[] = []
    const spend = (steps: number): void => void spent.push(steps)
    const refuseIfSpent = () => {
      throw new OperatingError('TOO_LARGE', 'spent')
    }
    const budget = { spend, refuseIfSpent, endFrom: () => Infinity } as unknown as AdmissionBudget
    const mutated = await openHooks({ a: () => set('text', 'x'.repeat(100)) }).mutate({ ...creation, budget })
    const { object = thing() } = mutated ?? {}
    const half = (one: ApiObject) => Math.ceil(objectText(one).length / 2)
    expect(spent).toContain(half({ ...creation.object, spec: { size: 1, made: 1 } }))
    expect(spent.at(-1)).toBe(half(object))
    const misfit = openHooks({ a: () => [{ op: 'remove', path: '/none' }] })
    expect(await endOf(misfit.mutate({ ...creation, budget }))).toBe('TOO_LARGE: spent')
  })
})

describe('policies beside webhooks', () => {
  it.each<[string, JsonObject, Says, number]>([
    ['are asked again if they have changed it themselves, and want', ifNeeded, nothing, 3],
    ['are asked once if no webhook changes anything', {}, nothing, 2],
    ['are asked again if one does, and they want', ifNeeded, grow, 13],
    ['are asked once if they do not want', {}, grow, 12],
  ])('%s', async (_what, spec, says, size) => {
    const { mutate } = openHooks({ a: says }, { objects: plusOne('p', spec) })
    expect((await mutate(creation))?.object?.spec).toMatchObject({ size })
  })

  it('have webhooks asked again by their second change, and not without one', async () => {
    const growing = openHooks({ a: grow }, { again: 'a', objects: plusOne('p', ifNeeded) })
    expect((await growing.mutate(creation))?.object?.spec).toMatchObject({ size: 23 })
    expect(growing.did).toEqual(['a', 'a'])
    const still = openHooks({ a: grow }, { again: 'a', objects: plusOne('p') })
    expect((await still.mutate(creation))?.object?.spec).toMatchObject({ size: 12 })
    expect(still.did).toEqual(['a'])
  })

  it('are asked again each for itself', async () => {
    const objects = [...plusOne('p', ifNeeded), ...plusOne('q'), ...plusOne('r', ifNeeded)]
    const { mutate } = openHooks({ a: grow }, { objects })
    expect((await mutate(creation))?.object?.spec).toMatchObject({ size: 1 + 3 + 10 + 2 })
  })

  it('are not asked of a deletion', async () => {
    const { mutate, did } = openHooks({ a: nothing }, { objects: plusOne('p') })
    expect(await mutate(deletion)).toStrictEqual({ warnings: [] })
    expect(did).toEqual(['a'])
  })
})
