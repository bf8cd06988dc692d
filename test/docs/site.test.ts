import { expect, it } from 'vitest'
import { anchorOf, listPages, rewriteLink, sitePath } from './site/links.ts'
import { menu } from './site/menu.ts'

const pages = new Set(['README.md', 'docs/guide.md', 'docs/decisions/README.md'])

it.each([
  ['docs/guide.md#keeping-it', 'README.md', 'docs/guide.md#keeping-it'],
  ['../README.md', 'docs/guide.md', '../index.md'],
  ['decisions', 'docs/guide.md', 'decisions/index.md'],
  ['#here', 'docs/guide.md', '#here'],
  ['https://example.com/a.md', 'docs/guide.md', 'https://example.com/a.md'],
  ['../shared/index.ts', 'docs/guide.md', '/source/shared/index.ts.txt'],
])('the link %s in %s leads to %s', (href, page, to) => {
  expect(rewriteLink(href, page, pages)).toBe(to)
})

it('the page of a folder is its README', () => {
  expect(['README.md', 'docs/decisions/README.md', 'docs/guide.md'].map(sitePath)).toEqual([
    'index.md',
    'docs/decisions/index.md',
    'docs/guide.md',
  ])
})

it('anchors are those of GitHub', () => {
  expect(anchorOf('6. What `setpoint dev` does')).toBe('6-what-setpoint-dev-does')
})

it('the menu leads to pages', () => {
  const found = new Set(listPages('.'))
  expect(
    Object.values(menu)
      .flatMap((items) => Object.values(items))
      .filter((page) => !found.has(page)),
  ).toEqual([])
})
