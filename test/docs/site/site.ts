import { globSync, readFileSync } from 'node:fs'
import { basename, posix } from 'node:path'
import { Marked } from 'marked'

/** A file of the site: its path, and what it holds. */
export interface SiteFile {
  readonly path: string
  readonly content: string | Uint8Array
}

/** The menu: what a reader looks for first. */
const menu: readonly (readonly [title: string, page: string])[] = [
  ['Start', 'README.md'],
  ['Tutorial', 'docs/tutorial.md'],
  ['Guide', 'docs/guide.md'],
  ['Reference', 'docs/reference.md'],
  ['Functions', 'docs/generated/functions.md'],
  ['Kinds', 'docs/generated/kinds.md'],
  ['Commands', 'docs/generated/commands.md'],
  ['Metrics', 'docs/generated/metrics.md'],
  ['Examples', 'examples/README.md'],
  ['Production', 'docs/production.md'],
  ['AWS', 'docs/aws.md'],
  ['Troubleshooting', 'docs/troubleshooting.md'],
  ['Coming from', 'docs/coming-from.md'],
  ['Architecture', 'ARCHITECTURE.md'],
  ['Decisions', 'docs/decisions/README.md'],
  ['Glossary', 'docs/glossary.md'],
  ['Changelog', 'CHANGELOG.md'],
]

/** Every document as a page, with the pictures that they show, and as text the files that they link to. */
export function siteFiles(): readonly SiteFile[] {
  const pages = globSync(['*.md', '{docs,examples,functions,infra,shared,test}/**/*.md']).toSorted()
  const isPage = new Set(pages)
  const pictures = globSync('docs/images/*').toSorted()
  const linked = new Set(pages.flatMap((page) => linkedFiles(page, isPage)))
  return [
    ...pages.map((page) => ({ path: htmlOf(page), content: renderPage(page, isPage) })),
    ...[...linked].map((path) => ({ path: `${path}.txt`, content: readFileSync(path) })),
    ...pictures.map((path) => ({ path, content: readFileSync(path) })),
  ]
}

/** Files of the repository that a page links to, and that are no pages. */
function linkedFiles(page: string, isPage: ReadonlySet<string>): readonly string[] {
  const links = readFileSync(page, 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)
  const targets = [...links].map(([, href = '']) => targetOf(href, page))
  return targets.filter((target) => pageAt(target, isPage) === undefined && !target.startsWith('docs/images/'))
}

function targetOf(path: string, page: string): string {
  return posix.join(posix.dirname(page), path).replace(/\/$/, '')
}

/** A folder's page is its README. */
function pageAt(target: string, isPage: ReadonlySet<string>): string | undefined {
  return [target, posix.join(target, 'README.md')].find((one) => isPage.has(one))
}

/** The first page is the one of the root; a README is the page of its folder. */
function htmlOf(page: string): string {
  return basename(page) === 'README.md' ? posix.join(posix.dirname(page), 'index.html') : page.replace(/\.md$/, '.html')
}

function renderPage(page: string, isPage: ReadonlySet<string>): string {
  const text = readFileSync(page, 'utf8')
  const title = /^# (.*)$/m.exec(text)?.[1] ?? page
  const marked = new Marked({
    walkTokens: (token) => {
      if (token.type === 'link') token.href = rewriteLink(token.href as string, page, isPage)
    },
    renderer: {
      heading({ tokens, depth, text: words }) {
        return `<h${depth} id="${anchorOf(words)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
    },
  })
  const up = posix.relative(posix.dirname(htmlOf(page)), '.') || '.'
  const items = menu.map(([name, target]) => `<a href="${up}/${htmlOf(target)}">${name}</a>`).join('\n')
  const body = marked.parse(text, { async: false })
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
<nav>
${items}
</nav>
<main>
${body}</main>
</html>
`
}

/** A link to a document leads to its page; one to another file, to its text. */
export function rewriteLink(href: string, page: string, isPage: ReadonlySet<string>): string {
  if (/^([a-z]+:|#)/.test(href)) return href
  const [path = '', anchor] = href.split('#', 2)
  const target = targetOf(path, page)
  const to = pageAt(target, isPage)
  const hash = anchor === undefined ? '' : `#${anchor}`
  if (to === undefined) return `${posix.relative(posix.dirname(htmlOf(page)), target)}.txt`
  return `${posix.relative(posix.dirname(htmlOf(page)), htmlOf(to))}${hash}`
}

/** As GitHub makes them, which the documents' own links rely on. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('`', '')
}

const style = `
body { margin: 0; display: flex; font: 16px/1.5 sans-serif; color: #222 }
nav { flex: none; width: 11rem; padding: 1rem; border-right: 1px solid #ddd; min-height: 100vh }
nav a { display: block; padding: .15rem 0; color: #222; text-decoration: none }
main { max-width: 60rem; padding: 1rem 2rem; overflow-x: auto }
pre { background: #f6f6f6; padding: .7rem; overflow-x: auto }
code { font-size: .9em }
table { border-collapse: collapse }
td, th { border: 1px solid #ddd; padding: .3rem .5rem; text-align: left; vertical-align: top }
img { max-width: 100% }
@media (max-width: 50rem) { body { display: block } nav { width: auto; min-height: 0 } nav a { display: inline-block; margin-right: 1rem } }
`
