import { globSync } from 'node:fs'
import { posix } from 'node:path'

/** Where links of the documents lead in the site: they are written for who reads the repository. */

/** Every document, by its path in the repository. */
export function listPages(root: string): readonly string[] {
  return globSync(['*.md', '{docs,examples,functions,infra,shared,test}/**/*.md'], { cwd: root }).toSorted()
}

/** The page of a folder is its README. */
export function sitePath(page: string): string {
  return page.replace(/(^|\/)README\.md$/, '$1index.md')
}

/** Text of the repository that is no page is in the site below this path. */
export const sourcePath = '/source/'

/** A link to a document leads to its page; one to another file, to its text. */
export function rewriteLink(href: string, page: string, isPage: ReadonlySet<string>): string {
  if (/^([a-z]+:|#)/.test(href)) return href
  const [path = '', anchor] = href.split('#', 2)
  const target = posix.join(posix.dirname(page), path).replace(/\/$/, '')
  const to = [target, posix.join(target, 'README.md')].find((one) => isPage.has(one))
  if (to === undefined) return `${sourcePath}${target}.txt`
  const hash = anchor === undefined ? '' : `#${anchor}`
  return `${posix.relative(posix.dirname(page), sitePath(to))}${hash}`
}

/** As GitHub makes them, which the documents' own links rely on. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
}
