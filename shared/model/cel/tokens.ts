import { ExpressionError } from './expression.ts'
import { unescapeBytes, unescapeText } from './escapes.ts'
import { Uint } from './value.ts'

/** The words of CEL. */
export type Token =
  | { readonly kind: 'name' | 'sign' | 'end'; readonly text: string; readonly at: number }
  | { readonly kind: 'value'; readonly text: string; readonly at: number; readonly value: TokenValue }

type TokenValue = string | number | bigint | boolean | null | Uint8Array | Uint

const space = /(?:[ \t\n\r\f]|\/\/[^\n]*)*/y
const number = /0x[0-9a-fA-F]+[uU]?|(?:\d+\.\d+(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+[uU]?)/y
const text =
  /([rRbB]{0,2})("""(?:[^\\]|\\[^])*?"""|'''(?:[^\\]|\\[^])*?'''|"(?:[^"\\\n\r]|\\[^\n\r])*"|'(?:[^'\\\n\r]|\\[^\n\r])*')/y
const rawText = /([rR][bB]?|[bB][rR])("""[^]*?"""|'''[^]*?'''|"[^"\n\r]*"|'[^'\n\r]*')/y
const name = /[a-zA-Z_][a-zA-Z0-9_]*|`[a-zA-Z0-9_.\-/ ]+`/y
const sign = /==|!=|<=|>=|&&|\|\||\.\?|\[\?|[-+*/%<>=!?:.,()[\]{}]/y

/** All words of a text, and its end. Throws ExpressionError. */
export function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = []
  let at = 0
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    return pattern.exec(source)
  }
  for (;;) {
    at += match(space)?.[0].length ?? 0
    if (at >= source.length) return [...tokens, { kind: 'end', text: '<EOF>', at }]
    const token = textToken(match(rawText) ?? match(text), at) ?? numberToken(match(number), at) ?? wordToken(match, at)
    if (token === undefined)
      throw new ExpressionError(`Syntax error: token recognition error at: '${source[at] ?? ''}'`, at)
    tokens.push(token)
    at += token.text.length
  }
}

function wordToken(match: (pattern: RegExp) => RegExpExecArray | null, at: number): Token | undefined {
  const word = match(name)?.[0]
  if (word !== undefined) {
    if (literals.has(word)) return { kind: 'value', text: word, at, value: literals.get(word) ?? null }
    return { kind: 'name', text: word, at }
  }
  const found = match(sign)?.[0]
  return found === undefined ? undefined : { kind: 'sign', text: found, at }
}

const literals: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
])

function numberToken(found: RegExpExecArray | null, at: number): Token | undefined {
  if (found === null) return undefined
  const [digits] = found
  const isUint = /[uU]$/.test(digits)
  if (isUint) return { kind: 'value', text: digits, at, value: new Uint(BigInt(digits.slice(0, -1))) }
  const isWhole = /^(?:0x[0-9a-fA-F]+|\d+)$/.test(digits)
  return { kind: 'value', text: digits, at, value: isWhole ? BigInt(digits) : Number(digits) }
}

function textToken(found: RegExpExecArray | null, at: number): Token | undefined {
  if (found === null) return undefined
  const [whole, prefix = '', quoted = ''] = found
  const width = quoted.startsWith('"""') || quoted.startsWith("'''") ? 3 : 1
  const inner = quoted.slice(width, -width).replace(/\r\n?/g, '\n')
  const isRaw = /r/i.test(prefix)
  if (/b/i.test(prefix))
    return { kind: 'value', text: whole, at, value: isRaw ? new TextEncoder().encode(inner) : unescapeBytes(inner, at) }
  return { kind: 'value', text: whole, at, value: isRaw ? inner : unescapeText(inner, at) }
}
