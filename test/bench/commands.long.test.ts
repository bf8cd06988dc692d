import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

/** Figures are for a quiet machine; that the commands come to their end is for any. Most of their time they wait. */
const run = promisify(execFile)

describe.concurrent('a benchmark with few objects', () => {
  it.each([
    ['--rest', '200'],
    ['--watchers', '5'],
    ['--lists', '200'],
  ])('%s %s ends with its figures', { timeout: 600_000 }, async (part, count) => {
    const { stdout } = await run(process.execPath, [join(import.meta.dirname, 'main.ts'), part, count, '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ command: `npm run bench -- ${part} ${count} --json` })
    expect(stdout).toContain(`:${count},`)
  })
})
