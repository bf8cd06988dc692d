import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { expect, it } from 'vitest'
import { runProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

it('the site is built: its links lead to pages and headings that are there, and it can be searched', async () => {
  using directory = temporaryDirectory('site')
  const outDir = join(directory.path, 'out')
  const built = await runProgram('npx', ['vitepress', 'build', 'test/docs/site', '--outDir', outDir])
  expect(built).toMatchObject({ code: 0 })
  const texts = new Map(
    globSync('**/*.html', { cwd: outDir }).map((path) => [path, readFileSync(join(outDir, path), 'utf8')]),
  )
  const others = new Set(globSync('{assets,source}/**/*', { cwd: outDir }))
  const broken = [...texts].flatMap(([path, text]) =>
    [...text.matchAll(/<a [^>]*href="([^"]+)"/g)].flatMap(([, target = '']) => {
      if (/^[a-z]+:/.test(target)) return []
      const [named = '', anchor] = target.split('#', 2)
      const at = named === '' ? path : posix.join(named.startsWith('/') ? '.' : posix.dirname(path), named)
      const file = at.endsWith('/') || at === '.' ? posix.join(at, 'index.html') : at
      const page = texts.get(file)
      const isThere = anchor === undefined ? page !== undefined || others.has(file) : page?.includes(`id="${anchor}"`)
      return isThere ? [] : [`${path}: ${target}`]
    }),
  )
  expect(broken).toEqual([])
  expect(texts.size).toBeGreaterThan(40)
  expect([...others].filter((path) => path.includes('localSearchIndex'))).not.toEqual([])
})
