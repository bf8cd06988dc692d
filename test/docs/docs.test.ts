import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readNames } from '../../functions/reconcilers/new/names.ts'

/**
 * What the documents show is what is run: every block of TypeScript stands, line by line, in a file that the tests run.
 */

const documents = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'llms.txt',
  'examples/README.md',
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

/** Headings that links name, with the document they are in. */
function headingsNamedIn(document: string): readonly (readonly [path: string, anchor: string])[] {
  const links = readFileSync(document, 'utf8').matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)
  return [...links].map(([, path = '', anchor = '']) => [
    path === '' ? document : join(dirname(document), path),
    anchor,
  ])
}

/** As GitHub makes them of headings. */
function anchorsOf(document: string): readonly string[] {
  const headings = readFileSync(document, 'utf8').matchAll(/^#+ (.*)$/gm)
  return [...headings].map(([, text = '']) =>
    text
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
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
  it('names headings that are there', () => {
    expect(headingsNamedIn(document).filter(([path, anchor]) => !anchorsOf(path).includes(anchor))).toEqual([])
  })
})

it('the glossary has each word once, in order, with two lines at most', () => {
  const entries = readFileSync('docs/glossary.md', 'utf8').split(/^- /m).slice(1)
  const words = entries.map((entry) => /^\*\*(.+)\*\*: /.exec(entry)?.[1] ?? entry)
  expect(words).toEqual([...new Set(words)].sort((a, b) => a.localeCompare(b, 'en')))
  expect(entries.filter((entry) => entry.trimEnd().split('\n').length > 2)).toEqual([])
})
