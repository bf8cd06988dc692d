import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import { checkConfigKeys } from '../../../shared/resources/config-keys.ts'

const faultsOf = (next: JsonObject, live?: JsonObject) =>
  checkConfigKeys(next as ApiObject, live as ApiObject | undefined)
const fieldsOf = (next: JsonObject, live?: JsonObject) => faultsOf(next, live).map(({ field }) => field)
const named = (...names: readonly string[]): JsonObject => Object.fromEntries(names.map((name) => [name, 'x']))

describe('the name of an entry', () => {
  it.each([
    ['a', true],
    ['A-b_c.D9', true],
    ['.a', true],
    ['-', true],
    ['x'.repeat(253), true],
    ['x'.repeat(254), false],
    ['.', false],
    ['..', false],
    ['..a', false],
    ['a..', true],
    ['a/b', false],
    ['a b', false],
    ['ä', false],
    ['', false],
  ])('may be %j: %s', (name, isValid) => {
    expect(fieldsOf({ data: named(name) })).toEqual(isValid ? [] : [`data[${name}]`])
    expect(fieldsOf({ binaryData: named(name) })).toEqual(isValid ? [] : [`binaryData[${name}]`])
  })

  it('is told in full up to three hundred characters', () => {
    const [fault] = faultsOf({ data: named(`/${'x'.repeat(400)}`) })
    const shown = `/${'x'.repeat(299)}`
    expect(fault).toMatchObject({ field: `data[${shown}]`, message: expect.stringContaining(`"${shown}"`) })
  })

  it('is reported for a hundred entries at most', () => {
    const many = named(...Array.from({ length: 101 }, (_, i) => `/${i}`))
    expect(fieldsOf({ data: many })).toHaveLength(100)
  })

  it.each<[JsonObject, readonly string[]]>([
    [{ data: named('/a') }, ['data[/b]']],
    [{ binaryData: named('/a') }, ['data[/a]', 'data[/b]']],
    [{ data: 'x' }, ['data[/a]', 'data[/b]']],
  ])('stays if it was there: %j', (live, fields) => {
    expect(fieldsOf({ data: named('/a', '/b') }, live)).toEqual(fields)
  })

  it('is not looked at in what stays the same', () => {
    const data = named('/a')
    expect(fieldsOf({ data }, { data })).toEqual([])
  })
})

describe('entries of data and binaryData', () => {
  it.each<[Json, Json, readonly string[]]>([
    [named('a', 'b'), named('b', 'c'), ['binaryData[b]']],
    [named('a'), named('b'), []],
    [named('a'), 'x', []],
    ['x', named('a'), []],
    [null, null, []],
    [named('/a', 'b'), named('/a', 'b'), ['data[/a]', 'binaryData[/a]', 'binaryData[/a]', 'binaryData[b]']],
  ])('%j and %j have no name in common', (data, binaryData, fields) => {
    expect(fieldsOf({ data, binaryData })).toEqual(fields)
  })
})
