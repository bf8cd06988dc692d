import { ExpressionError } from './expression.ts'

/** The types of CEL, as far as expressions are checked before they run. */
export interface Type {
  readonly kind: TypeKind
  /** Of objects and of what libraries add; of a parameter. */
  readonly name: string
  /** Of a list, an optional and a type: one. Of a map: of its keys and of its values. */
  readonly of: readonly Type[]
  /** Of objects: by their names in expressions. Left out: any, of any type. */
  readonly fields?: ReadonlyMap<string, Type>
}

export type TypeKind =
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'null'
  | 'dyn'
  | 'timestamp'
  | 'duration'
  | 'list'
  | 'map'
  | 'type'
  | 'optional'
  | 'object'
  | 'opaque'
  | 'parameter'

const plainNames = {
  bool: 'bool',
  int: 'int',
  uint: 'uint',
  double: 'double',
  string: 'string',
  bytes: 'bytes',
  null: 'null',
  dyn: 'dyn',
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
} as const

type PlainKind = keyof typeof plainNames

export const plain: Readonly<Record<PlainKind, Type>> = Object.fromEntries(
  Object.entries(plainNames).map(([kind, name]) => [kind, { kind, name, of: [] }]),
) as unknown as Readonly<Record<PlainKind, Type>>

export function listOf(item: Type): Type {
  return { kind: 'list', name: 'list', of: [item] }
}

export function mapOf(key: Type, value: Type): Type {
  return { kind: 'map', name: 'map', of: [key, value] }
}

export function optionalOf(type: Type): Type {
  return { kind: 'optional', name: 'optional_type', of: [type] }
}

export function typeTypeOf(type: Type): Type {
  return { kind: 'type', name: 'type', of: [type] }
}

/** Without fields it has any. */
export function objectOf(name: string, fields?: ReadonlyMap<string, Type>): Type {
  return { kind: 'object', name, of: [], ...(fields && { fields }) }
}

function parameter(name: string): Type {
  return { kind: 'parameter', name, of: [] }
}

function opaque(name: string): Type {
  return { kind: 'opaque', name, of: [] }
}

/**
 * So many types are looked at for all expressions of a definition, a policy or a configuration. A type that holds
 * another one twice is twice as large, and so on: a short expression would have types that nobody comes to the end of.
 */
const looksMax = 500_000

/** What is left of these looks. */
export class TypeBudget {
  #left = looksMax

  /** Throws ExpressionError where there is none. */
  look(): void {
    if (--this.#left < 0)
      throw new ExpressionError('has types that are too large, with those of the expressions before it', 0)
  }

  get isSpent(): boolean {
    return this.#left < 0
  }
}

/** What parameters stand for, while one expression is checked. Throws ExpressionError where types get too large. */
export class Bindings {
  readonly #bound = new Map<string, Type>()
  /** The names of what is bound, in the order of it: nothing is bound twice. */
  readonly #newest: string[] = []
  readonly #budget: TypeBudget
  #made = 0

  constructor(budget: TypeBudget) {
    this.#budget = budget
  }

  fresh(): Type {
    return parameter(`%${this.#made++}`)
  }

  /** The type with other parameters in place of its own. */
  renew(types: readonly Type[]): readonly Type[] {
    const names = new Map<string, Type>()
    const copy = (type: Type): Type => {
      this.#budget.look()
      if (type.kind === 'parameter') {
        const known = names.get(type.name) ?? this.fresh()
        names.set(type.name, known)
        return known
      }
      return type.of.length === 0 ? type : { ...type, of: type.of.map(copy) }
    }
    return types.map(copy)
  }

  /** With all that is known of its parameters; what nothing is known of is dynamic. */
  settle(type: Type): Type {
    this.#budget.look()
    const found = this.find(type)
    if (found.kind === 'parameter') return found
    return found.of.length === 0 ? found : { ...found, of: found.of.map((part) => this.settle(part)) }
  }

  find(type: Type): Type {
    let found = type
    while (found.kind === 'parameter') {
      const next = this.#bound.get(found.name)
      if (next === undefined) return found
      found = next
    }
    return found
  }

  /** Whether both can be one type; parameters are bound on the way. */
  unify(one: Type, other: Type): boolean {
    this.#budget.look()
    const [a, b] = [this.find(one), this.find(other)]
    if (a === b) return true
    if (a.kind === 'parameter') return this.#bind(a, b)
    if (b.kind === 'parameter') return this.#bind(b, a)
    if (a.kind === 'dyn' || b.kind === 'dyn') return true
    if (a.kind === 'null') return holdsNull(b)
    if (b.kind === 'null') return holdsNull(a)
    if (a.kind !== b.kind || a.name !== b.name) return false
    // Two types are values of one type, whatever they are types of.
    if (a.kind === 'type') return true
    return a.of.every((part, i) => this.unify(part, b.of[i] as Type))
  }

  #bind(parameterType: Type, type: Type): boolean {
    if (this.#holds(type, parameterType)) return false
    this.#bound.set(parameterType.name, type)
    this.#newest.push(parameterType.name)
    return true
  }

  #holds(type: Type, inner: Type): boolean {
    this.#budget.look()
    const found = this.find(type)
    return found === inner || found.of.some((part) => this.#holds(part, inner))
  }

  /** Tries something that binds parameters, and forgets it if it fails. */
  attempt(bind: () => boolean): boolean {
    const before = this.#newest.length
    if (bind()) return true
    for (const name of this.#newest.splice(before)) this.#bound.delete(name)
    return false
  }
}

function holdsNull({ kind }: Type): boolean {
  return ['null', 'object', 'opaque', 'timestamp', 'duration', 'optional', 'dyn'].includes(kind)
}

/** As errors name it. */
export function showType({ kind, name, of }: Type): string {
  if (kind === 'parameter') return name.startsWith('%') ? 'dyn' : name
  return of.length === 0 ? name : `${name}(${of.map(showType).join(', ')})`
}

/** A type as signatures write it: `list(A)`, `map(string, int)`, `Quantity`. */
export function parseType(text: string): Type {
  const open = text.indexOf('(')
  const name = open < 0 ? text : text.slice(0, open)
  if (name in plain && open < 0) return plain[name as PlainKind]
  const of = open < 0 ? [] : splitTypes(text.slice(open + 1, -1)).map(parseType)
  if (/^[A-Z]$/.test(name)) return parameter(name)
  const [first = plain.dyn, second = plain.dyn] = of
  if (name === 'list') return listOf(first)
  if (name === 'map') return mapOf(first, second)
  if (name === 'optional') return optionalOf(first)
  if (name === 'type') return typeTypeOf(first)
  return opaque(name)
}

/** Types with commas between. */
export function splitTypes(text: string): readonly string[] {
  const parts: string[] = []
  let depth = 0
  let part = ''
  for (const character of text) {
    if (character === ',' && depth === 0) {
      parts.push(part.trim())
      part = ''
      continue
    }
    if (character === '(') depth++
    if (character === ')') depth--
    part += character
  }
  return part.trim() === '' ? parts : [...parts, part.trim()]
}
