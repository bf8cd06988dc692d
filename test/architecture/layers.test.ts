/**
 * Proves the wall between the layers. The linter's rules are patterns over what an import says, the table speaks of
 * files: so every layer, at every depth, imports everything in every form, in a temporary folder, and the linter must
 * report exactly those lines that the table forbids.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, posix } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { layerRules, layerRulesFile } from './layer-rules.ts'
import { depthMax, isOfPackage, layerOf, layers, mayImport } from './layers.ts'
import { type Finding, lint } from './lint.ts'
import { importsOf, root, type SourceFile, sourceFiles } from './source.ts'

const layerNames = Object.keys(layers)
const pureLayers = layerNames.filter((name) => layers[name]?.pure)

/** One statement per form of import, each on one line; `n` keeps their names apart. */
const forms: readonly ((specifier: string, n: number) => string)[] = [
  (specifier, n) => `import { x as x${n} } from '${specifier}'`,
  (specifier, n) => `import type { X as X${n} } from '${specifier}'`,
  (specifier, n) => `import { type X as X${n} } from '${specifier}'`,
  (specifier, n) => `import * as x${n} from '${specifier}'`,
  (specifier) => `import '${specifier}'`,
  (specifier, n) => `export { x as x${n} } from '${specifier}'`,
  (specifier) => `export * from '${specifier}'`,
  (specifier, n) => `export const x${n} = () => import('${specifier}')`,
]

const outside = ['shared/loose.ts', 'test/support/clock.ts', 'docs/guide.ts', 'package.json']

const packages = new Set([
  ...layerNames.flatMap((name) => layers[name]?.packages ?? []).map((name) => (/\w$/.test(name) ? name : `${name}a`)),
  'node:fs',
  'node:fs/promises',
  'fs',
  '@aws-sdk/client-sqs',
  '@aws-sdk',
  '@aws-sdk-like/a',
  'aws-cdk-lib/aws-sqs',
  'zod/v4',
  'zod-like',
  '@types/zod',
  'setpoint',
  '#model/json',
  '/shared/model/json.ts',
  'https://host/zod',
])

interface Case {
  readonly file: string
  readonly line: number
  readonly text: string
  readonly allowed: boolean
}

/** Everything that one file could import, in every form. */
function casesOf(file: string): readonly Case[] {
  const targets = [...layerNames.flatMap(filesOf), ...outside].map((target) => relative(file, target))
  return [...targets, ...packages]
    .flatMap((specifier) => forms.map((form) => ({ specifier, form })))
    .map(({ specifier, form }, index) => {
      return { file, line: index + 1, text: form(specifier, index), allowed: mayImport(file, specifier) }
    })
}

function filesOf(layer: string): readonly string[] {
  return isFile(layer) ? [layer] : [`${layer}/target.ts`, `${layer}/inner/target.ts`]
}

function importersOf(layer: string): readonly string[] {
  if (isFile(layer)) return [layer]
  return Array.from({ length: depthMax + 1 }, (_, depth) => `${layer}/${'inner/'.repeat(depth)}importer.ts`)
}

function isFile(layer: string): boolean {
  return layer.endsWith('.ts')
}

function relative(file: string, target: string): string {
  const path = posix.relative(posix.dirname(file), target)
  return path.startsWith('.') ? path : `./${path}`
}

/** A folder with the project's linter rules in it, gone after the tests. */
function createScratch() {
  const folder = mkdtempSync(`${tmpdir()}/layers-`)
  const put = (file: string, text: string) => {
    mkdirSync(dirname(`${folder}/${file}`), { recursive: true })
    writeFileSync(`${folder}/${file}`, text)
  }
  cpSync(`${root}/.oxlintrc.json`, `${folder}/.oxlintrc.json`)
  put('test/architecture/layers.oxlintrc.json', layerRules())
  return { put, findings: () => lint(folder), remove: () => rmSync(folder, { recursive: true }) }
}

/** Lints one file on its own and says which of its lines the linter reports, under these rules. */
function linesFound(file: string, lines: readonly string[], rules: readonly string[]): readonly string[] {
  return linesFoundIn([file], lines, rules).get(file) ?? []
}

/** The same for several files with these lines, which the linter reads in one go. */
function linesFoundIn(
  files: readonly string[],
  lines: readonly string[],
  rules: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const scratch = createScratch()
  try {
    for (const file of files) scratch.put(file, lines.join('\n'))
    const found = new Set(scratch.findings().flatMap((one) => (rules.includes(one.rule) ? [placeOf(one)] : [])))
    return new Map(
      files.map((file) => [file, lines.filter((_, index) => found.has(placeOf({ file, line: index + 1 })))]),
    )
  } finally {
    scratch.remove()
  }
}

const importRule = 'eslint(no-restricted-imports)'

describe('the linter', () => {
  const cases = layerNames.flatMap(importersOf).flatMap(casesOf)
  const scratch = createScratch()
  let found: ReadonlySet<string>

  beforeAll(() => {
    const files = Map.groupBy(cases, ({ file }) => file)
    for (const [file, ofFile] of files) scratch.put(file, ofFile.map(({ text }) => text).join('\n'))
    found = new Set(
      scratch
        .findings()
        .filter(({ rule }) => rule === importRule)
        .map(placeOf),
    )
  })
  afterAll(scratch.remove)

  it('reports every import that the table forbids', () => {
    const forbidden = cases.filter(({ allowed }) => !allowed)
    expect(forbidden.length).toBeGreaterThan(cases.length / 2)
    expect(forbidden.filter((one) => !found.has(placeOf(one))).map(inWords)).toEqual([])
  })

  it('reports no import that the table allows', () => {
    const allowed = cases.filter((one) => one.allowed)
    expect(allowed.length).toBeGreaterThan(1000)
    expect(allowed.filter((one) => found.has(placeOf(one))).map(inWords)).toEqual([])
  })

  it('says what may be imported instead', () => {
    const planted = createScratch()
    planted.put('shared/ports/planted.ts', "import { reconcileKey } from '../engine/reconcile-key.ts'")
    const helps = planted.findings().filter(({ rule }) => rule === importRule)
    planted.remove()
    expect(helps.map(({ help }) => help)).toEqual(['shared/ports may import only: shared/model'])
  })

  it('reports the imports that its patterns cannot see, wherever they point', () => {
    const hidden = [
      "export type A = import('./own.ts').A",
      'export const b = (name: string) => import(name)',
      'export const c = (name: string) => import(`./${name}.ts`)',
      "export const d = () => require('./own.ts')",
      "import e = require('./own.ts')",
    ]
    const rules = ['consistent-type-imports', 'no-require-imports'].map((name) => `typescript(${name})`)
    expect(linesFound('shared/model/hidden.ts', hidden, [...rules, 'import(no-dynamic-require)'])).toEqual(hidden)
  })
})

function placeOf({ file, line }: Pick<Finding, 'file' | 'line'>): string {
  return `${file}:${line}`
}

function inWords({ file, text }: Case): string {
  return `${file}: ${text}`
}

describe('a pure layer', () => {
  const impure = [
    'export const now = Date.now()',
    'export const date = new Date()',
    'export const hiddenNow = globalThis.Date.now()',
    'export const elapsed = performance.now()',
    'export const chance = Math.random()',
    'export const { random } = Math',
    'export const id = crypto.randomUUID()',
    'export const home = process.env',
    'setTimeout(() => {}, 1)',
    'setInterval(() => {}, 1)',
    'setImmediate(() => {})',
    'queueMicrotask(() => {})',
    'export const signal = AbortSignal.timeout(1)',
    "export const page = fetch('https://host')",
    "console.log('x')",
    "export const value = JSON.parse('{}')",
    "export const order = 'a'.localeCompare('b')",
    'export const text = (1).toLocaleString()',
    "export const format = new Intl.NumberFormat('en')",
  ]
  const rules = ['eslint(no-restricted-globals)', 'eslint(no-restricted-properties)']

  it('has neither clock, chance nor I/O', () => {
    const files = pureLayers.map((layer) => `${layer}/impure.ts`)
    expect(Object.fromEntries(linesFoundIn(files, impure, rules))).toEqual(
      Object.fromEntries(files.map((file) => [file, impure])),
    )
  })

  it('may compute', () => {
    const pure = ['export const root = Math.sqrt(2)', 'export const reply = new Response(JSON.stringify({}))']
    expect(linesFound('shared/api/pure.ts', pure, rules)).toEqual([])
  })

  it('differs from the others in that', () => {
    expect(linesFound('shared/adapters/local/impure.ts', impure, rules)).toEqual([])
  })
})

describe('the tree', () => {
  const files = sourceFiles()
  const ofLayers = files.filter(({ path }) => !path.startsWith('test/'))

  it('has the rules of the table: `npm run layers` writes them', () => {
    expect(readFileSync(layerRulesFile, 'utf8')).toBe(layerRules())
  })

  it('has every file in a layer, and no deeper than the rules reach', () => {
    const stray = ofLayers.filter(({ path }) => layerOf(path) === undefined || depthOf(path) > depthMax)
    expect(stray.map(({ path }) => path)).toEqual([])
  })

  /** What loads a file that a person names, or a judge. */
  const loadsNamed = new Set(['functions/command/entry.ts', 'test/mutants/host.ts'])

  it('names each module by a plain string without detours', () => {
    expect(
      files.flatMap((file) =>
        importsOf(file)
          .filter((name) => !isPlain(name) && !loadsNamed.has(file.path))
          .map(() => file.path),
      ),
    ).toEqual([])
  })

  it('keeps to the table', () => {
    expect(ofLayers.flatMap(forbiddenImports)).toEqual([])
  })

  it('has in its table no package that nobody imports', () => {
    const filesOfLayer = Map.groupBy(ofLayers, ({ path }) => layerOf(path) ?? '')
    const unused = Object.entries(layers).flatMap(([layer, { packages: allowed }]) => {
      const named = (filesOfLayer.get(layer) ?? []).flatMap(importsOf).filter((name) => name !== undefined)
      return allowed.filter((name) => !named.some((one) => isOfPackage(one, name))).map((name) => `${layer}: ${name}`)
    })
    expect(unused).toEqual([])
  })

  it('lets a pure layer import pure ones only', () => {
    expect(pureLayers.flatMap((name) => layers[name]?.mayImport ?? []).filter((to) => !layers[to]?.pure)).toEqual([])
  })
})

/** How many folders lie between a file and its layer. */
function depthOf(path: string): number {
  return path.slice(layerOf(path)?.length).split('/').length - 2
}

/** `./a/../b.ts` and its kin mean one file to Node and another to a pattern. */
function isPlain(specifier: string | undefined): boolean {
  if (specifier === undefined) return false
  return !specifier.startsWith('.') || /^(\.\/|(\.\.\/)+)[^./%][^/%]*(\/[^./%][^/%]*)*$/.test(specifier)
}

function forbiddenImports(file: SourceFile): readonly string[] {
  const named = importsOf(file).filter((name) => name !== undefined)
  return named.filter((name) => !mayImport(file.path, name)).map((name) => `${file.path} imports ${name}`)
}
