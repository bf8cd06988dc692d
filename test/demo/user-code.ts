import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { root } from '../support/control-plane-process.ts'

/** How much a user writes: lines that are neither blank nor comment, schema and imports apart. */
export interface UserCode {
  /** `konnect/service.ts` */
  readonly file: string
  readonly lines: number
}

/** The file of each reconciler: what makes the world match one kind. */
export function reconcilerFiles(): readonly UserCode[] {
  const files = globSync('functions/reconcilers/*/*.ts', { cwd: root }).sort()
  return files
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
    .filter(({ path, text }) => /\bdefine(Reconciler|External)\(/.test(text) && basename(path) !== 'templates.ts')
    .map(({ path, text }) => ({ file: `${basename(dirname(path))}/${basename(path)}`, lines: linesOf(text) }))
}

function linesOf(text: string): number {
  const withoutComments = text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '')
  const withoutImports = withoutComments.replaceAll(/^import [\s\S]*?from '[^']+'$/gm, '')
  return withoutImports.split('\n').filter((line) => line.trim() !== '').length
}
