import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Of a bundle all code: `index.mjs`, and the parts that it imports at once or with their first use. */
export function bundledText(directory: string): string {
  const files = readdirSync(directory).filter((file) => file.endsWith('.mjs'))
  return files.map((file) => readFileSync(join(directory, file), 'utf8')).join('\n')
}
