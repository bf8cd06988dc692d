import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { FieldError } from '../../../shared/model/schema/field-error.ts'
import {
  checkMutatingBinding,
  checkMutatingPolicy,
  checkPolicy,
  checkPolicyBinding,
  mutatingBindingKind,
  mutatingPolicyKind,
  olderPolicyKinds,
  policyBindingKind,
  policyKind,
} from '../../../shared/resources/policy-kinds.ts'

type Check = (object: ApiObject) => readonly FieldError[]

/** `spec.validations Required`, for each error. */
function errorsOf(check: Check, spec: unknown): readonly string[] {
  const object = { metadata: { name: 'p' }, spec } as unknown as ApiObject
  return check(object).map(({ field, reason }) => `${field} ${reason.replace('FieldValue', '')}`)
}

describe.each<[string, Check]>([
  ['checkPolicy', checkPolicy],
  ['checkMutatingPolicy', checkMutatingPolicy],
  ['checkPolicyBinding', checkPolicyBinding],
  ['checkMutatingBinding', checkMutatingBinding],
])('%s', (_name, check) => {
  it.each([[undefined], ['x'], [[]]])('says nothing of a spec that is none: %j', (spec) => {
    expect(errorsOf(check, spec)).toEqual([])
  })
})

/** Validations, each with a pattern that takes an eighth of what all patterns may. */
const patterned = (count: number, name = (i: number): number => i): { readonly validations: readonly object[] } => ({
  validations: Array.from({ length: count }, (_, i) => ({
    expression: `'a'.matches('(?:ab|cd){110}${name(i)}')`,
  })),
})

describe('a policy', () => {
  const validations = [{ expression: 'true' }]
  const [matched, param] = ['spec.matchConstraints.resourceRules', 'spec.paramKind']
  const auditAnnotations = [{ key: 'a', valueExpression: '"b"' }]
  const long = (length: number): object => {
    const spec = { validations, description: '' }
    return { ...spec, description: 'x'.repeat(length - JSON.stringify(spec).length) }
  }
  it.each<[string, object, readonly string[]]>([
    ['with a rule', { validations }, []],
    ['with an annotation', { auditAnnotations }, []],
    ['with an annotation and no rule', { auditAnnotations, validations: [] }, []],
    [
      'with an annotation that is no name',
      { auditAnnotations: [{ key: 'a b', valueExpression: '"b"' }] },
      ['spec.auditAnnotations[0].key Invalid'],
    ],
    [
      'with an annotation twice',
      { auditAnnotations: [...auditAnnotations, { key: 'b', valueExpression: '"c"' }, ...auditAnnotations] },
      ['spec.auditAnnotations[2].key Duplicate'],
    ],
    ['with nothing', {}, ['spec.validations Required']],
    ['with empty lists', { validations: [], auditAnnotations: [] }, ['spec.validations Required']],
    ['with what are no lists', { validations: 'x', auditAnnotations: {} }, ['spec.validations Required']],
    ['with names of their own', { validations, variables: [{ name: '_a1', expression: '1' }] }, []],
    [
      'with a name that is none',
      {
        validations,
        variables: [
          { name: 'a', expression: '1' },
          { name: 'a b', expression: '1' },
        ],
      },
      ['spec.variables[1].name Invalid'],
    ],
    ['for no requests at all', { validations, matchConstraints: { resourceRules: [] } }, [`${matched} Required`]],
    ['with parameters', { validations, paramKind: { apiVersion: 'a.dev/v1', kind: 'Limit' } }, []],
    ['with parameters of the core group', { validations, paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }, []],
    [
      'with parameters of no kind',
      { validations, paramKind: {} },
      [`${param}.apiVersion Required`, `${param}.kind Required`],
    ],
    [
      'with parameters of what is no kind',
      { validations, paramKind: { apiVersion: 'a/b/c', kind: 'A B' } },
      [`${param}.apiVersion Invalid`, `${param}.kind Invalid`],
    ],
    [
      'with parameters of no group',
      { validations, paramKind: { apiVersion: 'A_/v1', kind: 'X' } },
      [`${param}.apiVersion Invalid`],
    ],
    [
      'with messages',
      {
        validations: [
          { ...validations[0], message: '' },
          { ...validations[0], message: ' a\n' },
        ],
      },
      [],
    ],
    [
      'with messages that are none, or more than a line',
      {
        validations: [
          { ...validations[0], message: ' ' },
          { ...validations[0], message: 'a\nb' },
        ],
      },
      ['spec.validations[0].message Invalid', 'spec.validations[1].message Invalid'],
    ],
    ['with a rule that is none', { validations: [{ expression: '(' }] }, ['spec.validations[0].expression Invalid']],
    ['as long as it may be', long(25_000), []],
    ['longer than it may be', long(25_001), ['spec Forbidden']],
    ['with patterns that take too much to compile', patterned(9), ['spec.validations[8].expression Forbidden']],
    ['with patterns that are the same, which count once', patterned(90, () => 0), []],
    ['too long to be compiled', { ...long(25_001), variables: [{ name: 'v', expression: '(' }] }, ['spec Forbidden']],
  ])('%s', (_what, spec, errors) => {
    expect(errorsOf(checkPolicy, spec)).toEqual(errors)
  })
})

describe('a policy that changes what is written', () => {
  const expression = 'Object{}'
  const change = { patchType: 'ApplyConfiguration', applyConfiguration: { expression } }
  const patch = { patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "remove", path: "/spec/a"}]' } }
  const path = 'spec.mutations[0]'
  it.each<[string, unknown, readonly string[]]>([
    ['by a configuration', [change], []],
    ['by a patch', [patch], []],
    ['by nothing', [], ['spec.mutations Required']],
    [
      'by a configuration that is missing',
      [{ patchType: 'ApplyConfiguration' }],
      [`${path}.applyConfiguration Required`],
    ],
    ['by a patch that is missing', [{ patchType: 'JSONPatch' }], [`${path}.jsonPatch Required`]],
    [
      'by a configuration without an expression',
      [{ ...change, applyConfiguration: {} }],
      [`${path}.applyConfiguration.expression Required`],
    ],
    ['by a patch that is none', [{ ...patch, jsonPatch: 'x' }], [`${path}.jsonPatch.expression Required`]],
    ['by both, as a configuration', [{ ...change, jsonPatch: {} }], [`${path}.jsonPatch Invalid`]],
    ['by both, as a patch', [{ ...patch, applyConfiguration: {} }], [`${path}.applyConfiguration Invalid`]],
    [
      'by the other one',
      [{ patchType: 'JSONPatch', applyConfiguration: { expression } }],
      [`${path}.jsonPatch Required`, `${path}.applyConfiguration Invalid`],
    ],
  ])('%s', (_what, mutations, errors) => {
    const all = errorsOf(checkMutatingPolicy, { mutations })
    expect(all.slice(0, errors.length)).toEqual(errors)
    if (errors.length === 0) expect(all).toEqual([])
  })

  it('names what is wrong by its place, and has a length', () => {
    const mutations = [change, { patchType: 'JSONPatch' }]
    expect(errorsOf(checkMutatingPolicy, { mutations })[0]).toBe('spec.mutations[1].jsonPatch Required')
    const long = { mutations: [change], description: 'x'.repeat(25_000) }
    expect(errorsOf(checkMutatingPolicy, long)).toEqual(['spec Forbidden'])
    const variables = patterned(9).validations.map((one, i) => ({ ...one, name: `v${i}` }))
    expect(errorsOf(checkMutatingPolicy, { mutations: [change], variables })).toEqual([
      'spec.variables[8].expression Forbidden',
    ])
    const wrong = { mutations: [{ ...change, applyConfiguration: { expression: '(' } }] }
    expect(errorsOf(checkMutatingPolicy, wrong)).toEqual([`${path}.applyConfiguration.expression Invalid`])
  })

  const every = { apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }
  const rules = (...operations: readonly (readonly string[])[]): JsonObject => ({
    resourceRules: operations.map((some) => ({ ...every, operations: [...some] })),
  })
  it.each<[JsonObject, number]>([
    [rules(['CREATE', 'UPDATE', 'CONNECT']), 0],
    [rules(['*']), 0],
    [rules(['DELETE'], ['CREATE', 'DELETE']), 2],
    [{}, 0],
  ])('changes nothing that is deleted: %j', (match, count) => {
    const operations = (field: string): readonly string[] =>
      Array<string>(count).fill(`${field}.resourceRules.operations NotSupported`)
    // What else rules lack has errors of its own.
    const unsupported = (errors: readonly string[]): readonly string[] =>
      errors.filter((error) => error.endsWith(' NotSupported'))
    const ofPolicy = errorsOf(checkMutatingPolicy, { mutations: [change], matchConstraints: match })
    expect(unsupported(ofPolicy)).toEqual(operations('spec.matchConstraints'))
    const ofBinding = errorsOf(checkMutatingBinding, { matchResources: match })
    expect(unsupported(ofBinding)).toEqual(operations('spec.matchResources'))
  })
})

describe.each([
  ['a binding', checkPolicyBinding],
  ['a binding of one that changes', checkMutatingBinding],
])('%s', (_name, check) => {
  it('names a policy as policies may be called', () => {
    const named = (policyName: string) => errorsOf(check, { policyName, validationActions: ['Deny'] })
    expect([named('a.b'), named('A B')]).toEqual([[], ['spec.policyName Invalid']])
  })
})

describe('a binding of a policy', () => {
  it.each<[unknown, readonly string[]]>([
    [['Deny'], []],
    [['Warn', 'Audit'], []],
    [['Deny', 'Audit'], []],
    [[], ['spec.validationActions Required']],
    ['Deny', ['spec.validationActions Required']],
    [['Deny', 'Warn'], ['spec.validationActions Forbidden']],
    [['Deny', 'Log'], ['spec.validationActions[1] NotSupported']],
  ])('does %j', (validationActions, errors) => {
    expect(errorsOf(checkPolicyBinding, { validationActions })).toEqual(errors)
  })

  const param = 'spec.paramRef'
  const parameterNotFoundAction = 'Deny'
  it.each<[string, unknown, readonly string[]]>([
    ['by name', { name: 'a', parameterNotFoundAction }, []],
    ['by selector', { selector: {}, parameterNotFoundAction }, []],
    ['by neither', { parameterNotFoundAction }, [`${param}.name Required`]],
    ['by both', { name: 'a', selector: {}, parameterNotFoundAction }, [`${param}.name Forbidden`]],
    ['without saying what happens if there is none', { name: 'a' }, [`${param}.parameterNotFoundAction Required`]],
    ['by what is none', 'x', []],
  ])('has parameters %s', (_what, paramRef, errors) => {
    expect(errorsOf(checkPolicyBinding, { validationActions: ['Deny'], paramRef })).toEqual(errors)
    expect(errorsOf(checkMutatingBinding, { paramRef })).toEqual(errors)
  })
})

describe('the kinds of policies', () => {
  const specOf = (kind: typeof policyKind) => kind.schema.properties?.['spec']?.properties ?? {}

  it('hold as much as those of Kubernetes', () => {
    const { validations, variables, matchConditions, auditAnnotations } = specOf(policyKind)
    expect([validations?.maxItems, variables?.maxItems, matchConditions?.maxItems, auditAnnotations?.maxItems]).toEqual(
      [100, 64, 64, 20],
    )
    expect(validations?.items?.properties?.['expression']).toEqual({ type: 'string', minLength: 1 })
    expect(auditAnnotations?.items?.properties?.['key']).toEqual({ type: 'string', minLength: 1, maxLength: 200 })
    expect(specOf(mutatingPolicyKind)['mutations']?.maxItems).toBe(100)
    for (const kind of [policyBindingKind, mutatingBindingKind])
      expect(specOf(kind)['policyName']).toEqual({ type: 'string', minLength: 1 })
  })

  it('are of the cluster, and the changing ones have older versions', () => {
    for (const kind of [policyKind, policyBindingKind, mutatingPolicyKind, mutatingBindingKind])
      expect(kind.namespaced).toBe(false)
    expect(olderPolicyKinds.map(({ kind, version }) => `${version} ${kind}`)).toEqual([
      'v1beta1 MutatingAdmissionPolicy',
      'v1beta1 MutatingAdmissionPolicyBinding',
      'v1alpha1 MutatingAdmissionPolicy',
      'v1alpha1 MutatingAdmissionPolicyBinding',
    ])
  })
})
