import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { referencePages } from './pages.ts'

/** `npm run reference`: the pages that are written from the code. */
for (const [file, text] of Object.entries(referencePages())) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
