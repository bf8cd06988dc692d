import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkRules } from '../../../../shared/model/cel/check-rules.ts'
import { CostError, Meter } from '../../../../shared/model/cel/meter.ts'
import { compileExpression } from '../../../../shared/model/cel/program.ts'
import { readDuration, readTimestamp, showDuration, showTimestamp } from '../../../../shared/model/cel/times.ts'
import { validateRules } from '../../../../shared/model/cel/validate-rules.ts'
import { listOf, plain } from '../../../../shared/model/cel/type.ts'
import type { StructuralSchema, ValidationRule } from '../../../../shared/model/schema/structural-schema.ts'
import { share } from '../../../support/strength.ts'

const text: StructuralSchema = { type: 'string' }

function ruled(rule: ValidationRule, properties: StructuralSchema['properties'] = { s: text }): StructuralSchema {
  return { type: 'object', properties, 'x-kubernetes-validations': [rule] }
}

function errorsOf(schema: StructuralSchema): readonly string[] {
  return checkRules(schema, 'schema').map(({ field, message }) => `${field}: ${message}`)
}

describe('the rules of a schema', () => {
  it('are refused with the place of what is wrong', () => {
    const [error] = errorsOf({ type: 'object', properties: { spec: ruled({ rule: 'self.s == 1' }) } })
    expect(error).toContain('schema.properties[spec].x-kubernetes-validations[0].rule: Invalid value')
    expect(error).toContain("ERROR: <input>:1:8: found no matching overload for '_==_' applied to '(string, int)'")
    expect(error).toContain(' | self.s == 1\n | .......^')
  })

  it('know what every object has at the root only', () => {
    const named = ruled({ rule: 'self.metadata.name == ""' })
    expect(errorsOf(named)).toEqual([])
    expect(errorsOf({ type: 'object', properties: { spec: structuredClone(named) } })[0]).toContain(
      "undefined field 'metadata'",
    )
  })

  it('point to no field of an object that may have any', () => {
    const rule = { rule: 'true', fieldPath: '.a' }
    const any: StructuralSchema = { type: 'object', additionalProperties: true, 'x-kubernetes-validations': [rule] }
    expect(errorsOf({ type: 'object', properties: { spec: any } })[0]).toContain('does not refer to a valid field')
    expect(errorsOf({ type: 'object', properties: { spec: { ...any, additionalProperties: text } } })).toEqual([])
  })

  it('need no message: an empty expression for it is none', () => {
    const schema = ruled({ rule: 'self.s == ""', message: '', messageExpression: '' })
    expect(errorsOf(schema)).toEqual([])
    expect(validateRules(schema, { s: 'x' }, { path: 'self' })).toMatchObject([
      { message: expect.stringContaining('failed rule') },
    ])
  })

  it.each<{ readonly rule: ValidationRule; readonly field: string; readonly says: string }>([
    { rule: { rule: 'self ++ 1' }, field: 'rule', says: 'Syntax error' },
    { rule: { rule: 'self.s' }, field: 'rule', says: 'must evaluate to bool' },
    { rule: { rule: 'self.nope' }, field: 'rule', says: "undefined field 'nope'" },
    { rule: { rule: 'self.s.matches("(")' }, field: 'rule', says: 'missing closing )' },
    { rule: { rule: 'true', messageExpression: '1' }, field: 'messageExpression', says: 'must evaluate to string' },
    { rule: { rule: 'true', optionalOldSelf: false }, field: 'optionalOldSelf', says: 'oldSelf is not used in rule' },
    {
      rule: { rule: 'true', messageExpression: 'nope' },
      field: 'messageExpression',
      says: '"nope": messageExpression compilation failed',
    },
    { rule: { rule: 'nope' }, field: 'rule', says: '"nope": compilation failed' },
    { rule: { rule: 'true', fieldPath: '.nope' }, field: 'fieldPath', says: 'does not refer to a valid field' },
    { rule: { rule: `${'('.repeat(200)}true${')'.repeat(200)}` }, field: 'rule', says: 'levels deep' },
    { rule: { rule: `${'1+'.repeat(300)}1 > 0` }, field: 'rule', says: 'too many operators' },
    { rule: { rule: `"${'x'.repeat(10_000)}" != ""` }, field: 'rule', says: 'more than 10000 characters' },
  ])('are refused: $says', ({ rule, field, says }) => {
    const [error] = errorsOf(ruled(rule))
    expect(error).toContain(`schema.x-kubernetes-validations[0].${field}: Invalid value`)
    expect(error).toContain(says)
  })

  it('may have an empty path', () => {
    expect(errorsOf(ruled({ rule: 'true', fieldPath: '' }))).toEqual([])
  })

  it('may speak of what was before only where it can be told', () => {
    const rule = { rule: 'self == oldSelf' }
    const items: StructuralSchema = { ...text, 'x-kubernetes-validations': [rule] }
    expect(errorsOf({ type: 'object', properties: { l: { type: 'array', items } } })[0]).toContain('uncorrelatable')
    const quoted = { ...text, 'x-kubernetes-validations': [{ rule: 'self != "oldSelf"' }] }
    expect(errorsOf({ type: 'object', properties: { l: { type: 'array', items: quoted } } })).toEqual([])
  })

  it('see the fields that every object has', () => {
    const schema = ruled({ rule: "self.metadata.name.startsWith('a') && self.kind == 'X'" })
    const object = { apiVersion: 'v1', kind: 'X', metadata: { name: 'b' }, s: 'x' }
    expect(errorsOf(schema)).toEqual([])
    expect(validateRules(schema, object, { isResource: true })).toHaveLength(1)
    expect(validateRules(schema, { ...object, metadata: { name: 'a' } }, { isResource: true })).toEqual([])
  })

  it('cost nothing where nothing has changed, and hold nothing against it', () => {
    const schema: StructuralSchema = {
      type: 'object',
      properties: { a: ruled({ rule: "self.s == 'good'" }), b: ruled({ rule: "self.s == 'good'" }) },
    }
    const old = { a: { s: 'bad' }, b: { s: 'good' } }
    expect(validateRules(schema, { ...old, b: { s: 'fine' } }, { old }).map(({ field }) => field)).toEqual(['b'])
    expect(validateRules(schema, old).map(({ field }) => field)).toEqual(['a'])
  })
})

describe('a hostile rule or value', () => {
  const list = Array.from({ length: 20_000 }, (_, i) => `item${i}`)
  const long = 'a'.repeat(300_000)
  const properties: StructuralSchema['properties'] = { l: { type: 'array', items: text }, s: text }
  it.each([
    'self.l.all(x, self.l.all(y, self.l.all(z, x != y + z)))',
    'self.l.map(x, self.l.map(y, x + y)).size() > 0',
    'self.s.matches("^(a+)+$")',
    'self.l.all(x, self.s.matches("(a|b)*c" + x) || true)',
    'self.s.split("").map(x, self.s.replace("a", "bb")).size() > 0',
    'self.l.all(x, self.l == self.l.map(y, y))',
    'self.l.transformMap(i, x, self.l.transformList(j, y, x + y)).size() > 0',
    'self.l.all(i, x, self.l.transformMapEntry(j, y, {j: y}).size() > 0)',
    'self.l.all(x, timestamp("2024-01-01T00:00:00Z").getHours("Europe/Berlin") >= 0)',
    'self.l.all(x, "%s%s".format([self.l, x]).size() > 0)',
    'self.l.all(x, self.s.findAll("a").size() > 0)',
    'self.l.all(x, sets.contains(self.l, self.l))',
    'self.l.all(x, self.s.charAt(5) == "a")',
    'self.l.all(x, self.s.size() > 1)',
    'self.l.all(x, bytes(self.s) == bytes(self.s))',
    'self.l.exists(x, self.l.exists(y, 1 / 0 == 1)) || true',
  ])('is cut off: %s', (rule) => {
    const schema = ruled({ rule }, properties)
    expect(errorsOf(schema)).toEqual([])
    const [error] = validateRules(schema, { l: list, s: long })
    expect(error?.message).toContain('take too many steps')
  })

  it('spends steps for all that a list of many items is asked', () => {
    const program = compileExpression('l.all(x, x.size() > 0)', { l: listOf(plain.string) }, ['bool'])
    if ('fault' in program) throw new Error(program.fault)
    const meter = new Meter(1_000)
    expect(program.run([['a', 'b']], meter)).toBe(true)
    expect(meter.left).toBeLessThan(990)
    expect(() => program.run([list], meter)).toThrow(CostError)
  })
})

describe('an expression', () => {
  it('of any characters is compiled or refused, and never anything else', () => {
    const words = [
      'self',
      '.s',
      '.l',
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      ',',
      ':',
      '?',
      '+',
      '-',
      '==',
      '&&',
      '||',
      '!',
      'in',
    ]
    const more = [
      "'x'",
      '1',
      '1.5',
      'null',
      'true',
      'x',
      '.all(x, ',
      '.map(x, ',
      'has(',
      '.size()',
      '[?',
      '.?',
      'oldSelf',
    ]
    const part = fc.oneof(fc.constantFrom(...words, ...more), fc.string({ maxLength: 3 }))
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const schema = ruled({ rule: parts.join(' ') || ' ' }, { s: text, l: { type: 'array', items: text } })
        if (errorsOf(schema).length === 0) validateRules(schema, { s: 'x', l: ['a'] })
      }),
      { numRuns: share(5_000) },
    )
  })

  it('reads the times that it prints', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -62_135_596_800n, max: 253_402_300_799n }), fc.nat(999_999_999), (seconds, ns) => {
        const time = seconds * 1_000_000_000n + BigInt(ns)
        expect(readTimestamp(showTimestamp(time))).toBe(time)
        expect(readDuration(showDuration(time / 100n))).toBe(time / 100n)
      }),
      { numRuns: share(2_000) },
    )
  })
})
