/** Holds the house rules of tidy.ts against the tree, and each against an example that breaks it. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { circlesIn } from './circles.ts'
import { placeOf, root, sourceFile, sourceFiles } from './source.ts'
import { sharedNames, tidyRules } from './tidy.ts'

const files = sourceFiles()

describe('the tree', () => {
  it.each(Object.values(tidyRules))('$name', ({ broken, find }) => {
    expect(find(sourceFile(broken.path, broken.text))).toHaveLength(1)
    expect(files.flatMap((file) => find(file).map(({ start }) => placeOf(file, start)))).toEqual([])
  })
})

describe('an exported name', () => {
  it('has one owner', () => {
    expect(sharedNames(files)).toEqual([])
  })

  it.each([
    { paths: ['shared/a.ts', 'functions/b.ts'], found: 1, because: 'a reader cannot tell the two apart' },
    { paths: ['shared/a.ts', 'infra/b.ts'], found: 0, because: 'infra imports nothing of shared' },
    { paths: ['shared/a.ts', 'test/b.ts'], found: 0, because: 'a test is read beside its subject' },
  ])('of $paths: $because', ({ paths, found }) => {
    const texts = ['export interface A {}', 'export const A = 1, B = 2']
    expect(sharedNames(paths.map((path, i) => sourceFile(path, texts[i] ?? '')))).toHaveLength(found)
  })
})

describe('a circle of imports', () => {
  it('is nowhere in the tree', () => {
    expect(circlesIn(files)).toEqual([])
  })

  it.each([
    { back: "import type { A } from '../a.ts'", found: [['shared/a.ts', 'shared/b/b.ts']], because: 'types count' },
    {
      back: "export const b = () => import('../a.ts')",
      found: [['shared/a.ts', 'shared/b/b.ts']],
      because: 'late counts',
    },
    { back: "import { c } from './c.ts'", found: [], because: 'it only goes one way' },
  ])('of $back: $because', ({ back, found }) => {
    const circling = [
      sourceFile('shared/a.ts', "import { b } from './b/b.ts'"),
      sourceFile('shared/b/b.ts', back),
      sourceFile('shared/b/c.ts', 'export const c = 1'),
    ]
    expect(circlesIn(circling)).toEqual(found)
  })
})

describe('an ignore', () => {
  const { find } = tidyRules.ignores
  const cases = [
    {
      comment: '// oxlint-disable-next-line no-empty -- the file may be gone already',
      places: 0,
      because: 'it says all',
    },
    {
      comment: '/* oxlint-disable no-empty -- the file may be gone already */',
      places: 0,
      because: 'a block may say it',
    },
    { comment: '// prettier-ignore -- the table is read by column', places: 0, because: 'the formatter has no rules' },
    { comment: '// oxlint-disable-next-line no-empty', places: 1, because: 'it gives no reason' },
    { comment: '// oxlint-disable-next-line -- I know better', places: 1, because: 'it names no rule' },
    { comment: '// eslint-disable-line no-empty', places: 1, because: 'the linter listens to that name too' },
    { comment: '// oxfmt-ignore', places: 1, because: 'it gives no reason' },
    { comment: '// prettier-ignore', places: 1, because: 'the formatter listens to that name too' },
    { comment: "export const a = '// prettier-ignore'", places: 0, because: 'a string is no comment' },
  ]

  it.each(cases)('$because: $comment', ({ comment, places }) => {
    expect(find(sourceFile('shared/model/a.ts', `${comment}\nexport {}`))).toHaveLength(places)
  })
})

describe('a skipped test', () => {
  const { find } = tidyRules.skips
  const cases = [
    { call: "it.skip('works', { meta: { skipped: 'no Docker here' } }, () => {})", places: 0, because: 'it says why' },
    {
      call: "describe.skipIf(!docker)('queue', { meta: { skipped: 'no Docker' } }, () => {})",
      places: 0,
      because: 'it says why',
    },
    { call: "it('works', (context) => context.skip(!docker, 'no Docker here'))", places: 0, because: 'it says why' },
    { call: "it('works', (context) => context.skip(!docker))", places: 1, because: 'a condition is no reason' },
    { call: "it.skip('works', () => { const skipped: string = '' })", places: 1, because: 'its body is no reason' },
    { call: "describe.runIf(docker)('queue', () => {})", places: 1, because: 'it gives no reason' },
    { call: "it.concurrent.skip('works', () => {})", places: 1, because: 'it gives no reason' },
    { call: "it.todo('works')", places: 1, because: 'what is not written is no test' },
  ]

  it.each(cases)('$because: $call', ({ call, places }) => {
    expect(find(sourceFile('test/unit/a.test.ts', call))).toHaveLength(places)
  })
})

describe('a function', () => {
  const { find } = tidyRules.functionLengths
  const cases = [
    { lines: 70, places: 0, because: 'it can be seen at once' },
    { lines: 71, places: 1, because: 'it just grew out of sight' },
    { lines: 200, places: 1, because: 'it is far too long' },
  ]

  it.each(cases)('of $lines lines: $because', ({ lines, places }) => {
    const text = `export const a = () => {${'\n'.repeat(lines - 1)}}`
    expect(find(sourceFile('shared/model/a.ts', text))).toHaveLength(places)
  })

  it('is as long as all that stands in it, the functions inside it too', () => {
    const text = `export const a = () => {\n${'  const b = () => {\n    return 1\n  }\n'.repeat(24)}}`
    expect(find(sourceFile('shared/model/a.ts', text))).toHaveLength(1)
  })

  it('is a method of a class, which may be longer', () => {
    const text = `export class A {\n${'  b() {\n    return 1\n  }\n'.repeat(24)}}`
    expect(find(sourceFile('shared/model/a.ts', text))).toEqual([])
  })
})

describe('the dependencies', () => {
  const manifest = readJson('package.json') as Record<'dependencies' | 'devDependencies', Record<string, string>>
  const lock = readJson('package-lock.json') as { packages: Record<string, LockedPackage> }

  it('are pinned to one version each', () => {
    const loose = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }).filter(
      ([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
    )
    expect(loose).toEqual([])
  })

  it('come with a checksum, from the public registry or the one that npm is told to use', () => {
    // What a package brings in its own archive is under the checksum of that.
    const installed = Object.entries(lock.packages).filter(([path, { inBundle }]) => path !== '' && inBundle !== true)
    const strange = installed.filter(([, { resolved = publicRegistry, integrity }]) => {
      return !resolved.startsWith(publicRegistry) || integrity === undefined
    })
    expect(strange.map(([path]) => path)).toEqual([])
  })

  /**
   * npm leaves out a binary for another platform that the registry did not have, and then `npm ci` refuses the lock.
   */
  it('are locked whole, for every platform', () => {
    const missing = Object.entries(lock.packages).flatMap(([path, { dependencies, optionalDependencies }]) => {
      const names = Object.keys({ ...dependencies, ...optionalDependencies })
      return names.filter((name) => !placesOf(name, path).some((place) => place in lock.packages))
    })
    expect(missing).toEqual([])
  })
})

interface LockedPackage {
  readonly inBundle?: boolean
  readonly resolved?: string
  readonly integrity?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const publicRegistry = 'https://registry.npmjs.org/'

/** Where a package may lie that another one, at this path, depends on: with it, or with one of those around it. */
function placesOf(name: string, path: string): readonly string[] {
  const around = [...path.matchAll(/(?<=^|\/)node_modules\//g)].map(({ index }) => path.slice(0, index))
  return [path === '' ? '' : `${path}/`, ...around].map((folder) => `${folder}node_modules/${name}`)
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(`${root}/${file}`, 'utf8'))
}
