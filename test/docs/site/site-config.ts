import { cpSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { anchorOf, listPages, rewriteLink, sitePath, sourcePath } from './links.ts'
import { menu } from './menu.ts'

/** The site reads the documents as they stand in the repository. A link to a page that is not there fails the build. */

const root = fileURLToPath(new URL('../../..', import.meta.url))
const pages = listPages(root)
const isPage = new Set(pages)
/** Files of the repository that pages link to, and that are no pages. */
const linked = new Set<string>()

export const siteConfig = defineConfig({
  title: 'Setpoint',
  description: 'A control plane that keeps what is outside as declared',
  srcDir: root,
  outDir: join(root, 'dist-site'),
  cacheDir: join(root, 'node_modules/.cache/vitepress'),
  srcExclude: ['**/node_modules/**', 'dist*/**', '.*/**'],
  rewrites: Object.fromEntries(pages.filter((page) => sitePath(page) !== page).map((page) => [page, sitePath(page)])),
  themeConfig: {
    sidebar: Object.entries(menu).map(([text, items]) => ({
      text,
      items: Object.entries(items).map(([name, page]) => ({ text: name, link: `/${sitePath(page)}` })),
    })),
    outline: [2, 3],
    search: { provider: 'local' },
  },
  markdown: {
    // What looks like a tag is a word, such as KIND in angle brackets.
    html: false,
    anchor: { slugify: anchorOf },
    config: (markdown) => {
      markdown.core.ruler.push('links-of-the-repository', ({ tokens, env }) => {
        const { relativePath } = env as { readonly relativePath: string }
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.type === 'link_open' ? token.attrGet('href') : null
          if (href === null) continue
          const to = rewriteLink(href, pageOf(relativePath), isPage)
          token.attrSet('href', to)
          if (to.startsWith(sourcePath)) {
            linked.add(to.slice(sourcePath.length, -'.txt'.length))
            token.attrSet('target', '_self')
          }
        }
      })
    },
  },
  buildEnd: ({ outDir }) => {
    for (const file of linked) {
      const from = join(root, file)
      if (!existsSync(from) || !statSync(from).isFile()) throw new Error(`a page links to ${file}, which is no file`)
      const to = join(outDir, sourcePath, `${file}.txt`)
      mkdirSync(dirname(to), { recursive: true })
      cpSync(from, to)
    }
  },
})

/** The document that a page of the site was made of. */
function pageOf(path: string): string {
  return isPage.has(path) ? path : (pages.find((page) => sitePath(page) === path) ?? path)
}
