import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { checkRuleCosts } from '../../../../shared/model/cel/cost/check-costs.ts'
import { declaredBy } from '../../../../shared/model/cel/cost/declared.ts'
import { estimateCost } from '../../../../shared/model/cel/cost/estimate.ts'
import { shapeOf } from '../../../../shared/model/cel/schema-value.ts'
import { optionalOf } from '../../../../shared/model/cel/type.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'
import { checkStructural } from '../../../../shared/model/schema/structural.ts'
import { processorMs } from '../../../support/processor-time.ts'

type Costs = Readonly<Record<string, readonly [rule: number, message: number]>>

/** What Kubernetes answered: `test/vectors/README.md` says how it was asked. */
interface Vector {
  readonly schema: StructuralSchema
  readonly want: { readonly costs?: Costs; readonly refused?: readonly string[]; readonly other?: string }
}

const file = new URL('../../../vectors/cel-cost-vectors.jsonl.gz', import.meta.url)
const vectors = gunzipSync(readFileSync(file))
  .toString()
  .trim()
  .split('\n')
  .map((line, i) => {
    const vector = JSON.parse(line) as Vector
    const [first] = vector.schema['x-kubernetes-validations'] ?? []
    return { ...vector, name: `${i}: ${first?.rule ?? JSON.stringify(vector.schema).slice(0, 100)}` }
  })

/** Of every rule, by its place. */
function costsOf(schema: StructuralSchema, path = ''): Costs {
  const { properties = {}, items, additionalProperties: others } = schema
  const isResource = path === ''
  const [self, type] = [declaredBy(schema, isResource), shapeOf(schema, isResource)?.type]
  const rules = self === undefined || type === undefined ? [] : (schema['x-kubernetes-validations'] ?? [])
  const own = rules.map(({ rule, messageExpression = '', optionalOldSelf }, i) => {
    if (self === undefined || type === undefined) throw new Error('a rule has a type')
    const variables = { self: type, oldSelf: optionalOldSelf === true ? optionalOf(type) : type }
    const [cost, message] = [rule, messageExpression].map((text) => estimateCost(text, variables, self))
    return [`${path} ${i}`.trim(), [Math.min(cost ?? 0, most), Math.min(message ?? 0, most)]] as const
  })
  return {
    ...Object.fromEntries(own),
    ...Object.assign({}, ...Object.entries(properties).map(([name, part]) => costsOf(part, `${path}.${name}`))),
    ...(items === undefined ? {} : costsOf(items, `${path}[]`)),
    ...(typeof others === 'object' ? costsOf(others, `${path}{}`) : {}),
  }
}

/** Beyond it doubles are no whole numbers, and everything is refused. */
const most = 1e15

const upTo = (costs: Costs): Costs =>
  Object.fromEntries(Object.entries(costs).map(([at, [a, b]]) => [at, [Math.min(a, most), Math.min(b, most)]]))

/** Of rules that cost the same, Kubernetes names any four. */
const withoutShares = (errors: readonly string[]): readonly string[] =>
  errors.map((error) => error.replace(/^.*: Forbidden: contributed/, 'Forbidden: contributed')).toSorted()

describe('what rules in CEL may cost, as Kubernetes reckons it', () => {
  it.each(vectors)('$name', ({ schema, want }) => {
    expect(costsOf(schema)).toMatchObject(upTo(want.costs ?? {}))
    if (want.other !== undefined || checkStructural(schema).length > 0) return
    const errors = checkRuleCosts(schema, 'openAPIV3Schema').map(({ field, message }) => `${field}: ${message}`)
    expect(withoutShares(errors)).toEqual(withoutShares(want.refused ?? []))
  })

  it('there are rules that it refuses, and rules that it takes', () => {
    const refused = vectors.filter(({ want }) => want.refused !== undefined)
    expect(refused.length).toBeGreaterThan(100)
    expect(vectors.length).toBeGreaterThan(10 * refused.length)
  })
})

describe('what a rule may cost', () => {
  it('has a bound where it tells a number or a time, other than on Kubernetes', () => {
    const whole: StructuralSchema = { type: 'integer' }
    const time: StructuralSchema = { type: 'string', format: 'date-time' }
    const rule = {
      rule: 'self.size < 5',
      messageExpression: "string(self.at) + ': ' + string(self.size) + ' is too large'",
    }
    const properties = { size: whole, at: time }
    expect(checkRuleCosts({ type: 'object', properties, 'x-kubernetes-validations': [rule] }, 'schema')).toEqual([])
    const untyped = { ...rule, messageExpression: "string(dyn(self.size)) + ' is too large'" }
    expect(checkRuleCosts({ type: 'object', properties, 'x-kubernetes-validations': [untyped] }, 'schema')).not.toEqual(
      [],
    )
  })

  const text: StructuralSchema = { type: 'string' }
  it('is reckoned soon, whatever the rule is', () => {
    const self = shapeOf(text)?.type
    const declared = declaredBy(text)
    if (self === undefined || declared === undefined) throw new Error('a text has a type')
    const chain = `optional.of(self)${'.optMap(x, x + x)'.repeat(190)}.hasValue()`
    const nested = `${'[self].all(x, '.repeat(40)}true${')'.repeat(40)}`
    const tookMs = processorMs(() => {
      for (const rule of [chain, nested]) expect(estimateCost(rule, { self }, declared)).toBeGreaterThan(100)
    })
    expect(tookMs).toBeLessThan(500)
  })

  it('of a rule that does not compile is nothing', () => {
    expect(estimateCost('self +', { self: { kind: 'string', name: 'string', of: [] } }, { most: 1, bytesMin: 1 })).toBe(
      0,
    )
  })
})
