import { createHash } from 'node:crypto'
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Account } from './account.ts'
import { adaptations, type Template } from './adaptations.ts'

/** A copy of what CDK synthesized, with a template that the account takes: AWS itself takes it as it is. */
export function adaptAssembly(
  { ministack }: Pick<Account, 'ministack'>,
  [synthesized, directory]: readonly [from: string, to: string],
  last = (template: Template) => template,
): string {
  cpSync(synthesized, directory, { recursive: true })
  const file = only(globSync(join(directory, '*.template.json')))
  const needed = ministack === undefined ? [] : adaptations
  const template = needed.reduce((one, { adapt }) => adapt(one), readJson(file) as Template)
  const text = JSON.stringify(last(template))
  writeFileSync(file, text)
  rename(directory, createHash('sha256').update(text).digest('hex'))
  return directory
}

/** The template is an asset, too: under the name that it had, a bucket would keep what it has. */
function rename(directory: string, hash: string): void {
  const assets = only(globSync(join(directory, '*.assets.json')))
  const { files } = readJson(assets) as { readonly files: Readonly<Record<string, { source: { path: string } }>> }
  const [old = ''] = Object.entries(files).find(([, { source }]) => source.path.endsWith('.template.json')) ?? []
  for (const file of [assets, join(directory, 'manifest.json')])
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(old, hash))
}

function only(files: readonly string[]): string {
  const [file] = files
  if (file === undefined || files.length > 1) throw new Error(`not one file, but ${files.length}: ${files.join(', ')}`)
  return file
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'))
}
