import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import { checkQuota, limitNamesOf, resourceQuotaKind, withQuantityTexts } from '../../../shared/resources/quota-kind.ts'

function errorsOf(spec: unknown): readonly string[] {
  const quota = { metadata: { name: 'q' }, spec } as unknown as ApiObject
  return checkQuota(quota).map(({ field, reason }) => `${field} ${reason.replace('FieldValue', '')}`)
}

describe('a quota', () => {
  it.each<[string, string, boolean]>([
    ['count/widgets.example.com', '5', true],
    ['count/secrets', '5', true],
    ['secrets', '0', true],
    ['services.nodeports', '1k', true],
    ['cpu', '1500m', true],
    ['requests.memory', '1Gi', true],
    ['limits.ephemeral-storage', '1.5', true],
    ['hugepages-2Mi', '1', true],
    ['example.com/gpu', '0.5', true],
    ['secrets', '0.5', false],
    ['count/secrets', '1500m', false],
    ['secrets', '-1', false],
    ['cpu', '-1', false],
    ['secrets', 'many', false],
    ['secrets', '', false],
    ['widgets', '5', false],
    ['requests.pods', '5', false],
    ['hugepages-', '5', false],
    ['count/a b', '5', false],
    ['a/b/c', '5', false],
  ])('may limit %s to %s: %j', (name, value, is) => {
    expect(errorsOf({ hard: { [name]: value } })).toEqual(is ? [] : [`spec.hard[${name}] Invalid`])
  })

  it('tells amounts that programs in Go can read', () => {
    const quota = { metadata: { name: 'q' }, status: { hard: { a: '1' }, used: { a: '1.5Gi', b: 'garbage' } } }
    expect(checkQuota(quota as unknown as ApiObject).map(({ field }) => field)).toEqual(['status.used[b]'])
  })

  it('is told all that is wrong with a limit', () => {
    expect(errorsOf({ hard: { secrets: '-0.5' } })).toEqual([
      'spec.hard[secrets] Invalid',
      'spec.hard[secrets] Invalid',
    ])
  })

  it.each<[unknown, readonly string[]]>([
    [undefined, []],
    ['x', []],
    [{}, []],
    [{ hard: 'x' }, []],
    [{ scopes: [], scopeSelector: null }, []],
    [{ scopes: ['Terminating'] }, ['spec.scopes Forbidden']],
    [{ scopeSelector: {} }, ['spec.scopeSelector Forbidden']],
    [{ scopes: null, scopeSelector: {}, hard: { x: '1' } }, ['spec.hard[x] Invalid', 'spec.scopeSelector Forbidden']],
  ])('of %j', (spec, errors) => {
    expect(errorsOf(spec)).toEqual(errors)
  })

  it.each<[JsonObject, JsonObject]>([
    [
      { spec: { hard: { a: 5, b: '6', c: true }, scopes: [] } },
      { spec: { hard: { a: '5', b: '6', c: true }, scopes: [] } },
    ],
    [
      { metadata: { name: 'q' }, spec: { hard: {} } },
      { metadata: { name: 'q' }, spec: { hard: {} } },
    ],
  ])('has texts for numbers: %j', (body, texts) => {
    expect(withQuantityTexts(body)).toEqual(texts)
  })

  it.each<JsonObject>([{}, { spec: 'x' }, { spec: {} }, { spec: { hard: [5] } }])(
    'is left alone without limits: %j',
    (body) => {
      expect(withQuantityTexts(body)).toBe(body)
    },
  )

  it.each([
    [{ group: '', plural: 'secrets' }, ['count/secrets', 'secrets']],
    [{ group: '', plural: 'events' }, ['count/events']],
    [{ group: 'example.com', plural: 'secrets' }, ['count/secrets.example.com']],
  ])('counts %j by %j', (kind, names) => {
    expect(limitNamesOf(kind)).toEqual(names)
  })

  it('has two hundred limits at most, and its generation is nobody’s', () => {
    const { schema, namespaced, hidesGeneration, hasStatus } = resourceQuotaKind
    const spec = schema.properties?.['spec']?.properties
    const status = schema.properties?.['status']?.properties
    expect([spec?.['hard']?.maxProperties, status?.['used']?.maxProperties]).toEqual([200, 200])
    expect(spec?.['hard']?.additionalProperties).toEqual({ 'x-kubernetes-int-or-string': true })
    expect([spec?.['scopes']?.nullable, spec?.['scopeSelector']?.nullable]).toEqual([true, true])
    expect(spec?.['scopeSelector']?.['x-kubernetes-preserve-unknown-fields']).toBe(true)
    expect([namespaced, hidesGeneration, hasStatus]).toEqual([true, true, true])
  })
})
