import fc from 'fast-check'
import type { Json, JsonObject } from '../../../../shared/model/json.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'
import type { Hostile } from './held.ts'
import { defined, definitions } from './hostile-kinds.ts'

/** Definitions of kinds, policies and webhooks that take the most work to be checked and compiled. */

const patternUnit = fc.constantFrom(
  '(?:ab|cd){240}',
  '(){999}',
  '[a-z]',
  '(?i)[^k]',
  '\\p{L}',
  '[\\p{L}\\P{N}]',
  '(a*)*',
  'a{0,900}',
  '(?:x|xx|xxx)+',
  '\\Q((\\E',
  '(',
)
const pattern = fc
  .record({ units: fc.array(patternUnit, { minLength: 1, maxLength: 3 }), times: fc.integer({ min: 1, max: 300 }) })
  .map(({ units, times }) => units.join('').repeat(times).slice(0, 9_900))

/** A pattern of its own for each place: what is the same is compiled once. */
type Numbered<Value> = (i: number) => Value
const numbered: fc.Arbitrary<Numbered<string>> = pattern.map((text) => (i) => `${text}${i}`)

function withEach<Made>(
  drawn: fc.Arbitrary<Numbered<string>>,
  make: (text: string, i: number) => Made,
): fc.Arbitrary<Numbered<Made>> {
  return drawn.map((textOf) => (i) => make(textOf(i), i))
}

const expressionUnit = fc.constantFrom<Numbered<string>>(
  (i) => `self.s == "${i}"`,
  (i) => `self.s.all(a, self.s.exists(b, a == b && a != "${i}"))`,
  (i) => `self.s.map(a, a + "${i}").join(",").contains("x")`,
  (i) => `${'!'.repeat(90)}has(self.s${i})`,
  (i) => `${'['.repeat(90)}${i}${']'.repeat(90)}.size() == 1`,
  (i) => `"x".replace("", "${i}").split("").size() == 2`,
  (i) => `quantity("${i}").isGreaterThan(quantity("1k"))`,
)
const expression: fc.Arbitrary<Numbered<string>> = fc.oneof(
  expressionUnit,
  withEach(numbered, (text) => `"a".matches(${JSON.stringify(text)})`),
  withEach(numbered, (text) => `self.s.find(${JSON.stringify(text)}) == ""`),
  withEach(numbered, (text) => `"a".matches(${JSON.stringify(text)} + "b")`),
)

const property: fc.Arbitrary<Numbered<StructuralSchema>> = fc.oneof(
  withEach<StructuralSchema>(numbered, (text) => ({ type: 'string', pattern: text })),
  withEach<StructuralSchema>(numbered, (text) => ({
    type: 'array',
    items: { type: 'string', allOf: [{ pattern: text }] },
  })),
  withEach<StructuralSchema>(expression, (rule, i) => ({
    type: 'object',
    properties: { s: { type: 'array', maxItems: 5, items: { type: 'string', maxLength: 9 } } },
    'x-kubernetes-validations': [{ rule, messageExpression: `"${i}"` }],
  })),
  fc.constantFrom<Numbered<StructuralSchema>>(
    () => ({ type: 'string', description: 'd'.repeat(200) }),
    (i) => ({ type: 'string', enum: Array.from({ length: 100 }, (_, at) => `${i}v${at}`) }),
    (i) => ({ type: 'string', oneOf: Array.from({ length: 20 }, (_, at) => ({ maxLength: i + at })) }),
    (i) => ({ type: 'array', items: { type: 'integer' }, default: Array.from({ length: 100 }, () => i) }),
    (i) => ({ type: 'array', items: { type: 'integer' }, default: Array.from({ length: 100 }, () => `${i}`) }),
    (i) => nested(i % 60),
    (i) => ({ type: 'object', anyOf: [{ properties: { [`q${i}`]: { minLength: 1 } } }] }),
    (i) => ({ type: `no type ${i}` }) as never,
  ),
)

function nested(levels: number): StructuralSchema {
  let schema: StructuralSchema = { type: 'string', default: 'x' }
  for (let i = 0; i < levels; i++) schema = { type: 'object', properties: { a: schema }, default: {} }
  return schema
}

/** As many as have so many characters. */
function fill<Part extends Json | StructuralSchema>(make: Numbered<Part>, characters: number): readonly Part[] {
  const parts: Part[] = []
  for (let size = 0, i = 0; size < characters; i++) {
    const part = make(i)
    size += JSON.stringify(part).length + 10
    parts.push(part)
  }
  return parts
}

const definition: fc.Arbitrary<Hostile> = fc
  .record({ make: property, characters: fc.integer({ min: 50_000, max: 340_000 }) })
  .map(({ make, characters }) => {
    const fields = fill(make, characters).map((one, i) => [`f${i}`, one] as const)
    const body = defined('Drawn', { type: 'object', properties: Object.fromEntries(fields) })
    return { line: `POST ${definitions}?dryRun=All`, sent: { body: JSON.stringify(body) } }
  })

const admission = '/apis/admissionregistration.k8s.io/v1'
const resourceRules = [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['CREATE'], resources: ['*'] }]

/** Close to the length that a policy may have, or all conditions of a configuration. */
const characters = fc.integer({ min: 5_000, max: 24_500 })
const ofObject = (text: string): string => text.replaceAll('self', 'object.spec')

const policy: fc.Arbitrary<Hostile> = fc
  .record({ make: expression, characters, part: fc.constantFrom('validations', 'variables', 'matchConditions') })
  .map(({ make, characters: length, part }) => {
    const named = fill((i) => ({ name: `v${i}`, expression: ofObject(make(i)) }), length).slice(0, 100)
    const own =
      part === 'validations' ? named.map(({ expression: text }) => ({ expression: text })) : named.slice(0, 64)
    const spec = { matchConstraints: { resourceRules }, validations: [{ expression: 'true' }], [part]: own }
    const body = JSON.stringify({ metadata: { name: 'drawn.dev' }, spec })
    return { line: `POST ${admission}/validatingadmissionpolicies?dryRun=All`, sent: { body } }
  })

const webhooks: fc.Arbitrary<Hostile> = fc
  .record({ make: expression, characters, count: fc.integer({ min: 1, max: 50 }) })
  .map(({ make, characters: length, count }) => {
    const conditions = fill((i) => ({ name: `c${i}`, expression: ofObject(make(i)) }), length)
    const all = Array.from({ length: count }, (_, i): JsonObject => ({
      name: `h${i}.hostile.dev`,
      clientConfig: { url: 'https://h.dev' },
      rules: resourceRules,
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      matchConditions: conditions.filter((_condition, at) => at % count === i).slice(0, 64),
    }))
    const body = JSON.stringify({ metadata: { name: 'drawn' }, webhooks: all })
    return { line: `POST ${admission}/validatingwebhookconfigurations?dryRun=All`, sent: { body } }
  })

export const hostileDefinition: fc.Arbitrary<Hostile> = fc.oneof(definition, definition, policy, webhooks)
