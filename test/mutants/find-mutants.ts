import { sourceFile, childrenOf, isFunction, type SyntaxNode } from '../architecture/source.ts'

/** A small change of a program that its tests have to notice. */
export interface Mutant {
  /** Relative to the root. */
  readonly path: string
  /** From 1. */
  readonly line: number
  readonly start: number
  readonly end: number
  readonly original: string
  readonly replacement: string
  /** The expression around it, and what stands in its place. */
  readonly site: Site
  readonly variant: string
  /** It stands in no function: its module runs it when it is loaded, and never again. */
  readonly isAtLoad: boolean
}

export interface Site {
  readonly start: number
  readonly end: number
  /** A number that names a property: an expression has to stand in brackets there. */
  readonly isKey: boolean
}

/** Every mutant of a file, in the order of its text. */
export function findMutants(path: string, text: string): readonly Mutant[] {
  const { program } = sourceFile(path, text)
  const keys = new Set<SyntaxNode>()
  const leftOut = new Set<SyntaxNode>()
  const mutants: Mutant[] = []
  for (const { node, isAtLoad } of runningNodesOf(program)) {
    if (node.type === 'Property' && node['computed'] !== true) keys.add(node['key'] as SyntaxNode)
    for (const literal of [...signsIn(node), ...marksIn(node)]) leftOut.add(literal)
    if (leftOut.has(node)) continue
    for (const { start, end, replacement, site, variant } of changesOf(node, text)) {
      const line = text.slice(0, start).split('\n').length
      const original = text.slice(start, end)
      const place = { start: site.start, end: site.end, isKey: keys.has(node) }
      mutants.push({ path, line, start, end, original, replacement, site: place, variant, isAtLoad })
    }
  }
  return mutants.toSorted((a, b) => a.start - b.start || a.end - b.end)
}

interface Running {
  readonly node: SyntaxNode
  readonly isAtLoad: boolean
}

/** The nodes that do something when the program runs: no types. */
function* runningNodesOf(node: SyntaxNode, isAtLoad = true): Generator<Running> {
  if (isType(node)) return
  yield { node, isAtLoad }
  const isWithin = isAtLoad && !isRunLater(node)
  for (const child of childrenOf(node)) yield* runningNodesOf(child, isWithin)
}

/** A function, or a field of objects that a class makes. */
function isRunLater(node: SyntaxNode): boolean {
  return isFunction(node) || (node.type === 'PropertyDefinition' && node['static'] !== true)
}

function isType({ type }: SyntaxNode): boolean {
  return type.startsWith('TS') && !expressionsOfTypeScript.has(type)
}

const expressionsOfTypeScript: ReadonlySet<string> = new Set([
  'TSAsExpression',
  'TSNonNullExpression',
  'TSSatisfiesExpression',
])

/** The text with the mutant in it. */
export function applyMutant({ site, variant }: Mutant, text: string): string {
  return text.slice(0, site.start) + variant + text.slice(site.end)
}

interface Change {
  readonly start: number
  readonly end: number
  readonly replacement: string
  readonly site: SyntaxNode
  readonly variant: string
}

function changesOf(node: SyntaxNode, text: string): readonly Change[] {
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
      return changeOperator(node, text)
    case 'IfStatement':
    case 'ConditionalExpression':
      return [whole(node['test'] as SyntaxNode, 'true'), whole(node['test'] as SyntaxNode, 'false')]
    case 'UnaryExpression':
      return node['operator'] === '!' ? [whole(node, sourceOf(node['argument'] as SyntaxNode, text))] : []
    case 'Literal':
      return changeLiteral(node)
    case 'ExpressionStatement':
      return isCall(node['expression'] as SyntaxNode) ? [whole(node['expression'] as SyntaxNode, 'void 0')] : []
    default:
      return []
  }
}

/** An operator and what it is mistaken for. */
const operators: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
}

function changeOperator(node: SyntaxNode, text: string): readonly Change[] {
  const left = node['left'] as SyntaxNode
  const right = node['right'] as SyntaxNode
  const operator = node['operator'] as string
  const at = text.indexOf(operator, left.end)
  if (at < 0 || at >= right.start || isText(left) || isText(right)) return []
  return (operators[operator] ?? []).map((replacement) => ({
    start: at,
    end: at + operator.length,
    replacement,
    site: node,
    variant: `((${sourceOf(left, text)}) ${replacement} (${sourceOf(right, text)}))`,
  }))
}

/** A sum of texts has no other operator. */
function isText(node: SyntaxNode): boolean {
  return node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node['value'] === 'string')
}

/** The ones of `sort((a, b) => (a < b ? -1 : 1))`, which is asked for a sign: with a two it is the same program. */
function signsIn(node: SyntaxNode): readonly SyntaxNode[] {
  if (node.type !== 'CallExpression') return []
  const { property } = node['callee'] as { readonly property?: { readonly name?: string } }
  const [order] = node['arguments'] as SyntaxNode[]
  if (property?.name !== 'sort' && property?.name !== 'toSorted') return []
  const body = order?.['body'] as SyntaxNode | undefined
  const { consequent, alternate } = (body?.['expression'] ?? body ?? {}) as Readonly<
    Record<string, SyntaxNode | undefined>
  >
  const ends = [consequent, alternate].map((end) => (end && isMinus(end) ? (end['argument'] as SyntaxNode) : end))
  return ends.filter((end): end is SyntaxNode => end?.['value'] === 1)
}

/** The values of a set of names, `{ spec: true, status: true, … }`, which nobody reads: their type is `true`. */
function marksIn(node: SyntaxNode): readonly SyntaxNode[] {
  if (node.type !== 'ObjectExpression') return []
  const values = (node['properties'] as SyntaxNode[]).map((property) => property['value'] as SyntaxNode | undefined)
  const marks = values.filter((value): value is SyntaxNode => value?.['value'] === true)
  return values.length >= fewestNames && marks.length === values.length ? marks : []
}

/** Fewer that are all true are rather flags. */
const fewestNames = 4

function isMinus({ type, operator }: SyntaxNode): boolean {
  return type === 'UnaryExpression' && operator === '-'
}

/** From here on a number is a time, a size or a count, of which one more or less is nobody's promise. */
const muchFrom = 1_000

/** Texts are for people or for tests of their own; a number or a flag decides. */
function changeLiteral(node: SyntaxNode): readonly Change[] {
  const { value } = node
  if (typeof value === 'boolean') return [whole(node, String(!value))]
  return typeof value === 'number' ? [whole(node, String(value < muchFrom ? value + 1 : value * 2))] : []
}

function isCall(node: SyntaxNode): boolean {
  const called = node.type === 'AwaitExpression' ? (node['argument'] as SyntaxNode) : node
  return called.type === 'CallExpression'
}

function whole(site: SyntaxNode, replacement: string): Change {
  return { start: site.start, end: site.end, replacement, site, variant: replacement }
}

function sourceOf({ start, end }: SyntaxNode, text: string): string {
  return text.slice(start, end)
}
