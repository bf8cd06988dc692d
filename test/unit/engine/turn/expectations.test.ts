import { describe, expect, it } from 'vitest'
import { Expectations } from '../../../../shared/engine/turn/expectations.ts'

/** What a run may expect. */

const asTold = (name: string): string => name
const of = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`e${i}`, i]))

describe('expectations', () => {
  it('are those that were stored, and those that are set', () => {
    const expectations = new Expectations({ before: 5 }, asTold)
    expect(expectations.set('now', 0)).toBe(expectations)
    expectations.delete('before')
    expect([...expectations]).toEqual([['now', 0]])
  })

  it.each([
    [63, 'new', true],
    [64, 'new', false],
    [64, 'e0', true],
    // More than may be set, from an earlier version.
    [65, 'e0', true],
  ])('are 64 at most: with %d, %s is set: %j', (count, name, is) => {
    const set = (): unknown => new Expectations(of(count), asTold).set(name, 1)
    if (is) expect(set).not.toThrow()
    else expect(set).toThrow('an object has 64 at most, with names of 256 characters')
  })

  it.each([
    [256, true],
    [257, false],
  ])('have names of 256 characters at most: %d: %j', (length, is) => {
    const set = (): unknown => new Expectations({}, asTold).set('x'.repeat(length), 1)
    if (is) expect(set).not.toThrow()
    else expect(set).toThrow('an object has 64 at most')
  })

  it.each<[unknown, boolean]>([
    [0, true],
    [8.64e15, true],
    [8.64e15 + 1, false],
    [-1, false],
    [Number.NaN, false],
    [Infinity, false],
    ['5', false],
    [new Date(5), false],
  ])('are times that JSON holds: %j: %j', (untilMs, is) => {
    const set = (): unknown => new Expectations({}, asTold).set('e', untilMs as number)
    if (is) expect(set).not.toThrow()
    else expect(set).toThrow('give milliseconds since the epoch')
  })

  it('have no name that holds a value of a Secret', () => {
    const expectations = new Expectations({}, (name) => name.replace('hunter2', 'Masked'))
    expect(() => expectations.set('login-hunter2', 1)).toThrow('holds a value of a Secret')
    expect(expectations.set('login', 1).size).toBe(1)
  })
})
