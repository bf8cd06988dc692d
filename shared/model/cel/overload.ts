import type { Meter } from './meter.ts'
import { kindOf } from './equality.ts'
import { parseType, splitTypes, type Type } from './type.ts'
import { Opaque, type Result, type Value } from './value.ts'

/** One way to call a function. */
export interface Overload {
  readonly name: string
  /** It is called on a value: `value.name(x)`. */
  readonly isMember: boolean
  /** The value it is called on is the first. */
  readonly takes: readonly Type[]
  readonly gives: Type
  readonly run: Run
}

export type Run = (args: readonly Value[], meter: Meter) => Result

/**
 * Functions by their signatures: `size(string) int`, `string.startsWith(string) bool`, `_+_(int, int) int`. Types with
 * one letter stand for any type, the same wherever the letter stands.
 */
export type Functions = Readonly<Record<string, Run>>

export type OverloadsByName = ReadonlyMap<string, readonly Overload[]>

export function overloadsOf(tables: readonly Functions[]): OverloadsByName {
  const all = tables.flatMap((table) =>
    Object.entries(table).map(([signature, run]): Overload => ({ ...parseSignature(signature), run })),
  )
  return Map.groupBy(all, ({ name }) => name)
}

function parseSignature(signature: string): Omit<Overload, 'run'> {
  const open = callAt(signature)
  const close = signature.lastIndexOf(') ')
  const head = signature.slice(0, open)
  const dot = head.lastIndexOf('.')
  const isMember = dot > 0 && !namespaces.includes(head.slice(0, dot))
  const args = splitTypes(signature.slice(open + 1, close)).map(parseType)
  return {
    name: isMember ? head.slice(dot + 1) : head,
    isMember,
    takes: isMember ? [parseType(head.slice(0, dot)), ...args] : args,
    gives: parseType(signature.slice(close + 2)),
  }
}

/** Names that functions stand behind, and that are no types. */
const namespaces: readonly string[] = ['optional', 'ip', 'strings', 'sets', 'format', 'jsonpatch']

/** Where the list of arguments opens: behind the dot, if there is one, since types have parentheses, too. */
function callAt(signature: string): number {
  const member = /^[^.]*\)\.\w+\(/.exec(signature) ?? /^[\w@!<>=+\-*/%[\]?.]+\(/.exec(signature)
  return (member?.[0].length ?? 1) - 1
}

/** Whether a value can be what a parameter of an overload asks for, as far as the value itself says. */
export function accepts(type: Type, value: Value): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'parameter':
      return true
    case 'object':
      return kindOf(value) === 'map'
    case 'list':
      return Array.isArray(value) && acceptsItems(type.of[0], value as readonly Value[])
    case 'opaque':
      return value instanceof Opaque && value.type === type.name
    default:
      return kindOf(value) === type.kind
  }
}

/** What is known as a list of anything, or of what may be null, is one of a type only if each item is of that type. */
function acceptsItems(type: Type | undefined, items: readonly Value[]): boolean {
  if (type === undefined || type.kind === 'dyn' || type.kind === 'parameter') return true
  return items.every((item) => accepts(type, item))
}

/** What a call of a text costs beyond the call itself. */
export function spendText(meter: Meter, ...texts: readonly string[]): void {
  for (const text of texts) meter.spend(text.length >> 3)
}
