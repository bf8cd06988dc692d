import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { siteFiles } from './site.ts'

/** `npm run site`: the documents as a static site, in `dist-site`. */
const directory = 'dist-site'
rmSync(directory, { recursive: true, force: true })
const files = siteFiles()
for (const { path, content } of files) {
  const file = join(directory, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}
console.log(`${files.length} files in ${directory}: open ${directory}/index.html`)
