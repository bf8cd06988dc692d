import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { publicNamesOf } from './reference/public-names.ts'
import { referencePages } from './reference/pages.ts'

const pages = referencePages()

it.each(Object.keys(pages))('%s is as the code is: `npm run reference` writes it', (file) => {
  expect(existsSync(file) ? readFileSync(file, 'utf8') : '').toBe(pages[file])
})

it('every public function and class says what it is for', () => {
  const silent = publicNamesOf('shared/index.ts').filter(
    ({ declaration, comment }) => /^(async )?(function|class) /.test(declaration) && comment === '',
  )
  expect(silent.map(({ name }) => name)).toEqual([])
})
