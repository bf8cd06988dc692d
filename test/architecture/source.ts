/** The project's own source as the tests of its architecture read it: files, syntax trees, imports. */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'oxc-parser'

/** The root of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

/** The folders with source in them. */
const sourceFolders = ['shared', 'functions', 'infra', 'examples', 'test'] as const

export interface SourceFile {
  /** Relative to the root, with forward slashes. */
  readonly path: string
  readonly text: string
  readonly program: SyntaxNode
  readonly comments: readonly Comment[]
}

export interface Comment {
  /** Without its slashes and stars. */
  readonly value: string
  readonly start: number
}

/** A node of the ESTree syntax tree; what else it has depends on its type. */
export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

/** Every TypeScript file of these folders, in order of path. */
export function sourceFiles(folders: readonly string[] = sourceFolders): readonly SourceFile[] {
  const patterns = folders.map((folder) => `${folder}/**/*.{ts,tsx}`)
  const paths = globSync(patterns, { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] })
  return paths.toSorted().map((path) => sourceFile(path, readFileSync(`${root}/${path}`, 'utf8')))
}

/** Throws, naming the file, if it does not parse. */
export function sourceFile(path: string, text: string): SourceFile {
  const { program, comments, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.codeframe ?? ''}`)
  return { path, text, program: program as unknown as SyntaxNode, comments }
}

/** The node and everything below it, in order of the text. A second call gives the same list. */
export function nodesOf(node: SyntaxNode): readonly SyntaxNode[] {
  const known = listed.get(node)
  if (known !== undefined) return known
  const nodes: SyntaxNode[] = []
  collect(node, nodes)
  listed.set(node, nodes)
  return nodes
}

const listed = new WeakMap<SyntaxNode, SyntaxNode[]>()

function collect(node: SyntaxNode, nodes: SyntaxNode[]): void {
  nodes.push(node)
  for (const child of childrenOf(node)) collect(child, nodes)
}

/** The nodes right below. */
export function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  const children: SyntaxNode[] = []
  for (const name in node) {
    const value = node[name]
    if (Array.isArray(value)) children.push(...value.filter(isNode))
    else if (isNode(value)) children.push(value)
  }
  return children
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** The modules a file names, in every form of import and export; `undefined` where the name is no plain string. */
export function importsOf(file: SourceFile): readonly (string | undefined)[] {
  return [...nodesOf(file.program)].filter(namesModule).map((node) => stringOf(node['source'] ?? node['expression']))
}

function namesModule(node: SyntaxNode): boolean {
  return node.type === 'TSExternalModuleReference' || isNode(node['source'])
}

function stringOf(node: unknown): string | undefined {
  const value = isNode(node) && node.type === 'Literal' ? node['value'] : undefined
  return typeof value === 'string' ? value : undefined
}

/** `path:line`, as editors and terminals link it. */
export function placeOf(file: SourceFile, offset: number): string {
  return `${file.path}:${lineAt(file, offset)}`
}

/** The number of lines a node stands on. */
export function linesOf(file: SourceFile, node: SyntaxNode): number {
  return lineAt(file, node.end) - lineAt(file, node.start) + 1
}

function lineAt(file: SourceFile, offset: number): number {
  return file.text.slice(0, offset).split('\n').length
}

export function isFunction({ type }: SyntaxNode): boolean {
  return /^(Arrow)?Function(Declaration|Expression)$/.test(type)
}
