import { readFileSync } from 'node:fs'

/**
 * Prints the cases that `main.go` answers: the rules and the expressions of `cel-oracle` over a schema with all types,
 * once with bounds and once without, and rules at places of which there are one, some or any number.
 */
const linesOf = (name: string): readonly string[] =>
  readFileSync(new URL(`../cel-oracle/${name}`, import.meta.url), 'utf8')
    .trim()
    .split('\n')

const string = { type: 'string' }
const int = { type: 'integer' }
const format = (name: string) => ({ type: 'string', format: name })

interface Bounds {
  readonly maxLength?: number
  readonly maxItems?: number
  readonly maxProperties?: number
}

const propertiesWithin = ({ maxLength, maxItems, maxProperties }: Bounds) => {
  const text = { ...string, ...(maxLength && { maxLength }) }
  const list = (items: object) => ({ type: 'array', ...(maxItems && { maxItems }), items })
  const map = (values: object) => ({
    type: 'object',
    ...(maxProperties && { maxProperties }),
    additionalProperties: values,
  })
  const port = { type: 'object', required: ['name'], properties: { name: text, port: int, on: { type: 'boolean' } } }
  return {
    s: text,
    t: text,
    i: int,
    j: int,
    d: { type: 'number' },
    b: { type: 'boolean' },
    n: { ...text, nullable: true },
    list: list(int),
    texts: list(text),
    doubles: list({ type: 'number' }),
    empty: list(text),
    objects: { ...list(port), 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
    map: map(text),
    counts: map(int),
    object: { type: 'object', properties: { a: text, 'b-c': text, if: text, under__score: text } },
    any: { 'x-kubernetes-int-or-string': true },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    when: format('date-time'),
    day: format('date'),
    span: format('duration'),
    bytes: { ...format('byte'), ...(maxLength && { maxLength }) },
    word: { ...string, enum: ['a', 'grün', 'long word'] },
    nested: list(list(text)),
  }
}

const unbounded = propertiesWithin({})
const bounded = propertiesWithin({ maxLength: 50, maxItems: 20, maxProperties: 10 })

/** What the rules of `cel-oracle` do not do with lists in lists, other sizes, and results of functions. */
const more = [
  'self.nested.all(x, x.all(y, self.texts.exists(z, z == y)))',
  'self.nested.map(x, x.size()).sum() < 9',
  "self.texts.map(x, x + 'a').all(y, y == 'b')",
  "self.texts.filter(x, x.startsWith('a')).map(x, x + self.s).exists(y, y.contains(self.t))",
  'self.objects.map(o, o.name).all(n, self.objects.exists_one(o, o.name == n))',
  'self.map.all(k, self.map[k].matches(k))',
  "self.map.map(k, k + '=' + self.map[k]).join(',').size() < 100",
  "self.s.replace('a', self.t).split(',').all(x, x.trim() == x)",
  "self.s.split(',', 3).all(x, x == '')",
  "self.word == 'a' || self.word in self.texts",
  "self.s.find('[a-z]+').lowerAscii() == self.t.upperAscii()",
  'self.s.findAll(self.t).size() < 3',
  'has(self.s) ? self.s == self.t : self.texts == self.empty',
  '(has(self.s) ? self.s : self.t).contains(self.s)',
  "self.?s.optMap(x, x.contains('a')).orValue(true)",
  "self.?s.optMap(x, x + 'a').optMap(y, y.size() > 3).orValue(true)",
  "self.?s.optFlatMap(x, self.?t).orValue('') == ''",
  "self.?object.?a.orValue('x').matches('[a-z]{3}')",
  "self.texts[?0].hasValue() && self.map[?'a'].hasValue()",
  'self.texts.isSorted() && self.list.sum() > 3 && self.texts.indexOf(self.s) == 0',
  'self.list.max() < self.list.min()',
  'sets.contains(self.texts, self.empty) && sets.equivalent(self.list, self.list) && sets.intersects(self.texts, self.texts)',
  "quantity(self.s) == quantity('1') || quantity(self.s) != quantity(self.t)",
  "quantity(self.s).isLessThan(quantity('5k')) && isQuantity(self.t)",
  'url(self.s).getHost() == self.t && url(self.s) == url(self.t) && isURL(self.s)',
  'ip(self.s).family() == 4 && isIP(self.t) && ip.isCanonical(self.s) && ip(self.s) == ip(self.t)',
  "cidr('10.0.0.0/8').containsIP(self.s) && cidr(self.t).containsCIDR(cidr(self.s)) && cidr(self.s).containsCIDR(self.t)",
  'cidr(self.s).containsIP(ip(self.t)) && cidr(self.s).ip() == ip(self.s) && cidr(self.s) == cidr(self.t)',
  "!format.dns1123Label().validate(self.s).hasValue() && format.named('uuid').hasValue()",
  'bytes(self.s) == self.bytes && string(self.bytes) == self.t',
  "'%s and %d'.format([self.s, self.i]) == self.t",
  "(self.s + self.t).startsWith(self.s + 'x') && (self.texts + self.empty).exists(x, x < self.s)",
  "type(self.any) == string && self.any.matches('[0-9]+%')",
  "type(self.any) == int ? self.any < 5 : self.any.contains('x')",
  "self.when > timestamp('2024-01-01T00:00:00Z') && self.span < duration('1h') && self.day.getFullYear() > 2000",
  "{'a': self.s, 'b': self.t}.all(k, k == 'a') && ['a', self.s].exists(x, x == self.t)",
  'self.objects == self.objects && self.object == self.object && self.map != self.map',
  "self.object.b__dash__c == self.object.__if__ && self.object.under__underscores__score == 'x'",
  'self.i in self.list && self.s in self.map && self.i in [1, 2, 3]',
  "self.metadata.name.startsWith('a') && self.kind == 'Thing' && self.metadata.generateName.size() > 1",
  "self.objects.filter(o, has(o.port) && o.port > 3).map(o, o.on, o.name + 'x').size() == 1",
  'self.texts.all(x, self.texts.all(y, self.texts.all(z, x + y == z)))',
  'self.nested[0][1] == self.texts[2] && self.nested[0].exists(x, x == self.s)',
  'self.all(k, true)',
]

const ruled = (schema: object, rule: string, other: object = {}) => ({
  ...schema,
  'x-kubernetes-validations': [{ rule, ...other }],
})

const ofRules = [...linesOf('rules.txt'), ...more].flatMap((rule) =>
  [unbounded, bounded].map((properties) => ruled({ type: 'object', properties }, rule)),
)
/** Go's parser leaves out signs that cancel each other, and ours counts them. */
const cancels = /^\(*[!-]{2}/
const ofConformance = linesOf('conformance.txt')
  .filter((rule) => !cancels.test(rule))
  .map((rule) => ruled({ type: 'object' }, rule))

const at = (spec: object) => ({ type: 'object', properties: { spec } })
const list = (items: object, more_: object = {}) => ({ type: 'array', items, ...more_ })
const map = (values: object, more_: object = {}) => ({ type: 'object', additionalProperties: values, ...more_ })
const matching = ruled(string, "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')")
const short = { ...matching, maxLength: 63 }
const pair = (a: object) => ({ type: 'object', required: ['a'], properties: { a, b: { ...string, default: 'x' } } })
const places = [
  at(matching),
  at(short),
  at(list(matching)),
  at(list(short)),
  at(list(short, { maxItems: 100 })),
  at(list(list(short, { maxItems: 1000 }), { maxItems: 1000 })),
  at(list(list(short), { maxItems: 10 })),
  at(map(short)),
  at(map(short, { maxProperties: 1000 })),
  at(map(list(short, { maxItems: 64 }), { maxProperties: 64 })),
  at(list(pair(short))),
  at(list(ruled(pair(string), 'self.a == self.b'))),
  at(list(ruled(pair({ ...string, maxLength: 10 }), 'self.a == self.b', { messageExpression: 'self.a + self.b' }))),
  at(ruled(pair(string), 'self.a == self.b', { messageExpression: "self.a.matches(self.b) ? 'a' : 'b'" })),
  at(ruled(list(string), 'self.all(x, self.exists(y, x == y))')),
  at(ruled(list(string, { maxItems: 100 }), 'self.all(x, self.exists(y, x == y))')),
  at(ruled(list({ ...string, maxLength: 100 }, { maxItems: 100 }), 'self.all(x, self.exists(y, x == y))')),
  at({
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`f${i}`, list(short, { maxItems: 500 })])),
  }),
  at({
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: 12 }, (_, i) => [
        `f${i}`,
        list(ruled({ ...string, maxLength: 63 }, "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')"), {
          maxItems: 90_000,
        }),
      ]),
    ),
  }),
  at({
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
    ...ruled({ type: 'object' }, "self.metadata.name == 'a'"),
  }),
  at(list(ruled({ type: 'object' }, 'true'))),
  at(list(ruled({ 'x-kubernetes-int-or-string': true }, 'self == 1'))),
  at(list(ruled(int, 'self > 1'))),
  at(ruled(int, 'self == oldSelf', { optionalOldSelf: false })),
  at(ruled(int, 'oldSelf.orValue(3) <= self', { optionalOldSelf: true })),
]

for (const schema of [...ofRules, ...places, ...ofConformance]) console.log(JSON.stringify({ schema }))
