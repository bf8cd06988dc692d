import { describe, expect, it } from 'vitest'
import { viewsOf } from '../../../../shared/engine/insight/decoded-views.ts'

const textsOf = (text: string, shortest = 6): readonly string[] => [...viewsOf(text, shortest)].map((view) => view.text)

const base64 = (text: string): string => Buffer.from(text, 'latin1').toString('base64')
const hex = (text: string): string => Buffer.from(text, 'latin1').toString('hex')

/** So often encoded in turn. */
function encode(text: string, times: number): string {
  return times === 0 ? text : encode(encodeURIComponent(text), times - 1)
}

describe('a text that is decoded', () => {
  it.each([
    ['percents', 'pass%20word', 'pass word'],
    ['backslashes', String.raw`pass\u0020word`, 'pass word'],
    ['backslashes before a byte', String.raw`pass\x20word`, 'pass word'],
    ['backslashes before what is itself', String.raw`pass\"word`, 'pass"word'],
    ['backslashes before a zero', String.raw`pass\0word`, 'pass\0word'],
    ['backslashes before white space', String.raw`\b\f\n\r\t\v`, '\b\f\n\r\t\v'],
    ['entities', 'pass&amp;&lt;&gt;&quot;&apos;word', `pass&<>"'word`],
    ['entities by number', 'pass&#32;&#x20;word', 'pass  word'],
    ['the last character there is', 'pass&#1114111;word', 'pass\u{10ffff}word'],
    ['a character that there is not', 'pass&#1114112;&#9999999;word', 'password'],
    ['hex', hex('secret'), 'secret'],
    ['hex with marks between', '73:65:63:72:65:74', 'secret'],
    ['hex from its second digit on', `f${hex('secrets')}`, 'secrets'],
    ['base64', base64('secret'), 'secret'],
    ['base64 in the alphabet of URLs', base64('secret??>>').replaceAll('/', '_').replaceAll('+', '-'), 'secret??>>'],
    ['base64 in lines', `${base64('secret')}\r\n${base64('secret')}`, 'secretsecret'],
  ])('by %s', (_, text, decoded) => {
    expect(textsOf(text)).toContain(decoded)
  })

  it('three times is read, and no more often', () => {
    const value = 'pass/word%'
    expect([1, 2, 3, 4].map((times) => textsOf(encode(value, times)).includes(value))).toEqual([
      true,
      true,
      true,
      false,
    ])
  })

  it.each([
    ['hex of six', hex('secret'), 6, true],
    ['hex of six', hex('secret'), 7, false],
    ['hex of five', hex('hello'), 5, false],
    ['hex of five and a half', `${hex('hello')}6`, 5, false],
    ['base64 of six', base64('secret'), 6, true],
    ['base64 of six', base64('secret'), 7, false],
    ['base64 of five', base64('hello').slice(0, 7), 5, false],
  ])('%s: %s is looked into for %d characters: %s', (_, text, shortest, isRead) => {
    expect(textsOf(text, shortest).some((one) => /hello|secret/.test(one))).toBe(isRead)
  })

  it('is told once, in whatever order its escapes are decoded', () => {
    const texts = textsOf(String.raw`a%20b\u0041c&amp;`)
    expect(texts).toContain('a bAc&')
    expect(new Set(texts).size).toBe(texts.length)
  })

  it('is told at each of its places, of bytes', () => {
    const places = [...viewsOf(`${base64('secret')} ${base64('secret')}`, 6)].filter(({ text }) => text === 'secret')
    expect(places.map(({ rangeOf }) => rangeOf(0, 6))).toEqual([
      { from: 0, to: 8 },
      { from: 9, to: 17 },
    ])
  })

  it('says no more where its bytes are no text', () => {
    const inside = 'pass%20word'
    expect(textsOf(base64(inside))).toContain('pass word')
    for (const control of ['\0', '\x08', '\x0e', '\x1f', '\x7f'])
      expect(textsOf(base64(`${control}${inside}`))).not.toContain(`${control}pass word`)
    for (const space of ['\t', '\n', '\r', ' '])
      expect(textsOf(base64(`${space}${inside}`))).toContain(`${space}pass word`)
    // Escapes are no bytes: what they stand for is read whatever it is.
    expect(textsOf(String.raw`\0pass%20word`)).toContain('\0pass word')
  })

  it('that says nothing else has no views', () => {
    for (const text of ['', 'plain', '100% sure', String.raw`at the end \ `.trimEnd(), 'a & b'])
      expect(textsOf(text)).toEqual([])
  })
})
