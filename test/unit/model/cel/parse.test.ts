import { describe, expect, it } from 'vitest'
import { describeError, dottedName, ExpressionError, type Expression } from '../../../../shared/model/cel/expression.ts'
import { parseExpression } from '../../../../shared/model/cel/parse.ts'
import { Uint } from '../../../../shared/model/cel/value.ts'

/** An expression in brackets, with the places of its parts if they are asked for. */
function shown(one: Expression, withPlaces = false): string {
  const show = (part: Expression): string => shown(part, withPlaces)
  const optional = (is: boolean): string => (is ? '?' : '')
  const inner = ((): string => {
    switch (one.op) {
      case 'literal':
        return literal(one.value)
      case 'name':
        return one.name
      case 'select':
        return `(${one.isTest ? 'has' : '.'}${optional(one.isOptional)}${one.field} ${show(one.of)})`
      case 'index':
        return `([]${optional(one.isOptional)} ${show(one.of)} ${show(one.key)})`
      case 'call':
        return `(${[one.name, ...(one.target ? [`on ${show(one.target)}`] : []), ...one.args.map(show)].join(' ')})`
      case 'and':
      case 'or':
        return `(${one.op} ${show(one.left)} ${show(one.right)})`
      case 'choice':
        return `(if ${show(one.test)} ${show(one.yes)} ${show(one.no)})`
      case 'list':
        return `[${one.items.map(({ value, isOptional }) => optional(isOptional) + show(value)).join(' ')}]`
      case 'map':
        return `{${one.entries.map((e) => `${optional(e.isOptional)}${show(e.key)}:${show(e.value)}`).join(' ')}}`
      case 'construct':
        return `${one.type}{${one.fields.map((f) => `${optional(f.isOptional)}${f.name}:${show(f.value)}`).join(' ')}}`
      case 'bind':
        return `(let ${one.name} ${show(one.value)} ${show(one.body)})`
      default: {
        const names = [one.variable, ...(one.valueVariable === undefined ? [] : [one.valueVariable])].join(',')
        const filter = one.filter === undefined ? '' : ` if ${show(one.filter)}`
        return `(${one.kind} ${names} in ${show(one.range)}${filter} ${show(one.body)})`
      }
    }
  })()
  return withPlaces ? `${inner}@${one.at}` : inner
}

function literal(value: unknown): string {
  if (typeof value === 'bigint') return `${value}`
  if (value instanceof Uint) return `${value.value}u`
  if (value instanceof Uint8Array) return `b[${value.join()}]`
  return typeof value === 'number' ? `${value}d` : JSON.stringify(value)
}

const parsed = (text: string): string => shown(parseExpression(text))

describe('an expression', () => {
  it.each([
    // What binds closer.
    ['a || b && c', '(or a (and b c))'],
    ['a && b || c && d', '(or (and a b) (and c d))'],
    ['a == b && c', '(and (_==_ a b) c)'],
    ['a + b * c - d', '(_-_ (_+_ a (_*_ b c)) d)'],
    ['a - b - c', '(_-_ (_-_ a b) c)'],
    ['a / b % c', '(_%_ (_/_ a b) c)'],
    ['(a + b) * c', '(_*_ (_+_ a b) c)'],
    ['a < b == c', '(_==_ (_<_ a b) c)'],
    ['a in b', '(_in_ a b)'],
    ['!a.b', '(!_ (.b a))'],
    ['!!a', '(!_ (!_ a))'],
    ['-a', '(-_ a)'],
    ['- -1', '(-_ -1)'],
    ['-1', '-1'],
    ['-1.5', '-1.5d'],
    ['-1u', '(-_ 1u)'],
    ['-1.size()', '(size on -1)'],
    ['!1', '(!_ 1)'],
    ['a ? b : c', '(if a b c)'],
    ['a ? b : c ? d : e', '(if a b (if c d e))'],
    ['a || b ? c : d', '(if (or a b) c d)'],
    // Chains are balanced.
    ['a || b || c', '(or (or a b) c)'],
    ['a || b || c || d', '(or (or a b) (or c d))'],
    ['a && b && c && d && e', '(and (and (and a b) c) (and d e))'],
    // What stands behind a value.
    ['a.b.c', '(.c (.b a))'],
    ['.a', 'a'],
    ['a.b(c, d)', '(b on a c d)'],
    ['a(b, c)', '(a b c)'],
    ['a()', '(a)'],
    ['a(b,)', '(a b)'],
    ['a[0]', '([] a 0)'],
    ['a[?0]', '([]? a 0)'],
    ['a.?b', '(.?b a)'],
    ['a.?b[?c].d', '(.d ([]? (.?b a) c))'],
    ['a.`b.c/d-e f`', '(.b.c/d-e f a)'],
    ['a.true', '(.true a)'],
    ['a.null.false', '(.false (.null a))'],
    ['has(a.b)', '(hasb a)'],
    ['has(a.b.c)', '(hasc (.b a))'],
    // Lists, maps and objects.
    ['[]', '[]'],
    ['[1, 2,]', '[1 2]'],
    ['[?a, b]', '[?a b]'],
    ['[a, ?b]', '[a ?b]'],
    ['[[?a]]', '[[?a]]'],
    ['{}', '{}'],
    ['{1: 2, "a": b,}', '{1:2 "a":b}'],
    ['{?a: b}', '{?a:b}'],
    ['{a: {b: c}}', '{a:{b:c}}'],
    ['A{}', 'A{}'],
    ['A.b{c: 1, ?d: 2,}', 'A.b{c:1 ?d:2}'],
    ['A{b: C{d: 1}}.e', '(.e A{b:C{d:1}})'],
    // Macros.
    ['a.all(b, c)', '(all b in a c)'],
    ['a.exists(b, c)', '(exists b in a c)'],
    ['a.exists_one(b, c)', '(exists_one b in a c)'],
    ['a.existsOne(b, c, d)', '(exists_one b,c in a d)'],
    ['a.existsOne(b, c)', '(existsOne on a b c)'],
    ['a.map(b, c)', '(map b in a c)'],
    ['a.map(b, c, d)', '(map b in a if c d)'],
    ['a.filter(b, c)', '(filter b in a c)'],
    ['a.all(b, c, d)', '(all b,c in a d)'],
    ['a.exists_one(b, c, d)', '(exists_one b,c in a d)'],
    ['a.transformList(b, c, d)', '(transformList b,c in a d)'],
    ['a.transformMap(b, c, d, e)', '(transformMap b,c in a if d e)'],
    ['a.transformMapEntry(b, c, d)', '(transformMapEntry b,c in a d)'],
    ['a.transformList(b, c)', '(transformList on a b c)'],
    ['a.transformList(b, c, d, e, f)', '(transformList on a b c d e f)'],
    ['a.all(b)', '(all on a b)'],
    ['a.all(b, c, d, e)', '(all on a b c d e)'],
    ['a.filter(b, c, d)', '(filter on a b c d)'],
    ['a.map(b)', '(map on a b)'],
    ['a.map(b, c, d, e)', '(map on a b c d e)'],
    ['all(b, c)', '(all b c)'],
    [
      'a.optMap(b, c)',
      '(let @optional a (if (hasValue on @optional) (let b (value on @optional) (optional.of c)) (optional.none)))',
    ],
    [
      'a.optFlatMap(b, c)',
      '(let @optional a (if (hasValue on @optional) (let b (value on @optional) c) (optional.none)))',
    ],
    ['a.optMap(b)', '(optMap on a b)'],
    ['a.optMap(b, c, d)', '(optMap on a b c d)'],
  ])('%s is %s', (text, is) => {
    expect(parsed(text)).toBe(is)
  })

  it.each([
    ['12', '12'],
    ['0', '0'],
    ['0x1F', '31'],
    ['12u', '12u'],
    ['0x1Fu', '31u'],
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['18446744073709551615u', '18446744073709551615u'],
    ['1.5', '1.5d'],
    ['.5', '0.5d'],
    ['1e3', '1000d'],
    ['1.5E-1', '0.15d'],
    ['true', 'true'],
    ['null', 'null'],
    ['"a"', '"a"'],
    ["'a\"b'", '"a\\"b"'],
    ['"""a"b\n"""', '"a\\"b\\n"'],
    ["'''a'''", '"a"'],
    ['""', '""'],
    ['"\\n\\t\\r\\a\\b\\f\\v"', '"\\n\\t\\r\\u0007\\b\\f\\u000b"'],
    ['"\\\\\\"\\\'\\`\\?"', '"\\\\\\"\'`?"'],
    ['"\\x41\\X42\\u0043\\U00000044\\105"', '"ABCDE"'],
    ['"\\U0001F600"', '"😀"'],
    ['"\\U0010FFFF"', '"\u{10ffff}"'],
    ['"\\377"', '"ÿ"'],
    ['r"\\n"', '"\\\\n"'],
    ["R'\\\"'", '"\\\\\\""'],
    ['r"""a\\"""', '"a\\\\"'],
    ['b"abc"', 'b[97,98,99]'],
    ['b"ÿ"', 'b[195,191]'],
    ['b"\\xff\\377\\n"', 'b[255,255,10]'],
    ['B"a\\x01b"', 'b[97,1,98]'],
    ['br"\\n"', 'b[92,110]'],
    ['Rb"\\n"', 'b[92,110]'],
    ['"""a\r\nb\rc"""', '"a\\nb\\nc"'],
    [' a // what it is\n + b', '(_+_ a b)'],
    ['a//', 'a'],
    ['\ta\f\r\n', 'a'],
  ])('the literal %j is %s', (text, is) => {
    expect(parsed(text)).toBe(is)
  })

  it.each([
    ['', "mismatched input '<EOF>'", 0],
    ['a +', "mismatched input '<EOF>'", 3],
    ['a b', "extraneous input 'b'", 2],
    ['(a', "mismatched input '<EOF>'", 2],
    ['a ? b', "mismatched input '<EOF>'", 5],
    ['a ? b : ', "mismatched input '<EOF>'", 8],
    ['a.', "mismatched input '<EOF>'", 2],
    ['a.1', "extraneous input '.1'", 1],
    ['a."b"', `extraneous input '"b"'`, 2],
    ['a[0', "mismatched input '<EOF>'", 3],
    ['[1 2]', "extraneous input '2'", 3],
    ['[1, 2', "mismatched input '<EOF>'", 5],
    ['{1}', "extraneous input '}'", 2],
    ['{1: 2', "mismatched input '<EOF>'", 5],
    ['{1: 2 3: 4}', "extraneous input '3'", 6],
    ['f(a b)', "extraneous input 'b'", 4],
    ['f(a', "mismatched input '<EOF>'", 3],
    ['in', "extraneous input 'in'", 0],
    ['a.b(c){}', "extraneous input '{'", 6],
    ['A{b 1}', "extraneous input '1'", 4],
    ['A{b: 1', "mismatched input '<EOF>'", 6],
    ['A{1: 1}', "extraneous input '1'", 2],
    ['has(a)', 'invalid argument to has() macro', 0],
    ['has(a.b, c)', 'invalid argument to has() macro', 0],
    ['has()', 'invalid argument to has() macro', 0],
    ['a.all(b.c, d)', 'argument must be a simple name', 7],
    ['a.all(b, 1, d)', 'argument must be a simple name', 9],
    ['a.optMap(1, b)', 'argument must be a simple name', 9],
    ['a.all(b, b, d)', 'duplicate variable name: b', 2],
    ['#', "token recognition error at: '#'", 0],
    ['a # b', "token recognition error at: '#'", 2],
    ['"a', `token recognition error at: '"'`, 0],
    ['"a\nb"', `token recognition error at: '"'`, 0],
    ['9223372036854775808', 'invalid int literal', 0],
    ['-9223372036854775809', 'invalid int literal', 1],
    ['18446744073709551616u', 'invalid int literal', 0],
    ['"\\q"', 'unable to unescape string: \\q', 0],
    ['"\\ud800"', 'invalid unicode code point', 0],
    ['"\\udfff"', 'invalid unicode code point', 0],
    ['"\\U00110000"', 'invalid unicode code point', 0],
    ['b"\\u0041"', 'unicode escapes are not allowed in bytes', 0],
    ['b"\\q"', 'unable to unescape string: \\q', 0],
    [`a ${'b'.repeat(60)}`, `extraneous input '${'b'.repeat(50)}'`, 2],
    [' '.repeat(10_001), 'has more than 10000 characters', 0],
  ])('%j is none: %s at %d', (text, message, at) => {
    const found = errorOf(text)
    expect([found?.message.endsWith(message), found?.at]).toEqual([true, at])
  })

  it.each([
    ['parentheses', (count: number) => `${'('.repeat(count)}a${')'.repeat(count)}`, 99],
    ['negations', (count: number) => `${'!'.repeat(count)}a`, 99],
    ['lists', (count: number) => `${'['.repeat(count)}${']'.repeat(count)}`, 100],
    ['choices', (count: number) => `${'a ? b : '.repeat(count)}c`, 99],
    ['sums', (count: number) => `a${' + a'.repeat(count)}`, 200],
    ['fields', (count: number) => `a${'.a'.repeat(count)}`, 200],
    ['characters', (count: number) => `"${'a'.repeat(count - 2)}"`, 10_000],
  ])('has so many %s at most', (_what, make, most) => {
    expect([errorOf(make(most)), errorOf(make(most + 1)) instanceof ExpressionError]).toEqual([undefined, true])
  })

  it('may have many parts side by side', () => {
    expect(errorOf(`a${' && (a)'.repeat(1_000)}`)).toBeUndefined()
    expect(errorOf(`[${'!a, '.repeat(1_000)}]`)).toBeUndefined()
  })

  it('knows the places of its parts', () => {
    expect(shown(parseExpression('a && b.c(d) == -1'), true)).toBe('(and a@0 (_==_ (c on b@5 d@9)@7 -1@16)@12)@17')
    expect(shown(parseExpression('[a][0].f'), true)).toBe('(.f ([] [a@1]@0 0@4)@3)@6')
    expect(shown(parseExpression('a ? {b: c} : D{}'), true)).toBe('(if a@0 {b@5:c@8}@4 D{}@13)@2')
  })
})

it.each([
  ['a', 'a'],
  ['a.b.c', 'a.b.c'],
  ['a.?b', undefined],
  ['a.?b.c', undefined],
  ['has(a.b)', undefined],
  ['a()', undefined],
  ['a().b', undefined],
  ['a[0]', undefined],
])('the dotted name of %s is %s', (text, name) => {
  expect(dottedName(parseExpression(text))).toBe(name)
})

it.each([
  ['a b', 2, 'ERROR: <input>:1:3: no\n | a b\n | ..^'],
  ['a\nb c', 4, 'ERROR: <input>:2:3: no\n | b c\n | ..^'],
  ['a', 1, 'ERROR: <input>:1:2: no\n | a\n | .^'],
  ['x'.repeat(400), 0, `ERROR: <input>:1:1: no\n | ${'x'.repeat(400)}\n | ^`],
  ['x'.repeat(401), 0, 'ERROR: <input>:1:1: no'],
])('an error in %j at %d is shown below its place', (text, at, said) => {
  expect(describeError(text, new ExpressionError('no', at))).toBe(said)
})

function errorOf(text: string): ExpressionError | undefined {
  try {
    parseExpression(text)
    return undefined
  } catch (error) {
    if (error instanceof ExpressionError) return error
    throw error
  }
}
