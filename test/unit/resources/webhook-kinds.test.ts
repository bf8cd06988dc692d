import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import { applyDefaults } from '../../../shared/model/schema/defaulting.ts'
import { interpretSchema } from '../../../shared/model/schema/validate.ts'
import { checkWebhooks, mutatingWebhookKind, validatingWebhookKind } from '../../../shared/resources/webhook-kinds.ts'

const whole = {
  name: 'h.example.dev',
  clientConfig: { url: 'https://h.dev' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
}
const objectOf = (webhooks: Json): ApiObject => {
  const metadata = {
    name: 'c',
    uid: 'u',
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2026-11-01T00:00:00Z',
  }
  return { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration', metadata, webhooks }
}
const fieldsOf = (...webhooks: readonly Json[]) => checkWebhooks(objectOf([...webhooks])).map(({ field }) => field)

describe('a webhook', () => {
  it.each<[string, JsonObject, readonly string[]]>([
    ['is whole', {}, []],
    ['has a name of two parts', { name: 'example.dev' }, ['name']],
    ['has a name with capitals', { name: 'H.example.dev' }, ['name']],
    ['has a second to answer', { timeoutSeconds: 1 }, []],
    ['has no second to answer', { timeoutSeconds: 0 }, ['timeoutSeconds']],
    ['has half a minute', { timeoutSeconds: 30 }, []],
    ['has more than that', { timeoutSeconds: 31 }, ['timeoutSeconds']],
    ['says nothing of its time', { timeoutSeconds: null }, []],
    ['is nowhere', { clientConfig: {} }, ['clientConfig']],
    ['is asked in no version that anybody speaks', { admissionReviewVersions: ['v9'] }, ['admissionReviewVersions']],
    [
      'has a rule without verbs',
      { rules: [{ apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }] },
      ['rules[0].operations'],
    ],
    [
      'has a condition that is none',
      { matchConditions: [{ name: 'c', expression: '1 +' }] },
      ['matchConditions[0].expression'],
    ],
    ['has conditions of another type', { matchConditions: 'x' }, []],
  ])('that %s', (_what, more, fields) => {
    expect(fieldsOf({ ...whole, ...more })).toEqual(fields.map((field) => `webhooks[0].${field}`))
  })

  it('has conditions that are short enough to be compiled with those of all others', () => {
    const long = { matchConditions: [{ name: 'c', expression: `true${' '.repeat(9_000)}` }] }
    const named = (name: string): JsonObject => ({ ...whole, ...long, name: `${name}.example.dev` })
    expect(fieldsOf(named('a'), named('b'))).toEqual([])
    expect(fieldsOf(named('a'), named('b'), named('c'))).toEqual(['webhooks'])
  })

  it('has patterns in its conditions that take little to compile with those of all others', () => {
    const matching = (i: number): JsonObject => ({
      ...whole,
      name: `i${i}.example.dev`,
      matchConditions: [{ name: 'c', expression: `'a'.matches('(?:ab|cd){110}${i}')` }],
    })
    expect(fieldsOf(...Array.from({ length: 8 }, (_, i) => matching(i)))).toEqual([])
    const place = 'webhooks[8].matchConditions[0].expression'
    expect(fieldsOf(...Array.from({ length: 12 }, (_, i) => matching(i)))).toEqual([place])
  })

  it('has a name that no other has', () => {
    expect(fieldsOf(whole, { ...whole, name: 'i.example.dev' }, whole)).toEqual(['webhooks[2].name'])
  })

  it.each<Json>(['x', null, ['x']])('is none in %j', (webhooks) => {
    expect(checkWebhooks(objectOf(webhooks))).toEqual([])
  })
})

describe('a configuration of webhooks', () => {
  const completed = (kind: typeof validatingWebhookKind) => {
    const object = applyDefaults(kind.schema, objectOf([whole]))
    return (object['webhooks'] as unknown as readonly JsonObject[])[0]
  }
  const defaults = {
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    timeoutSeconds: 10,
  }

  it('is completed as by Kubernetes', () => {
    expect(completed(validatingWebhookKind)).toEqual({ ...whole, ...defaults })
    expect(completed(mutatingWebhookKind)).toEqual({ ...whole, ...defaults, reinvocationPolicy: 'Never' })
  })

  it.each([
    [50, 0],
    [51, 1],
  ])('of %d webhooks has %d faults', (count, faults) => {
    const many = Array.from({ length: count }, (_, i) => ({ ...whole, name: `h${i}.example.dev` }))
    expect(interpretSchema(validatingWebhookKind.schema, objectOf(many))).toHaveLength(faults)
  })

  it('is one of the cluster', () => {
    for (const kind of [validatingWebhookKind, mutatingWebhookKind])
      expect(kind).toMatchObject({
        namespaced: false,
        plural: `${kind.kind.toLowerCase()}s`,
        categories: ['api-extensions'],
      })
  })
})
