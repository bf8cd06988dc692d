import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { loadReconcilers } from '../../functions/command/entry.ts'
import { bundleText } from '../../infra/bundling/bundle.ts'
import { allReconcilers, describeReconcilers } from '../../infra/bundling/reconciler-modules.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** One machine, the synthesis and the functions of a deployment take the same reconcilers from a module. */

const directory = temporaryDirectory('reconciler-lists')
afterAll(() => directory[Symbol.dispose]())
const fixtures = resolve(import.meta.dirname, 'fixtures')

function entryOf(name: string, text: string): string {
  const file = join(directory.path, `${name}.ts`)
  const imports = `import { reconcilers as all } from ${JSON.stringify(join(fixtures, 'reconcilers.ts'))}\n`
  writeFileSync(file, imports + text)
  return file
}

/** As the functions have them, in the place of `#reconcilers`. */
function inFunctions(entry: string): readonly string[] {
  const list = join(directory.path, 'list.ts')
  writeFileSync(list, allReconcilers(entry))
  const text = `import { reconcilers } from ${JSON.stringify(list)}
console.log(JSON.stringify(reconcilers.map(({ name }) => name)))`
  const options = { input: bundleText(text, directory.path), encoding: 'utf8' } as const
  return JSON.parse(spawnSync(process.execPath, ['--input-type=module', '-'], options).stdout) as string[]
}

it.each([
  ['in a list', 'export const reconcilers = all'],
  ['one by one and in a list', 'export const reconcilers = [all[0]]\nexport const other = all[1]'],
  ['one by one', 'export const [one, other] = all'],
  ['twice', 'export const reconcilers = all\nexport const [one] = all'],
  ['in a list with one that is switched off', 'export const reconcilers = [...all, false && all[0]]'],
])('reconcilers that are exported %s are the same everywhere', async (what, text) => {
  const entry = entryOf(what.replaceAll(' ', '-'), text)
  const here = (await loadReconcilers(entry)).map(({ name }) => name)
  const synthesized = new Set(describeReconcilers(entry).map(({ name }) => name))
  expect([here, [...synthesized], inFunctions(entry)].map((names) => names.toSorted())).toEqual([
    ['lamp', 'shelf'],
    ['lamp', 'shelf'],
    ['lamp', 'shelf'],
  ])
})

it('a list in a list is refused everywhere', async () => {
  const entry = entryOf('nested', 'export const reconcilers = [all[0], [all[1]]]')
  await expect(loadReconcilers(entry)).rejects.toThrow('is a `...` missing')
  expect(() => describeReconcilers(entry)).toThrow('the list reconcilers has an entry that is no reconciler')
})
