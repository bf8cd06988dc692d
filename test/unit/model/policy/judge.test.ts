import { describe, expect, it } from 'vitest'
import { Meter } from '../../../../shared/model/cel/meter.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import { compileConditions, compileMutations, compilePolicy } from '../../../../shared/model/policy/compile-policy.ts'
import { judge, type Denial } from '../../../../shared/model/policy/judge.ts'
import { findConcern, makePatch, type PolicyPatch } from '../../../../shared/model/policy/mutate.ts'
import type { MutatingPolicySpec, PolicyMutation, PolicySpec } from '../../../../shared/model/policy/policy.ts'
import type { PolicySubject } from '../../../../shared/model/policy/subject.ts'

const subject: PolicySubject = {
  object: { spec: { size: 3, name: 'x', list: [1] } },
  oldObject: undefined,
  request: { operation: 'CREATE', userInfo: { username: 'ann' } },
  params: { max: 2 },
  namespaceObject: { metadata: { name: 'n' } },
}
const meter = (steps = 1_000_000) => new Meter(steps)
const failing = 'object.spec.none == 1'
const failure = `expression '${failing}' resulted in error: no such key: none`

function denials(spec: PolicySpec, more: Partial<PolicySubject> = {}, steps?: number): readonly Denial[] {
  const { policy, errors } = compilePolicy(spec)
  expect(errors).toEqual([])
  return judge(spec, policy, { ...subject, ...more }, meter(steps))
}

describe('what a policy has against a request', () => {
  const tooLarge = 'object.spec.size < 3'
  it.each<[string, PolicySpec, readonly Denial[]]>([
    ['is nothing where all holds', { validations: [{ expression: 'object.spec.size == 3' }] }, []],
    [
      'is each validation that does not hold, by its place',
      { validations: [{ expression: 'true' }, { expression: ` ${tooLarge} ` }, { expression: 'false' }] },
      [
        { message: `failed expression: ${tooLarge}`, expression: 1 },
        { message: 'failed expression: false', expression: 2 },
      ],
    ],
    [
      'is said by its message and its reason',
      { validations: [{ expression: tooLarge, message: ' too large ', reason: 'Invalid' }] },
      [{ message: 'too large', reason: 'Invalid', expression: 0 }],
    ],
    [
      'is said by its expression where the message is empty',
      { validations: [{ expression: tooLarge, message: ' ' }] },
      [{ message: `failed expression: ${tooLarge}`, expression: 0 }],
    ],
    ['is that it cannot say', { validations: [{ expression: failing }] }, [{ message: failure }]],
    ['is nothing if that is ignored', { failurePolicy: 'Ignore', validations: [{ expression: failing }] }, []],
    [
      'is said though something else fails and is ignored',
      { failurePolicy: 'Ignore', validations: [{ expression: failing }, { expression: 'false' }] },
      [{ message: 'failed expression: false', expression: 1 }],
    ],
    [
      'is asked of what was, of the parameters, of the namespace and of the request',
      {
        paramKind: { apiVersion: 'v1', kind: 'P' },
        validations: [
          {
            expression:
              'oldObject == null && params.max == 2 && namespaceObject.metadata.name == "n" && request.userInfo.username == "ann"',
          },
        ],
      },
      [],
    ],
    [
      'is asked by way of variables, which see those ahead of them',
      {
        variables: [
          { name: 'size', expression: 'object.spec.size' },
          { name: 'twice', expression: 'variables.size * 2' },
        ],
        validations: [{ expression: 'variables.twice == 6' }, { expression: 'variables.twice == 7' }],
      },
      [{ message: 'failed expression: variables.twice == 7', expression: 1 }],
    ],
  ])('%s', (_what, spec, said) => {
    expect(denials(spec)).toStrictEqual(said)
  })

  it.each<[string, string, string]>([
    ['is said by an expression', '"at most " + string(object.spec.size)', 'at most 3'],
    ['is trimmed', '" a "', 'a'],
    ['is not the empty text', '" "', 'given'],
    ['has one line', '"a\\nb"', 'given'],
    ['may be so long', `"${'a'.repeat(5_120)}"`, 'a'.repeat(5_120)],
    ['may not be longer', `"${'a'.repeat(5_121)}"`, 'given'],
    ['is the given one where its expression fails', 'string(object.spec.none)', 'given'],
  ])('its message %s', (_what, messageExpression, message) => {
    const validations = [{ expression: 'false', message: 'given', messageExpression }]
    expect(denials({ validations })).toEqual([{ message, expression: 0 }])
  })

  it.each<[string, readonly string[], readonly Denial[]]>([
    ['is nothing where a condition does not hold', ['true', 'false'], []],
    ['is all where conditions hold', ['true', 'true'], [{ message: 'failed expression: false', expression: 0 }]],
    ['is that a condition fails', ['true', failing], [{ message: failure }]],
    ['is the first condition that fails', [failing, 'object.spec.no == 1'], [{ message: failure }]],
    ['is nothing where a condition fails and another does not hold', [failing, 'false'], []],
  ])('%s', (_what, conditions, said) => {
    const matchConditions = conditions.map((expression, i) => ({ name: `c${i}`, expression }))
    expect(denials({ matchConditions, validations: [{ expression: 'false' }] })).toEqual(said)
    const ignoring = denials({ failurePolicy: 'Ignore', matchConditions, validations: [{ expression: 'true' }] })
    expect(ignoring).toEqual([])
  })

  it('is that it takes too many steps', () => {
    const validations = [{ expression: 'object.spec.list.all(x, x < 5)' }]
    const message = 'validation failed due to running out of cost budget, no further validation rules will be run'
    expect(denials({ validations }, {}, 1)).toEqual([{ message }])
    expect(denials({ validations, failurePolicy: 'Ignore' }, {}, 1)).toEqual([])
  })

  it('is what the rights of the asker say', () => {
    const validations = [{ expression: 'authorizer.group("a.dev").resource("ks").check("get").allowed()' }]
    const decide: PolicySubject['decide'] = (wanted) => ({ allowed: wanted.verb === 'get', reason: '' })
    expect(denials({ validations }, { decide })).toEqual([])
    const broken = (): never => {
      throw new Error('the book is lost')
    }
    expect(() => denials({ validations }, { decide: broken })).toThrow('the book is lost')
    const unknown = "expression 'authorizer == authorizer' resulted in error: no such attribute: authorizer"
    expect(denials({ validations: [{ expression: 'authorizer == authorizer' }] })).toEqual([{ message: unknown }])
  })
})

describe('what a policy notes', () => {
  const noted = (valueExpression: string, failurePolicy?: 'Ignore') => {
    const notes: string[] = []
    const note = (key: string, value: string) => void notes.push(`${key}: ${value}`)
    const spec = { auditAnnotations: [{ key: 'k', valueExpression }], ...(failurePolicy && { failurePolicy }) }
    const said = denials(spec, { note })
    return { notes, said }
  }

  it.each([
    ['" a "', ['k: a']],
    ['" "', []],
    ['null', []],
    ['object.spec.size > 2 ? "large" : ""', ['k: large']],
  ])('by %s is %j', (expression, notes) => {
    expect(noted(expression)).toEqual({ notes, said: [] })
    expect(denials({ auditAnnotations: [{ key: 'k', valueExpression: expression }] })).toEqual([])
  })

  it('counts as a failure where it cannot be said', () => {
    const text = 'string(object.spec.none)'
    const message = `expression '${text}' resulted in error: no such key: none`
    expect(noted(text)).toEqual({ notes: [], said: [{ message }] })
    expect(noted(text, 'Ignore')).toEqual({ notes: [], said: [] })
  })
})

describe('what a policy changes', () => {
  function patched(mutation: PolicyMutation): PolicyPatch | { readonly failure: string } {
    const { policy, errors } = compileMutations({ mutations: [mutation] })
    expect(errors).toEqual([])
    const [compiled] = policy.mutations
    if (compiled === undefined) throw new Error('it is left out')
    return makePatch(policy, compiled, subject, meter())
  }
  const apply = (expression: string) =>
    patched({ patchType: 'ApplyConfiguration', applyConfiguration: { expression }, jsonPatch: { expression: '1' } })
  const json = (expression: string) => patched({ patchType: 'JSONPatch', jsonPatch: { expression } })

  it.each<[string, JsonObject]>([
    ['Object{}', {}],
    ['Object{spec: Object.spec{size: object.spec.size + 1}}', { spec: { size: 4 } }],
  ])('by the configuration %s is %j', (expression, config) => {
    expect(apply(expression)).toEqual({ type: 'apply', config })
  })

  it.each<[string, readonly JsonObject[]]>([
    ['[JSONPatch{op: "remove", path: "/a"}]', [{ op: 'remove', path: '/a' }]],
    ['[JSONPatch{op: "add", path: "/a", value: 1}]', [{ op: 'add', path: '/a', value: 1 }]],
    ['[JSONPatch{op: "add", path: "/a"}]', [{ op: 'add', path: '/a', value: null }]],
    ['[JSONPatch{op: "replace", path: "/a"}]', [{ op: 'replace', path: '/a', value: null }]],
    ['[JSONPatch{op: "test", path: "/a"}]', [{ op: 'test', path: '/a', value: null }]],
    ['[JSONPatch{op: "move", from: "/b", path: "/a"}]', [{ op: 'move', from: '/b', path: '/a' }]],
    ['[JSONPatch{op: "add", path: "/a", value: Object.spec{x: "y"}}]', [{ op: 'add', path: '/a', value: { x: 'y' } }]],
  ])('by the operations %s is %j', (expression, operations) => {
    expect(json(expression)).toEqual({ type: 'json', operations })
  })

  it.each<[string, PolicyPatch | { readonly failure: string }, string]>([
    ['an expression that fails', apply('Object{spec: Object.spec{a: object.spec.none}}'), 'no such key: none'],
    ['a type of another place', apply('Object{spec: Object.status{a: 1}}'), 'type mismatch: '],
    [
      'a type of another place within a value',
      json('[JSONPatch{op: "add", path: "/a", value: Object.spec{b: Object.c{}}}]'),
      'type mismatch: ',
    ],
    ['what is no JSON', apply('Object{spec: Object.spec{a: {1: 2}}}'), ''],
  ])('is a failure for %s', (_what, made, why) => {
    expect(made).toEqual({ failure: expect.stringContaining(why) as string })
  })

  it.each<[readonly string[], unknown]>([
    [[], true],
    [['true'], true],
    [['true', 'false'], false],
    [[failing], { failure }],
  ])('is asked under the conditions %j: %j', (conditions, is) => {
    const matchConditions = conditions.map((expression, i) => ({ name: `c${i}`, expression }))
    const { policy } = compileMutations({ matchConditions })
    expect(findConcern(policy, subject, meter())).toEqual(is)
  })
})

describe('what is wrong with the expressions of a policy', () => {
  const fields = (errors: readonly { readonly field: string }[]) => errors.map(({ field }) => field)

  it('is said of each, and the others are there', () => {
    const spec: PolicySpec = {
      matchConditions: [
        { name: 'a', expression: '1' },
        { name: 'b', expression: 'true' },
      ],
      variables: [
        { name: 'v', expression: '+' },
        { name: 'w', expression: '1' },
      ],
      validations: [
        { expression: '"x"' },
        { expression: 'variables.w == 1', messageExpression: '5' },
        { expression: 'variables.w == "x"' },
        { expression: 'variables.v == 1 && variables.v == "x"' },
      ],
      auditAnnotations: [
        { key: 'k', valueExpression: '5' },
        { key: 'l', valueExpression: '"x"' },
      ],
    }
    const { policy, errors } = compilePolicy(spec)
    expect(fields(errors)).toEqual([
      'spec.matchConditions[0].expression',
      'spec.variables[0].expression',
      'spec.validations[0].expression',
      'spec.validations[1].messageExpression',
      'spec.validations[2].expression',
      'spec.auditAnnotations[0].valueExpression',
    ])
    expect(policy.conditions.map(({ name }) => name)).toEqual(['b'])
    expect(policy.variables.map(({ name }) => name)).toEqual(['w'])
    expect(policy.validations.map(({ validation }) => validation)).toEqual([
      spec.validations?.[1],
      spec.validations?.[3],
    ])
    expect(policy.notes.map(({ key }) => key)).toEqual(['l'])
  })

  it.each<[string, PolicySpec, readonly string[]]>([
    [
      'parameters without a kind',
      { validations: [{ expression: 'params == null' }] },
      ['spec.validations[0].expression'],
    ],
    [
      'parameters with a kind',
      { paramKind: { apiVersion: 'v1', kind: 'P' }, validations: [{ expression: 'params == null' }] },
      [],
    ],
    [
      'rights in a message',
      {
        validations: [{ expression: 'true', messageExpression: 'string(authorizer.path("/").check("get").allowed())' }],
      },
      ['spec.validations[0].messageExpression'],
    ],
    [
      'a field that no request has',
      { validations: [{ expression: 'request.none == 1' }] },
      ['spec.validations[0].expression'],
    ],
    [
      'a variable that comes later',
      {
        variables: [
          { name: 'a', expression: 'variables.b' },
          { name: 'b', expression: '1' },
        ],
      },
      ['spec.variables[0].expression'],
    ],
  ])('is found in %s', (_what, spec, errors) => {
    expect(fields(compilePolicy(spec).errors)).toEqual(errors)
  })

  it('is said of mutations, and one without an expression is left out', () => {
    const mutations: MutatingPolicySpec['mutations'] = [
      { patchType: 'ApplyConfiguration', applyConfiguration: { expression: '1' } },
      { patchType: 'JSONPatch', jsonPatch: { expression: '1' } },
      { patchType: 'ApplyConfiguration', jsonPatch: { expression: '[]' } },
      { patchType: 'JSONPatch' },
      { patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: 5}]' } },
      { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{spec: Other{}}' } },
    ]
    const { policy, errors } = compileMutations({ mutations })
    expect(fields(errors)).toEqual([
      'spec.mutations[0].applyConfiguration.expression',
      'spec.mutations[1].jsonPatch.expression',
      'spec.mutations[4].jsonPatch.expression',
      'spec.mutations[5].applyConfiguration.expression',
    ])
    expect(policy.mutations).toEqual([])
  })

  it('is said of the conditions of a webhook, where they are', () => {
    const { conditions, errors } = compileConditions(
      [
        { name: 'a', expression: '1' },
        { name: 'b', expression: 'true' },
      ],
      'webhooks[0].matchConditions',
    )
    expect(fields(errors)).toEqual(['webhooks[0].matchConditions[0].expression'])
    expect(conditions.conditions.map(({ name }) => name)).toEqual(['b'])
  })
})
