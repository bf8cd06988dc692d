import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import { objectText } from '../../../shared/model/object-text.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import { AdmissionBudget } from '../../../shared/model/policy/admission-budget.ts'
import { creation, endOf, mutating, openAdmission, rule, strangeRule, thing } from './admission-world.ts'

const put = (field: string, value: string) => `[JSONPatch{op: "add", path: "/spec/${field}", value: ${value}}]`
const red = put('color', '"red"')
const misfit = '[JSONPatch{op: "remove", path: "/none"}]'
const deniedBy = (why: string, policy = 'p') =>
  `FORBIDDEN: policy '${policy}' with binding '${policy}' denied request: ${why}`
const rules = { resourceRules: [rule] }
const when = (expression: string) => ({ matchConditions: [{ name: 'c', expression }] })
const outside = "expression '[1][5] == 1' resulted in error: index out of bounds: 5"

describe('a policy that changes objects', () => {
  it.each<[string, JsonObject, JsonObject, JsonObject | string]>([
    ['that fits', {}, {}, { color: 'red' }],
    ['of other rules', { matchConstraints: { resourceRules: [strangeRule] } }, {}, {}],
    [
      'of another namespace',
      { matchConstraints: { ...rules, namespaceSelector: { matchLabels: { of: 'm' } } } },
      {},
      {},
    ],
    ['bound to another namespace', {}, { matchResources: { namespaceSelector: { matchLabels: { of: 'm' } } } }, {}],
    [
      'bound to this namespace',
      {},
      { matchResources: { namespaceSelector: { matchLabels: { of: 'n' } } } },
      { color: 'red' },
    ],
    ['whose condition holds', when('object.spec.size == 1'), {}, { color: 'red' }],
    ['whose condition does not', when('object.spec.size == 2'), {}, {}],
    ['whose condition fails', when('[1][5] == 1'), {}, deniedBy(outside)],
    ['whose condition fails, which is ignored', { ...when('[1][5] == 1'), failurePolicy: 'Ignore' }, {}, {}],
    [
      'that names another version',
      { matchConstraints: { resourceRules: [{ ...rule, apiVersions: ['v2'] }] } },
      {},
      { color: 'red' },
    ],
  ])('%s', async (...row) => {
    const [, spec, binding, made] = row
    const { mutate } = openAdmission({ objects: mutating('p', [red], { spec, binding }) })
    const end = (await endOf(mutate(creation))) as { readonly object: ApiObject } | string | undefined
    if (typeof made === 'string') expect(end).toBe(made)
    else if (typeof end === 'object')
      expect(end.object.spec).toEqual({ size: 1, ...(made['color'] ? { made: 1 } : {}), ...made })
    else expect([end, made]).toEqual([undefined, {}])
  })

  it('has all of its mutations one after the other, and others by their names behind it', async () => {
    const add = put('size', 'int(object.spec.size) + 1')
    const double = put('size', 'int(object.spec.size) * 2')
    const { mutate } = openAdmission({ objects: [...mutating('a', [add, double]), ...mutating('b', [add])] })
    expect((await mutate(creation))?.object?.spec).toMatchObject({ size: 5 })
  })

  it.each([
    ['v1', put('size', '1')],
    ['v2', '[JSONPatch{op: "test", path: "/spec/size", value: 5}]'],
  ])('that changes nothing, asked in %s, leaves the object as it is: %s', async (version, mutation) => {
    const whole = { ...creation, object: thing({ size: 1, made: 1 }) }
    const spec = { matchConstraints: { resourceRules: [{ ...rule, apiVersions: [version] }] } }
    const { mutate } = openAdmission({ objects: mutating('p', [mutation], { spec }) })
    expect((await mutate(whole))?.object).toBe(whole.object)
  })

  it('sees and makes an object in the version that it names', async () => {
    const spec = { matchConstraints: { resourceRules: [{ ...rule, apiVersions: ['v2'] }] } }
    const seen = put('color', 'object.apiVersion + request.kind.version + request.name')
    const { mutate } = openAdmission({ objects: mutating('p', [seen], { spec }) })
    expect((await mutate(creation))?.object).toMatchObject({ apiVersion: 'g.dev/v1', spec: { color: 'g.dev/v2v2t' } })
  })

  it('leaves others their turn ahead of a large object', async () => {
    const { mutate, did } = openAdmission({ objects: mutating('p', [red]) })
    await mutate({ ...creation, object: thing({ text: 'x'.repeat(50_000) }) })
    expect(did).toEqual(['rest', 'rest', 'rest'])
  })
})

describe('what a policy fails of', () => {
  it('is told of the first, with a cause for each', async () => {
    const objects = [...mutating('a', [misfit]), ...mutating('b', [red]), ...mutating('c', [misfit])]
    const failure = await openAdmission({ objects })
      .mutate(creation)
      ?.catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'FORBIDDEN', details: { causes: [{}, {}] } })
    expect(String(failure)).toContain("policy 'a' with binding 'a' denied request: ")
  })

  it('does not keep its other mutations back, nor what others make', async () => {
    const spec = { failurePolicy: 'Ignore' }
    const objects = [...mutating('a', [misfit, red], { spec }), ...mutating('b', [put('size', '9')])]
    expect((await openAdmission({ objects }).mutate(creation))?.object?.spec).toMatchObject({ color: 'red', size: 9 })
  })

  it.each<[string, string, string]>([
    ['an expression that fails', put('size', '[1][5]'), 'index out of bounds: 5'],
    ['a patch that does not fit', misfit, 'operation 0, remove /none'],
    ['a value of another type', put('metadata', '1').replace('/spec', ''), 'metadata'],
  ])('may be %s', async (_what, mutation, why) => {
    const end = await endOf(openAdmission({ objects: mutating('p', [mutation]) }).mutate(creation))
    expect(end).toContain(deniedBy(''))
    expect(end).toContain(why)
  })

  it('may be its parameters', async () => {
    const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
    const by = (parameterNotFoundAction: string, more: JsonObject = {}) =>
      mutating('p', [red], {
        spec: { paramKind, ...more },
        binding: { paramRef: { name: 'x', parameterNotFoundAction } },
      })
    const missed = 'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction'
    const end = (objects: readonly ApiObject[]) => endOf(openAdmission({ objects }).mutate(creation))
    expect(await end(by('Deny'))).toBe(deniedBy(missed))
    expect(await end(by('Deny', { failurePolicy: 'Ignore' }))).toMatchObject({ object: { spec: { size: 1 } } })
    expect(await end(by('Allow'))).toMatchObject({ object: { spec: { size: 1 } } })
  })

  it('may be the steps that expressions may take, which ends all of them', async () => {
    const heavy = put('size', 'object.spec.list.all(x, object.spec.list.all(y, x + y >= 0)) ? 2 : 3')
    const object = thing({ list: Array.from({ length: 200 }, () => 1) })
    const by = (spec: JsonObject) => [
      ...mutating('a', [red]),
      ...mutating('b', [heavy], { spec }),
      ...mutating('c', [put('text', '"x"')]),
    ]
    const end = (spec: JsonObject) => endOf(openAdmission({ objects: by(spec) }).mutate({ ...creation, object }))
    expect(await end({})).toBe(deniedBy('running out of cost budget, no further mutations will be run', 'b'))
    const ignored = (await end({ failurePolicy: 'Ignore' })) as { readonly object: ApiObject }
    expect(ignored.object.spec).toMatchObject({ color: 'red' })
    expect(ignored.object.spec).not.toHaveProperty('text')
  })
})

describe('what policies cost', () => {
  const half = (object: ApiObject) => Math.ceil(objectText(object).length / 2)
  const limits = (name: string): ApiObject => {
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...thing().metadata, name, uid: name }, data: {} }
  }

  async function costsOf(
    objects: readonly ApiObject[],
  ): Promise<{ readonly spent: readonly number[]; readonly end: unknown }> {
    const spent: number[] = []
    const budget = { spend: (steps: number) => void spent.push(steps) } as unknown as AdmissionBudget
    const end = await endOf(openAdmission({ objects }).mutate({ ...creation, budget }))
    return { spent, end }
  }

  it('is that of a binding, of the object as it is, of its patch, and of the object that is made', async () => {
    const { spent, end } = await costsOf(mutating('p', [red]))
    const { object } = end as { readonly object: ApiObject }
    expect(spent).toEqual([1_000, half({ ...thing(), spec: { size: 1, made: 1 } }), 10, half(object)])
  })

  it('is that of a binding for each set of parameters, and one for looking', async () => {
    const spec = { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }
    const of = (paramRef: JsonObject) => mutating('p', [], { spec, binding: { paramRef } })
    const two = await costsOf([...of({ selector: {} }), limits('a'), limits('b')])
    expect(two.spent.at(-1)).toBe(1_500)
    expect((await costsOf(of({ selector: {}, parameterNotFoundAction: 'Deny' }))).spent.at(-1)).toBe(500)
  })

  it('is nothing for what is not made', async () => {
    const { spent } = await costsOf(mutating('p', [misfit]))
    expect(spent.at(-1)).toBe(0)
  })

  it('is not to be exceeded within a patch', async () => {
    const budget = new AdmissionBudget()
    const room = 1_000 + half({ ...thing(), spec: { size: 1, made: 1 } })
    budget.spend(1_300_000 - room - 5)
    expect(await endOf(openAdmission({ objects: mutating('p', [red]) }).mutate({ ...creation, budget }))).toContain(
      'TOO_LARGE',
    )
  })

  it('is an eighth of a step for each character of an object, beside its expressions', async () => {
    const spend = () => {}
    const budget = { spend } as unknown as AdmissionBudget
    const object = thing({ text: 'x'.repeat(1_300_000) })
    const { mutate } = openAdmission({ objects: mutating('p', [red, red]) })
    expect(await endOf(mutate({ ...creation, object, budget }))).toContain('running out of cost budget')
  })

  it('does not hide a slip of the program', async () => {
    const slip = new TypeError('a slip')
    const spend = (steps: number): void => {
      if (steps === 10) throw slip
    }
    const budget = { spend } as unknown as AdmissionBudget
    expect(await endOf(openAdmission({ objects: mutating('p', [red]) }).mutate({ ...creation, budget }))).toBe(slip)
  })
})
