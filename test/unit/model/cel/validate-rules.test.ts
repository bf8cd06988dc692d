import { describe, expect, it } from 'vitest'
import { checkRules, measureRules } from '../../../../shared/model/cel/check-rules.ts'
import { celRulesOf, hasRules } from '../../../../shared/model/cel/rules.ts'
import { validateRules } from '../../../../shared/model/cel/validate-rules.ts'
import type { Json, JsonObject } from '../../../../shared/model/json.ts'
import type { StructuralSchema, ValidationRule } from '../../../../shared/model/schema/structural-schema.ts'

const text: StructuralSchema = { type: 'string' }
const whole: StructuralSchema = { type: 'integer' }
const ruled = (rule: string | ValidationRule, schema: StructuralSchema = text): StructuralSchema => ({
  ...schema,
  'x-kubernetes-validations': [typeof rule === 'string' ? { rule } : rule],
})
const short = ruled('self.size() < 3')
const found = (schema: StructuralSchema, value: Json, old?: Json) =>
  validateRules(schema, value, { path: 's', old }).map(({ field }) => field)

describe('the rules of a schema are held against', () => {
  const object = (properties: StructuralSchema['properties']): StructuralSchema => ({
    type: 'object',
    ...(properties && { properties }),
  })
  const list: StructuralSchema = { type: 'array', items: short }
  const map: StructuralSchema = { type: 'object', additionalProperties: short }
  const ruledMetadata = ruled('self.metadata == "y"', object({ metadata: text }))

  it.each<[string, StructuralSchema, Json, readonly string[]]>([
    ['a value itself', short, 'long', ['s']],
    ['a value that they let be', short, 'ok', []],
    ['fields', object({ a: short, b: text, c: short }), { a: 'long', b: 'long', c: 'long' }, ['s.a', 's.c']],
    ['fields that are there', object({ a: short, constructor: short }), { a: undefined }, []],
    ['fields that are not null', object({ a: short }), { a: null }, []],
    ['entries', map, { a: 'long', b: 'ok', c: undefined }, ['s[a]']],
    ['items', list, ['ok', 'long', 'long'], ['s[1]', 's[2]']],
    [
      'what is below',
      object({ l: { type: 'array', items: object({ m: map }) } }),
      { l: [{ m: { k: 'long' } }] },
      ['s.l[0].m[k]'],
    ],
    ['values of another type not at all', object({ a: object({ b: short }) }), { a: 5 }, []],
    ['lists of another type not at all', object({ a: { type: 'array', items: short } }), { a: { b: 'long' } }, []],
    ['what nobody ruled not at all', object({ a: text }), { a: 'long' }, []],
    ['more than one place', ruled('self.a == "x"', object({ a: short })), { a: 'long' }, ['s', 's.a']],
    ['the characters of a text not at all', { type: 'object', additionalProperties: ruled('false') }, 'long', []],
    ['a list whose items nobody described', ruled('false', { type: 'array' }), [1], ['s']],
    ['a field of the name of metadata', ruledMetadata, { metadata: 'x' }, ['s']],
    ['the same in a field', object({ a: ruledMetadata }), { a: { metadata: 'x' } }, ['s.a']],
    ['the same in an item', { type: 'array', items: ruledMetadata }, [{ metadata: 'x' }], ['s[0]']],
    [
      'the same in an entry',
      { type: 'object', additionalProperties: ruledMetadata },
      { k: { metadata: 'x' } },
      ['s[k]'],
    ],
  ])('%s', (_what, schema, value, fields) => {
    expect(found(schema, value)).toEqual(fields)
  })

  it('a hundred places at most', () => {
    expect(found(list, Array(101).fill('long'))).toHaveLength(100)
    const twice = { ...short, 'x-kubernetes-validations': [{ rule: 'self == ""' }, { rule: 'self == " "' }] }
    expect(found({ type: 'array', items: twice }, Array(101).fill('long'))).toHaveLength(100)
  })
})

it('the rules of an object have so many steps together, of which each place takes four', () => {
  const items: StructuralSchema = { type: 'array', items: ruled('true', whole) }
  const schema = ruled('self.all(x, self.all(y, true))', items)
  const list = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i)
  // 3 + 5n + 2n² for the rule of the list, and 4 + 4n for the places.
  expect(validateRules(schema, list(385) as Json)).toEqual([])
  expect(validateRules(schema, list(386) as Json)).toMatchObject([
    { message: expect.stringContaining('the rules of the schema take too many steps') as string },
  ])
})

describe('what a rule says', () => {
  const said = (rule: Partial<ValidationRule>, schema: StructuralSchema = text, value: Json = 'long') =>
    validateRules(ruled({ rule: 'self == "x"', ...rule }, schema), value, { path: 's' })

  it.each<[string, Partial<ValidationRule>, string]>([
    ['nothing of its own', {}, 'Invalid value: "string": failed rule: self == "x"'],
    ['a message', { message: ' no ' }, 'Invalid value: "string": no'],
    ['an empty message', { message: ' ' }, 'Invalid value: "string": failed rule: self == "x"'],
    ['an expression', { message: 'no', messageExpression: '"not " + self' }, 'Invalid value: "string": not long'],
    ['an expression with spaces', { messageExpression: '" not "' }, 'Invalid value: "string": not'],
    ['an empty text', { message: 'no', messageExpression: '" "' }, 'Invalid value: "string": no'],
    ['two lines', { message: 'no', messageExpression: '"a\\nb"' }, 'Invalid value: "string": no'],
    ['nothing that can be said', { message: 'no', messageExpression: 'self.charAt(9)' }, 'Invalid value: "string": no'],
    [
      'a text of some length',
      { messageExpression: `"${'a'.repeat(5_120)}"` },
      `Invalid value: "string": ${'a'.repeat(5_120)}`,
    ],
    [
      'a text that is too long',
      { message: 'no', messageExpression: `"${'a'.repeat(5_121)}"` },
      'Invalid value: "string": no',
    ],
    [
      'that it cannot tell',
      { rule: ' self.charAt(9) == "" ' },
      'Invalid value: "string": index out of range: 9 evaluating rule: self.charAt(9) == ""',
    ],
    [
      'that it cannot tell, by name',
      { rule: 'self.charAt(9) == ""', message: 'mine' },
      'Invalid value: "string": index out of range: 9 evaluating rule: mine',
    ],
    ['invalid', { reason: 'FieldValueInvalid' }, 'Invalid value: "string": failed rule: self == "x"'],
    ['forbidden', { reason: 'FieldValueForbidden' }, 'Forbidden: failed rule: self == "x"'],
    ['required', { reason: 'FieldValueRequired' }, 'Required value: failed rule: self == "x"'],
    ['duplicate', { reason: 'FieldValueDuplicate' }, 'Duplicate value: "string"'],
  ])('is %s', (_what, rule, message) => {
    expect(said(rule)).toMatchObject([{ field: 's', message }])
  })

  it.each([
    ['', 's'],
    ['.a', 's.a'],
    [".a['b c']", 's.a.b c'],
  ])('is about %j below its place', (fieldPath, field) => {
    const b: StructuralSchema = { type: 'object', additionalProperties: text }
    const schema: StructuralSchema = { type: 'object', properties: { a: b } }
    expect(said({ rule: 'false', fieldPath }, schema, {})).toMatchObject([{ field }])
  })

  it('names the type of its schema, or an object', () => {
    const either: StructuralSchema = { 'x-kubernetes-int-or-string': true }
    expect(said({ rule: 'false' }, either, 5)[0]?.message).toBe('Invalid value: "object": failed rule: false')
    expect(said({ rule: 'false' }, whole, 5)[0]?.message).toBe('Invalid value: "integer": failed rule: false')
  })
})

describe('what was before an update', () => {
  const grows = ruled('self >= oldSelf', whole)
  const entry: StructuralSchema = { type: 'object', properties: { n: text, v: grows } }
  const items = (more: object): StructuralSchema => ({ type: 'array', items: entry, ...more })
  const keyed = items({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['n'] })
  const optional = ruled({ rule: 'oldSelf.orValue(0) < self', optionalOldSelf: true }, whole)
  const fields: StructuralSchema = { type: 'object', properties: { v: grows } }
  const entries: StructuralSchema = { type: 'object', additionalProperties: grows }

  it.each<[string, string, Json, number]>([
    ['in a comment', '// whatever oldSelf was\nself < 5', 7, 1],
    ['as a field', 'self.oldSelf < 5', { oldSelf: 7 }, 1],
    ['as a field that may be there', '!has(self.oldSelf)', { oldSelf: 7 }, 1],
    ['between raw texts of which one ends in a backslash', `r'\\' == '' || self >= oldSelf || '' == 'a'`, 7, 0],
    ['in the items of a list', 'self < 5 || [1].exists(x, [oldSelf].exists(y, y == 1))', 7, 0],
    ['as a value that has its name', '[self].all(oldSelf, oldSelf < 5)', 7, 0],
  ])('decides by its name alone whether a rule holds for what is new: %s', (_what, rule, value, errors) => {
    const old: StructuralSchema = { type: 'object', properties: { oldSelf: whole } }
    expect(validateRules(ruled(rule, typeof value === 'number' ? whole : old), value, { path: 's' })).toHaveLength(
      errors,
    )
  })

  it.each<[string, StructuralSchema, Json | undefined, Json, readonly string[]]>([
    ['is not asked for where nothing was', grows, undefined, 1, []],
    ['is not asked for where it was null', grows, null, 1, []],
    ['is asked for', grows, 2, 1, ['s']],
    ['lets be what has grown', grows, 1, 2, []],
    ['is that of a field', fields, { v: 2 }, { v: 1 }, ['s.v']],
    ['is none of a field that is new', fields, {}, { v: 1 }, []],
    ['is none of a field whose object was none', fields, 5, { v: 1 }, []],
    ['is that of an entry', entries, { a: 2, b: 1 }, { a: 1, b: 1 }, ['s[a]']],
    ['is none of an entry that every object inherits', entries, {}, { constructor: 1 }, []],
    [
      'is that of the item with the same keys',
      keyed,
      [
        { n: 'a', v: 2 },
        { n: 'b', v: 1 },
      ],
      [
        { n: 'b', v: 1 },
        { n: 'a', v: 1 },
      ],
      ['s[1].v'],
    ],
    ['is none of an item that is new', keyed, [{ n: 'a', v: 2 }], [{ n: 'b', v: 1 }], []],
    ['is none of a list that was none', keyed, { n: 'a' }, [{ n: 'a', v: 1 }], []],
    ['is nothing where it is optional', optional, undefined, 0, ['s']],
    ['is nothing where it is optional and was null', optional, null, 0, ['s']],
    ['is there where it is optional', optional, 5, 5, []],
    ['is there where it is optional, and less', optional, 4, 5, []],
    [
      'is none that fits where it is optional',
      ruled({ rule: 'oldSelf.hasValue()', optionalOldSelf: true }, whole),
      'x',
      5,
      ['s'],
    ],
    ['is there where it is optional and has changed', optional, 5, 4, ['s']],
    ['is not held against what stays', ruled('self > 5', whole), 1, 1, []],
    [
      'is not held against what stays deep down',
      { type: 'object', properties: { a: ruled('self > 5', whole), b: whole } },
      { a: 1, b: 1 },
      { a: 1, b: 2 },
      [],
    ],
  ])('%s', (...row) => {
    const [, schema, old, value, errors] = row
    expect(found(schema, value, old)).toEqual(errors)
  })
})

/** Source: apiserver, `cel/common/values.go`, where a field that is renamed counts as the same; here it does not. */
describe('whether an object is as it was', () => {
  const anything: StructuralSchema = { 'x-kubernetes-preserve-unknown-fields': true }
  const typed: StructuralSchema = { type: 'object', properties: { size: whole, l: { type: 'array', items: text } } }
  const withField: StructuralSchema = { ...typed, properties: { ...typed.properties, free: anything } }
  const open: StructuralSchema = { ...typed, ...anything }
  const freeList: StructuralSchema = { type: 'object', properties: { l: { type: 'array', items: anything } } }
  const freeMap: StructuralSchema = { type: 'object', properties: { m: { type: 'object', additionalProperties: {} } } }
  const template: StructuralSchema = { type: 'object', 'x-kubernetes-embedded-resource': true, ...anything }
  const meta = (labels: Json): Json => ({ apiVersion: 'v1', kind: 'K', metadata: { name: 'n', labels } })

  it.each<[string, StructuralSchema, readonly [old: Json, value: Json], boolean]>([
    ['a field of any type', withField, [{ free: { a: [1, { b: null }] } }, { free: { a: [1, { b: null }] } }], true],
    ['a field of any type that changes', withField, [{ free: { a: [1] } }, { free: { a: [2] } }], false],
    ['a field of any type that is new', withField, [{ size: 1 }, { size: 1, free: 1 }], false],
    ['a field of any type that is gone', withField, [{ size: 1, free: null }, { size: 1 }], false],
    [
      'a field of a free object',
      open,
      [
        { size: 1, a: 'x' },
        { a: 'x', size: 1 },
      ],
      true,
    ],
    [
      'a field of a free object that changes',
      open,
      [
        { size: 1, a: 'x' },
        { size: 1, a: 'y' },
      ],
      false,
    ],
    ['a field of a free object that has another name', open, [{ a: 'x' }, { b: 'x' }], false],
    ['a field of a free object that is undefined', open, [{ size: 1, a: undefined }, { size: 1 }], true],
    [
      'a field that expressions see, beside one that they do not',
      open,
      [
        { size: 1, a: 1 },
        { size: 2, a: 1 },
      ],
      false,
    ],
    ['a free object without fields', { type: 'object', ...anything }, [{ a: 1 }, { a: 2 }], false],
    ['a list of anything', freeList, [{ l: [1, 'a'] }, { l: [1, 'b'] }], false],
    ['a map of anything', freeMap, [{ m: { a: 1 } }, { m: { a: true } }], false],
    ['the labels of what is embedded', template, [meta({ a: 'x' }), meta({ a: 'y' })], false],
    ['the same labels', template, [meta({ a: 'x' }), meta({ a: 'x' })], true],
    ['what has no type itself', anything, [{ a: 1 }, { a: 2 }], false],
    [
      'what has no type itself and is the same',
      anything,
      [
        [1, { a: 1 }],
        [1, { a: 1 }],
      ],
      true,
    ],
  ])('%s', (_what, schema, [old, value], same) => {
    // What is the same is not looked at, so that something beside it has to change.
    const holder: StructuralSchema = { type: 'object', properties: { spec: schema } }
    const rules = ruled('self.holder == oldSelf.holder', { type: 'object', properties: { holder, n: whole } })
    expect(found(rules, { holder: { spec: value }, n: 2 }, { holder: { spec: old }, n: 1 })).toEqual(same ? [] : ['s'])
    const alone = ruled('self == oldSelf', schema)
    expect(found(alone, value, old)).toEqual(same ? [] : ['s'])
  })

  it('takes steps by the size of what expressions do not see', () => {
    const large = (last: number): JsonObject => ({ free: [...Array(200).fill(1), last] })
    const schema = ruled(`[${'0,'.repeat(999)}0].all(i, self == oldSelf || true)`, withField)
    expect(validateRules(schema, large(1), { old: large(2) })[0]?.message).toContain('take too many steps')
  })

  it('does not depend on its own metadata, but for the name', () => {
    const root = ruled('self.metadata == oldSelf.metadata && self.metadata.name == "n"', typed)
    const object = (size: number, labels: Json): Json => ({ ...(meta(labels) as JsonObject), size })
    const told = validateRules(root, object(2, { a: 'y' }), { old: object(1, { a: 'x' }), isResource: true })
    expect(told).toEqual([])
  })

  it('is told of an object that an expression makes, too', () => {
    expect(found(ruled('dyn(self) == {"size": 1}', typed), { size: 1 })).toEqual([])
    expect(found(ruled('dyn(self) == {"size": 1}', open), { size: 1, a: 1 })).toEqual(['s'])
    expect(found(ruled('{"size": 1, "a": 1} == dyn(self)', open), { size: 1, a: 1 })).toEqual(['s'])
  })
})

describe('the values that rules see', () => {
  const sees = (schema: StructuralSchema, rule: string, value: Json): boolean =>
    celRulesOf(ruled(rule, schema), false).faults.length === 0 && found(ruled(rule, schema), value).length === 0
  const object = (properties: StructuralSchema['properties']): StructuralSchema => ({
    type: 'object',
    ...(properties && { properties }),
  })
  const format = (name: string): StructuralSchema => ({ type: 'string', format: name })

  it.each<[StructuralSchema, string, Json]>([
    [whole, 'self + 1 == 6', 5],
    [{ type: 'number' }, 'self / 2.0 == 2.75', 5.5],
    [{ type: 'boolean' }, 'self', true],
    [text, 'self + "b" == "ab"', 'a'],
    [format('byte'), 'self == b"ab"', 'YWI='],
    [format('byte'), 'self == b"a"', 'YQ=='],
    [format('byte'), 'self == b"abc"', 'YWJj'],
    [format('byte'), 'self.size() == 0', ''],
    [format('duration'), 'self == duration("90m")', '1h30m'],
    [format('date'), 'self.getFullYear() == 2026', '2026-01-02'],
    [format('date-time'), 'self.getHours() == 3', '2026-01-02T03:00:00Z'],
    [format('uuid'), 'self.size() == 1', 'x'],
    [{ 'x-kubernetes-int-or-string': true }, 'type(self) == int && self == 5', 5],
    [{ 'x-kubernetes-int-or-string': true }, 'type(self) == string && self == "5%"', '5%'],
    [{ type: 'array', items: whole }, 'self == [1, 2]', [1, 2]],
    [{ type: 'object', additionalProperties: whole }, 'self == {"a": 1} && self.size() == 1 && self.a == 1', { a: 1 }],
    [object({ a: whole, b: text }), 'self.a == 1 && !has(self.b)', { a: 1 }],
    [object({ a: whole }), 'has(self.a)', { a: 0 }],
    [object({ a: { ...whole, nullable: true } }), '!has(self.a)', { a: null }],
    [object({ constructor: whole }), '!has(self.constructor)', {}],
    [object({ 'a-b': whole }), 'self.a__dash__b == 1', { 'a-b': 1 }],
    [object({ in: whole }), 'self.__in__ == 1', { in: 1 }],
    [object({ a: object({ b: whole }) }), 'self.a == self.a && self.a.b == 1', { a: { b: 1, c: 2 } }],
    [
      object({ a: { type: 'array', items: object({ b: whole }) } }),
      'self.a.all(x, x.b > 0)',
      { a: [{ b: 1 }, { b: 2 }] },
    ],
    [
      object({ t: { type: 'object', 'x-kubernetes-embedded-resource': true } }),
      'self.t.kind == "K" && self.t.metadata.name == "n"',
      { t: { kind: 'K', metadata: { name: 'n' } } },
    ],
  ])('of %j: %s', (schema, rule, value) => {
    expect(sees(schema, rule, value)).toBe(true)
  })

  it.each<[StructuralSchema, string, Json]>([
    [whole, 'self > 0', 1.5],
    [whole, 'self > 0', 'x'],
    [text, 'self != ""', 5],
    [{ type: 'number' }, 'self > 0.0', 'x'],
    [{ type: 'boolean' }, 'self || true == self', 5],
    [format('date-time'), 'self.getHours() >= 0', 'soon'],
    [format('duration'), 'self.getHours() >= 0', 'soon'],
    [format('byte'), 'self.size() >= 0', 'no base64'],
    [format('byte'), 'self.size() >= 0', 'YW'],
    [{ type: 'array', items: whole }, 'self.size() >= 0', { a: 1 }],
    [{ type: 'array', items: whole }, 'self.size() >= 0', [1, 'x']],
    [object({ a: whole }), 'self.a >= 0', { a: 'x' }],
    [{ type: 'object', additionalProperties: whole }, 'self.a >= 0', { a: 'x' }],
  ])('are none of %j where %s is asked of %j, which does not fit', (schema, rule, value) => {
    const [error] = validateRules(ruled(rule, schema), value, { path: 's' })
    expect(error?.message).toContain('the value does not fit its schema')
  })
})

describe('what is wrong with rules', () => {
  const errors = (schema: StructuralSchema): readonly string[] => checkRules(schema, 'p').map(({ field }) => field)
  const own = 'x-kubernetes-validations[0]'
  const list = (rule: string, more: object = {}): StructuralSchema => ({ type: 'array', items: ruled(rule), ...more })
  const aMap = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['n'] }

  it.each<[string, StructuralSchema, readonly string[]]>([
    ['is nothing where there are none', { type: 'object', properties: { a: text } }, []],
    [
      'is told at each place',
      { type: 'object', properties: { a: ruled('+'), b: list('+') } },
      [`p.properties[a].${own}.rule`, `p.properties[b].items.${own}.rule`],
    ],
    [
      'is told of entries',
      { type: 'object', additionalProperties: ruled('+') },
      [`p.additionalProperties.${own}.rule`],
    ],
    [
      'is told of each rule',
      { ...text, 'x-kubernetes-validations': [{ rule: 'true' }, { rule: '+' }, { rule: '-' }] },
      ['p.x-kubernetes-validations[1].rule', 'p.x-kubernetes-validations[2].rule'],
    ],
    [
      'is told of both parts of a rule',
      ruled({ rule: '+', messageExpression: '-' }),
      [`p.${own}.rule`, `p.${own}.messageExpression`],
    ],
    ['is oldSelf in a list', list('self == oldSelf'), [`p.items.${own}.rule`]],
    [
      'is nothing for oldSelf in a list with keys',
      {
        ...list('self.n == oldSelf.n', aMap),
        items: ruled('self.n == oldSelf.n', { type: 'object', properties: { n: text } }),
      },
      [],
    ],
    [
      'is nothing for oldSelf in fields and entries',
      { type: 'object', properties: { a: ruled('self == oldSelf') } },
      [],
    ],
    [
      'is oldSelf in fields of what is atomic',
      { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: ruled('self == oldSelf') } },
      [`p.properties[a].${own}.rule`],
    ],
    [
      'is oldSelf in entries of what is atomic',
      { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: ruled('self == oldSelf') },
      [`p.additionalProperties.${own}.rule`],
    ],
    [
      'is oldSelf below a list',
      list('true', { items: { type: 'object', properties: { a: ruled('self == oldSelf') } } }),
      [`p.items.properties[a].${own}.rule`],
    ],
    [
      'is an optional oldSelf that is not used',
      ruled({ rule: 'true', optionalOldSelf: true }),
      [`p.${own}.optionalOldSelf`],
    ],
    ['is nothing for an optional oldSelf', ruled({ rule: 'oldSelf.hasValue()', optionalOldSelf: true }), []],
    ['is nothing for a text that says oldSelf', list(`self != 'oldSelf' && self != "a\\"oldSelf"`), []],
    [
      'is a path to nowhere',
      ruled({ rule: 'true', fieldPath: '.b' }, { type: 'object', properties: { a: text } }),
      [`p.${own}.fieldPath`],
    ],
    [
      'is a path that is none',
      ruled({ rule: 'true', fieldPath: 'a' }, { type: 'object', properties: { a: text } }),
      [`p.${own}.fieldPath`],
    ],
    [
      'is a path into a text',
      ruled({ rule: 'true', fieldPath: '.a.b' }, { type: 'object', properties: { a: text } }),
      [`p.${own}.fieldPath`],
    ],
    [
      'is a path to what is inherited',
      ruled({ rule: 'true', fieldPath: '.constructor' }, { type: 'object', properties: { a: text } }),
      [`p.${own}.fieldPath`],
    ],
    [
      'is nothing for a path to a field',
      ruled({ rule: 'true', fieldPath: '.a' }, { type: 'object', properties: { a: text } }),
      [],
    ],
    [
      'is nothing for a path to an entry',
      ruled(
        { rule: 'true', fieldPath: ".a['b c']" },
        { type: 'object', properties: { a: { type: 'object', additionalProperties: text } } },
      ),
      [],
    ],
  ])('%s', (_what, schema, fields) => {
    expect(errors(schema)).toEqual(fields)
  })

  it.each<[StructuralSchema, boolean]>([
    [text, false],
    [{ ...text, 'x-kubernetes-validations': [] }, false],
    [short, true],
    [{ type: 'array', items: short }, true],
    [{ type: 'object', additionalProperties: short }, true],
    [{ type: 'object', additionalProperties: true }, false],
    [{ type: 'object', properties: { a: text, b: { type: 'array', items: short } } }, true],
    [{ type: 'object', properties: { a: text } }, false],
  ])('in %j there are rules: %s', (schema, has) => {
    expect([hasRules(schema), hasRules(schema)]).toEqual([has, has])
  })

  it.each<[unknown, number]>([
    [undefined, 0],
    ['rule', 0],
    [{ rule: 'abc' }, 3],
    [{ messageExpression: 'ab', message: 'abcd' }, 2],
    [[{ rule: 'a' }, { rule: 'bc', messageExpression: 'd' }], 4],
    [{ rule: { rule: 'ab' }, other: [{ rule: 'c' }] }, 3],
    [{ rule: 5 }, 0],
  ])('%j has rules of so many characters: %d', (schema, length) => {
    expect(measureRules(schema)).toBe(length)
  })
})
