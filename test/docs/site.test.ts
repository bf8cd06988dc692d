import { posix } from 'node:path'
import { expect, it } from 'vitest'
import { rewriteLink, siteFiles } from './site/site.ts'

const pages = new Set(['README.md', 'docs/guide.md', 'docs/decisions/README.md'])

it.each([
  ['docs/guide.md#keeping-it', 'README.md', 'docs/guide.html#keeping-it'],
  ['../README.md', 'docs/guide.md', '../index.html'],
  ['decisions', 'docs/guide.md', 'decisions/index.html'],
  ['#here', 'docs/guide.md', '#here'],
  ['https://example.com/a.md', 'docs/guide.md', 'https://example.com/a.md'],
  ['../shared/index.ts', 'docs/guide.md', '../shared/index.ts.txt'],
])('the link %s in %s leads to %s', (href, page, to) => {
  expect(rewriteLink(href, page, pages)).toBe(to)
})

it('every link and picture of the site leads to a page and a heading that are there', () => {
  const files = new Map(siteFiles().map(({ path, content }) => [path, String(content)]))
  const broken = [...files].flatMap(([path, text]) => {
    if (!path.endsWith('.html')) return []
    const targets = [...text.matchAll(/(?:href|src)="([^"]+)"/g)].map((match) => match[1] ?? '')
    const own = targets.filter((target) => !/^[a-z]+:/.test(target))
    return own.flatMap((target) => {
      const [file = '', anchor] = target.split('#', 2)
      const to = file === '' ? path : posix.join(posix.dirname(path), file)
      const isThere = files.has(to) && (anchor === undefined || files.get(to)?.includes(`id="${anchor}"`) === true)
      return isThere ? [] : [`${path}: ${target}`]
    })
  })
  expect(broken).toEqual([])
  expect(files.size).toBeGreaterThan(40)
})
