import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readNames } from '../../functions/reconcilers/new/names.ts'

/** What the documents show is what is run: every block of TypeScript stands, line by line, in a file that the tests run. */

const documents = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  ...globSync('{docs,shared,functions,infra,test}/**/*.md'),
].filter((file) => existsSync(file))
const sources = globSync('{examples,functions,shared}/**/*.{ts,yaml}').map((file) => readFileSync(file, 'utf8'))

function blocks(document: string, language: string): readonly string[] {
  const text = readFileSync(document, 'utf8')
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map((match) => match[1] ?? '')
}

/** Paths of the repository that a shell line or a link names. */
function pathsIn(document: string): readonly string[] {
  const text = readFileSync(document, 'utf8')
  const inShell = [...text.matchAll(/(?:-f|node) ((?:examples|test|functions)\/[\w./-]+)/g)].map(
    (match) => match[1] ?? '',
  )
  const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((match) => join(dirname(document), match[1] ?? ''))
  return [...inShell, ...links]
}

/** Examples that a reader of the document has from `npm run new`. */
function writtenBy(document: string): readonly string[] {
  const runs = readFileSync(document, 'utf8').matchAll(/npm run new -- ([\w.]+\/\w+\/\w+)/g)
  return [...runs].map(([, kind = '']) => `examples/${readNames([kind]).file}.yaml`)
}

describe.each(documents)('%s', (document) => {
  it('shows code that is run', () => {
    for (const language of ['ts', 'yaml']) {
      for (const block of blocks(document, language)) {
        expect(
          sources.some((source) => source.includes(block)),
          `not in any file of examples/:\n${block}`,
        ).toBe(true)
      }
    }
  })

  it('names files that are there', () => {
    const written = writtenBy(document)
    expect(pathsIn(document).filter((path) => !existsSync(path) && !written.includes(path))).toEqual([])
  })
})
