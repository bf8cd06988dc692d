import { ExpressionError } from './expression.ts'

/** Escapes in the texts and bytes of CEL. */

const escape = /\\(?:x([0-9a-fA-F]{2})|X([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([^]))/g

const characters: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '?': '?',
  '"': '"',
  "'": "'",
  '`': '`',
}

export function unescapeText(text: string, at: number): string {
  return text.replace(escape, (...found: readonly (string | undefined)[]) => {
    const [, x, X, u, U, octal, plain = ''] = found
    const hex = x ?? X ?? u ?? U
    if (hex !== undefined) return codePoint(parseInt(hex, 16), at)
    return octal === undefined ? plainCharacter(plain, at) : codePoint(parseInt(octal, 8), at)
  })
}

function plainCharacter(plain: string, at: number): string {
  const character = characters[plain]
  if (character === undefined) throw new ExpressionError(`Syntax error: unable to unescape string: \\${plain}`, at)
  return character
}

function codePoint(code: number, at: number): string {
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
    throw new ExpressionError('Syntax error: invalid unicode code point', at)
  return String.fromCodePoint(code)
}

/** In bytes, `\x` and octal numbers are bytes, and not code points. */
export function unescapeBytes(text: string, at: number): Uint8Array {
  const encoder = new TextEncoder()
  const bytes: number[] = []
  let end = 0
  for (const found of text.matchAll(escape)) {
    bytes.push(...encoder.encode(text.slice(end, found.index)))
    end = found.index + found[0].length
    const [, x, X, u, U, octal, plain = ''] = found
    if (u !== undefined || U !== undefined)
      throw new ExpressionError('Syntax error: unicode escapes are not allowed in bytes', at)
    const hex = x ?? X
    if (hex !== undefined) bytes.push(parseInt(hex, 16))
    else if (octal !== undefined) bytes.push(parseInt(octal, 8))
    else bytes.push(...encoder.encode(plainCharacter(plain, at)))
  }
  return new Uint8Array([...bytes, ...encoder.encode(text.slice(end))])
}
