import { readFileSync } from 'node:fs'

/**
 * Prints the cases that `main.go` answers: the rules of rules.txt over a schema with all types, whole schemas, and the
 * expressions of conformance.txt, which need no value.
 */
const string = { type: 'string' }
const int = { type: 'integer' }
const list = (items: object) => ({ type: 'array', items })
const port = { type: 'object', properties: { name: string, port: int, on: { type: 'boolean' } } }
const format = (name: string) => ({ type: 'string', format: name })
const properties = {
  s: string,
  t: string,
  i: int,
  j: int,
  d: { type: 'number' },
  b: { type: 'boolean' },
  n: { type: 'string', nullable: true },
  list: list(int),
  texts: list(string),
  doubles: list({ type: 'number' }),
  empty: list(string),
  objects: { ...list(port), 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
  map: { type: 'object', additionalProperties: string },
  counts: { type: 'object', additionalProperties: int },
  object: { type: 'object', properties: { a: string, 'b-c': string, if: string, under__score: string } },
  any: { 'x-kubernetes-int-or-string': true },
  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  when: format('date-time'),
  day: format('date'),
  span: format('duration'),
  bytes: format('byte'),
}
const value = {
  s: 'hello',
  t: 'grüße 🎉 x',
  i: 7,
  j: -3,
  d: 1.5,
  b: true,
  n: null,
  list: [3, 1, 2],
  texts: ['b', 'a', 'b'],
  doubles: [1, 2.5],
  empty: [],
  objects: [
    { name: 'http', port: 80, on: true },
    { name: 'dns', port: 53 },
  ],
  map: { x: '1', y: '2' },
  counts: { one: 1 },
  object: { a: 'A', 'b-c': 'BC', if: 'IF', under__score: 'U' },
  any: 5,
  free: { z: 1 },
  bytes: 'aGVsbG8=',
  when: '2024-02-29T12:34:56.789Z',
  day: '2024-03-01',
  span: '1h30m',
}

const linesOf = (name: string): readonly string[] =>
  readFileSync(new URL(name, import.meta.url), 'utf8')
    .trim()
    .split('\n')
const ofRules = linesOf('rules.txt').map((rule) => ({
  schema: { type: 'object', properties, 'x-kubernetes-validations': [{ rule }] },
  value,
  ...(rule.includes('oldSelf') ? { old: { ...value, i: 7 } } : {}),
}))

const ofConformance = linesOf('conformance.txt').map((rule) => ({
  schema: { type: 'object', 'x-kubernetes-validations': [{ rule }] },
  value: {},
}))

const ofInt = (rule: object) => ({ ...int, 'x-kubernetes-validations': [rule] })
const withA = (a: object) => ({ type: 'object', properties: { a } })
const ruled = (rule: object) => ({ ...withA(int), 'x-kubernetes-validations': [rule] })
const immutable = { rule: 'self == oldSelf', message: 'is immutable' }
const always = { rule: 'self > 5', messageExpression: '"is " + string(self) + ", not above 5"' }
const optional = {
  rule: '!oldSelf.hasValue() || has(self.a) == has(oldSelf.value().a)',
  optionalOldSelf: true,
}
const items = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['k'],
  items: { type: 'object', required: ['k'], properties: { k: string, v: ofInt(immutable) } },
}
const item = (k: string, v: number) => ({ k, v })
const changed = { a: [item('y', 2), item('x', 9), item('z', 3)] }
const reasons = ['Forbidden', 'Required', 'Duplicate', 'Invalid'].map((reason) => ({
  schema: withA(ofInt({ ...always, reason: `FieldValue${reason}` })),
  value: { a: 1 },
}))
const transitions = [{}, { a: 1 }, { a: 2 }].flatMap((old) =>
  [{ a: 1 }, { a: 2 }, {}].flatMap((after) => [
    { schema: ruled(optional), value: after, old },
    { schema: withA(ofInt(immutable)), value: after, old },
    { schema: withA(ofInt(always)), value: after, old },
  ]),
)

const cases = [
  ...ofRules,
  ...reasons,
  ...transitions,
  { schema: withA(ofInt(immutable)), value: { a: 1 } },
  { schema: withA(ofInt(always)), value: { a: 1 } },
  {
    schema: withA(ofInt({ ...always, messageExpression: 'string(1 / (self - self))', message: 'plain' })),
    value: { a: 1 },
  },
  { schema: withA(ofInt({ ...always, messageExpression: '1' })), value: { a: 1 } },
  { schema: ruled({ rule: 'self.a > 5', fieldPath: '.a' }), value: { a: 1 } },
  { schema: ruled({ rule: 'self.a > 5', fieldPath: "['a']" }), value: { a: 1 } },
  { schema: withA(ofInt({ rule: 'oldSelf.orValue(3) <= self', optionalOldSelf: true })), value: { a: 2 } },
  { schema: withA(items), value: changed, old: { a: [item('x', 1), item('y', 2)] } },
  { schema: withA(items), value: changed },
  { schema: { type: 'object', additionalProperties: ofInt(always) }, value: { 'a.b': 1, c: 9, d: 2 } },
  { schema: { type: 'object', additionalProperties: ofInt(immutable) }, value: { a: 1, b: 2 }, old: { a: 3, b: 2 } },
  { schema: list(ofInt(always)), value: [9, 1, 2] },
  {
    schema: withA({ ...string, nullable: true, 'x-kubernetes-validations': [{ rule: 'self == "x"' }] }),
    value: { a: null },
  },
  ...ofConformance,
]
for (const one of cases) console.log(JSON.stringify(one))
