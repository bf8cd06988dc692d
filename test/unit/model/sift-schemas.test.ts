import { describe, expect, it } from 'vitest'
import { siftKeywords, withoutNullKeywords } from '../../../shared/model/crd/sift-schemas.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import { processorMs } from '../../support/processor-time.ts'

const definition = (openAPIV3Schema: JsonObject): JsonObject => ({
  spec: { versions: [{ schema: { openAPIV3Schema } }] },
})

const many = (field: JsonObject): JsonObject =>
  definition({
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 8_000 }, (_, i) => [`f${i}`, field])),
  })

describe('schemas of a definition', () => {
  it('lose nothing, and stay the same value, if all of it is known and said', () => {
    const whole = definition({ type: 'object', properties: { a: { type: 'string' } }, items: { not: {} }, anyOf: [{}] })
    expect(withoutNullKeywords(whole)).toBe(whole)
    expect(siftKeywords(whole)).toEqual({ body: whole, unknown: [] })
    expect(siftKeywords(whole).body).toBe(whole)
  })

  it('lose what is unknown at any depth, each with its path', () => {
    const strange = { 'x-go-name': 'A', type: 'string' }
    const { body, unknown } = siftKeywords(definition({ properties: { a: { items: strange } }, allOf: [{}, strange] }))
    expect(body).toEqual(
      definition({ properties: { a: { items: { type: 'string' } } }, allOf: [{}, { type: 'string' }] }),
    )
    const root = 'spec.versions[0].schema.openAPIV3Schema'
    expect(unknown).toEqual([`${root}.allOf[1].x-go-name`, `${root}.properties.a.items.x-go-name`])
  })

  it('name a hundred of what is unknown', () => {
    expect(siftKeywords(many({ type: 'string', 'x-go-name': 'A' })).unknown).toHaveLength(100)
    const strange = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`x-${i}`, 1]))
    const { body, unknown } = siftKeywords(definition({ properties: { a: strange } }))
    expect([body, unknown.length]).toEqual([definition({ properties: { a: {} } }), 100])
  })

  it('lose null keywords, those of rules too, and no field that is null', () => {
    const rules = [{ rule: 'true', message: null }]
    expect(withoutNullKeywords(definition({ description: null, 'x-kubernetes-validations': rules }))).toEqual(
      definition({ 'x-kubernetes-validations': [{ rule: 'true' }] }),
    )
    expect(withoutNullKeywords(definition({ properties: { a: null } }))).toEqual(
      definition({ properties: { a: null } }),
    )
  })

  it.each([
    ['null', () => withoutNullKeywords(many({ type: 'string', description: null }))],
    ['unknown', () => siftKeywords(many({ type: 'string', 'x-go-name': 'A' }))],
  ])('take time by their length where many keywords are %s', (_what, sift) => {
    expect(processorMs(() => void sift())).toBeLessThan(400)
  })
})
