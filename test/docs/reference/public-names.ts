import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { root, sourceFile, type SourceFile, type SyntaxNode } from '../../architecture/source.ts'

/** What a package exports under one name: what is said of it, and how it is declared. */
export interface PublicName {
  readonly name: string
  readonly comment: string
  readonly declaration: string
}

/** Every name that a module exports, in its order. */
export function publicNamesOf(path: string): readonly PublicName[] {
  const file = read(path)
  const statements = file.program['body'] as readonly SyntaxNode[]
  return statements.flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration') return []
    if (statement['declaration'] !== null) return declaredIn(file, statement)
    const from = (statement['source'] as { readonly value: string } | null)?.value
    if (from === undefined) throw new Error(`${path} exports what it has imported`)
    const names = (statement['specifiers'] as readonly SyntaxNode[]).map((one) => nameOf(one['local']))
    const found = publicNamesOf(posix.join(posix.dirname(path), from))
    return names.flatMap((name) => found.filter((one) => one.name === name))
  })
}

function read(path: string): SourceFile {
  return sourceFile(path, readFileSync(posix.join(root, path), 'utf8'))
}

function declaredIn(file: SourceFile, statement: SyntaxNode): readonly PublicName[] {
  const declaration = statement['declaration'] as SyntaxNode
  const comment = commentBefore(file, statement.start)
  if (declaration.type !== 'VariableDeclaration') {
    const name = nameOf(declaration['id'])
    return [{ name, comment, declaration: file.text.slice(declaration.start, endOfHead(declaration)).trim() }]
  }
  const [declarator] = declaration['declarations'] as readonly SyntaxNode[]
  const id = declarator?.['id'] as SyntaxNode
  return [{ name: nameOf(id), comment, declaration: `const ${file.text.slice(id.start, id.end)}` }]
}

/** Of functions and classes the body is nobody's business. */
function endOfHead(declaration: SyntaxNode): number {
  const body = declaration['body'] as SyntaxNode | undefined
  return body !== undefined && body.type !== 'TSInterfaceBody' ? body.start : declaration.end
}

function nameOf(node: unknown): string {
  return (node as { readonly name: string }).name
}

/** The comment that ends right before a place, without its stars. */
function commentBefore({ text, comments }: SourceFile, start: number): string {
  const last = comments.findLast((comment) => comment.start < start)
  if (last === undefined || !last.value.startsWith('*')) return ''
  const between = text.slice(last.start + last.value.length + 4, start)
  if (between.trim() !== '') return ''
  const lines = last.value.slice(1).split('\n')
  return lines
    .map((line) => line.replace(/^\s*\* ?/, '').trim())
    .join('\n')
    .trim()
}
