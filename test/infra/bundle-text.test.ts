import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { writeBundle } from '../../infra/bundling/bundle.ts'
import { describeReconcilers, ownLoops } from '../../infra/bundling/reconciler-modules.ts'
import { controlLoopNames } from '../../shared/engine/loops/control-loops.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { bundledText } from './bundled-text.ts'
import { longOnly } from '../support/strength.ts'

const functions = resolve(import.meta.dirname, '../../functions')

it.each(['api', 'reconcile'])(
  'the bundle of %s is ASCII and imports no module of Node, since an import loads more than it asks for',
  (name) => {
    using directory = temporaryDirectory('bundle-text')
    writeBundle(join(functions, `${name}.ts`), 'export const reconcilers = []\n', directory.path)
    const text = bundledText(directory.path)
    // One other character, and Node decodes and compiles the whole text as UTF-16.
    expect(Buffer.byteLength(text)).toBe(text.length)
    expect(text).not.toMatch(/from ?"node:/)
  },
)

it('a bundle has the modules of Node that it imports, in each way to write that', () => {
  using directory = temporaryDirectory('builtin-modules')
  const files = {
    'old.cjs': `exports.join = require('node:path').join; exports.isClass = typeof require('node:events') === 'function'`,
    'main.mjs': `
      import { basename, join as joined } from 'node:path'
      import path, { extname } from 'node:path'
      import process, * as all from 'node:process'
      import { default as events } from 'node:events'
      import { readFile } from 'node:fs/promises'
      import { sep } from 'path'
      import old from './old.cjs'
      export { resolve as resolved } from 'node:path'
      export * as url from 'node:url'
      const late = await import('node:os')
      const text = \`;import{a}from"node:fs";\`
      console.log(JSON.stringify([
        basename('/a/b'), joined('a', 'b'), path.join('a', 'c'), extname('a.ts'), process.pid === all.pid,
        typeof events, typeof readFile, sep, old.join('a', 'd'), old.isClass, typeof late.cpus, text,
      ]))`,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory.path, name), text)
  const out = join(directory.path, 'out')
  mkdirSync(out)
  writeBundle(join(directory.path, 'main.mjs'), 'export const reconcilers = []\n', out)
  expect(bundledText(out)).not.toContain('builtin-')
  const script = `
    const { resolved, url } = await import(${JSON.stringify(join(out, 'index.mjs'))})
    console.log(resolved('/a', 'e'), typeof url.fileURLToPath)`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  const [first = '', second] = stdout.split('\n')
  const expected = ['b', 'a/b', 'a/c', '.ts', true, 'function', 'function', '/', 'a/d', true, 'function']
  expect(JSON.parse(first)).toEqual([...expected, ';import{a}from"node:fs";'])
  expect(second).toBe('/a/e function')
})

it('a bundle leaves texts alone that look like the name of one of its parts', () => {
  using directory = temporaryDirectory('names-of-parts')
  const file = join(directory.path, 'main.mjs')
  writeFileSync(join(directory.path, 'late.mjs'), `export const late = 'part-ABCDEFGH'\n`)
  writeFileSync(file, `const { late } = await import('./late.mjs')\nconsole.log('dumps/part-00000001.gz', late)\n`)
  const out = join(directory.path, 'out')
  mkdirSync(out)
  writeBundle(file, 'export const reconcilers = []\n', out)
  const { stdout } = spawnSync(process.execPath, [join(out, 'index.mjs')], { encoding: 'utf8' })
  expect(stdout).toBe('dumps/part-00000001.gz part-ABCDEFGH\n')
  expect(readdirSync(out).filter((name) => name.endsWith('.mjs'))).toEqual(['index.mjs', 'part-1.mjs'])
})

it('a module that cannot be loaded is told in a few lines, without the text of its bundle', () => {
  using directory = temporaryDirectory('broken-module')
  const file = join(directory.path, 'broken.ts')
  writeFileSync(file, `export const size = [${'1,'.repeat(5_000)}].length\nthrow new Error('no such queue')\n`)
  expect(() => describeReconcilers(file)).toThrow(/^cannot load .*broken\.ts: [^]{0,1500}no such queue/)
  expect(() => describeReconcilers(file)).not.toThrow(/1,1,1/)
})

it('reconcilers of one name are refused in the synthesis; that one is exported twice, alone and in a list, is none', () => {
  using directory = temporaryDirectory('same-names')
  const write = (name: string, more: string): string => {
    const file = join(directory.path, name)
    const page = (group: string) => `{ name: 'page', kind: { group: '${group}', kind: 'Page' }, reconcile() {} }`
    writeFileSync(
      file,
      `export const a = ${page('a.test')}\nexport const reconcilers = [a${more && `, ${page(more)}`}]\n`,
    )
    return file
  }
  expect(describeReconcilers(write('once.ts', ''))).toHaveLength(2)
  expect(() => describeReconcilers(write('twice.ts', 'b.test'))).toThrow(
    'the reconcilers of Page.a.test and Page.b.test are all called page: give each a name of its own',
  )
})

it.each([
  ['two for one kind', `page('a'), page('b')`, 'a and b are both for Page.a.test'],
  ['two for one kind, of one name', `page('a'), page('a')`, 'a and a are both for Page.a.test'],
  [
    "one for a kind of the engine's own",
    `page('spaces', { group: '', kind: 'Namespace' })`,
    'spaces and namespace-lifecycle are both for Namespace.',
  ],
  [
    "one that is called as a loop of the engine's",
    `page('garbage-collector')`,
    'the reconciler of Page.a.test is called garbage-collector, as a loop of the control plane itself is',
  ],
  [
    'one that is called as the loop of another, whose objects others wake',
    `page('a', undefined, [{}]), page('a-fan-out', { group: 'b.test', kind: 'Page' })`,
    'the reconciler of Page.b.test is called a-fan-out, as a loop of the control plane itself is',
  ],
])('%s are refused in the synthesis, since no function would start', (_, list, message) => {
  using directory = temporaryDirectory('rivals')
  const file = join(directory.path, 'rivals.ts')
  const page = `const page = (name, kind = { group: 'a.test', kind: 'Page' }, maps = []) => ({ name, kind, maps, reconcile() {} })`
  writeFileSync(file, `${page}\nexport const reconcilers = [${list}]\n`)
  expect(() => describeReconcilers(file)).toThrow(message)
})

it("the synthesis knows the names of the engine's own loops", () => {
  const none = { controllers: [], resources: {}, catalog: {} } as unknown as Parameters<typeof controlLoopNames>[0]
  expect(ownLoops.toSorted()).toEqual(controlLoopNames(none).toSorted())
})

it('a bundle works out a definition when it is asked for: the synthesis has checked it', () => {
  using directory = temporaryDirectory('checked-schema')
  const file = join(import.meta.dirname, 'fixtures/odd.ts')
  const refusal = /Odd: properties\[spec\]\.properties\[when\]/
  expect(() => describeReconcilers(file)).toThrow(refusal)
  writeBundle(file, 'export const reconcilers = []\n', directory.path)
  const script = `
    import { reconcilers } from ${JSON.stringify(join(directory.path, 'index.mjs'))}
    const [good, odd] = reconcilers.map(({ kind }) => kind)
    console.log(JSON.stringify(good.definition.spec.versions[0].schema), good.definition === good.definition)
    // What Node says of an error that nobody catches begins with its line, which is long, and its end may be lost.
    try { odd.definition } catch ({ message }) { console.error(message) }`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect(stdout).toMatch(/"properties":\{"size":\{"type":"integer".* true\n$/)
  expect(stderr).toMatch(refusal)
})

it('a bundle reads the engine of patterns when the first pattern is compiled', () => {
  using directory = temporaryDirectory('late-patterns')
  const file = join(functions, '../shared/model/schema/pattern.ts')
  writeBundle(file, 'export const reconcilers = []\n', directory.path)
  const script = `
    import { createRequire } from 'node:module'
    import { compilePattern } from ${JSON.stringify(join(directory.path, 'index.mjs'))}
    const loaded = () => Object.keys(createRequire(import.meta.url).cache).length
    const before = loaded()
    const { matches } = compilePattern('^a(b|c)+$')
    console.log(JSON.stringify([before, matches('abcb'), matches('ad'), loaded()]))`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect(JSON.parse(stdout)).toEqual([0, true, false, 1])
  expect(readFileSync(join(directory.path, 'THIRD-PARTY-NOTICES.txt'), 'utf8')).toMatch(/^re2js .*\(MIT\)$/m)
})

it('a bundle has the engine of patterns that the module finds which imports it: an app may see no other', () => {
  using directory = temporaryDirectory('own-patterns')
  const found = join(directory.path, 'framework', 'node_modules', 're2js')
  mkdirSync(found, { recursive: true })
  const manifest = { name: 're2js', version: '0.0.1', license: 'MIT', exports: './index.js', type: 'module' }
  writeFileSync(join(found, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(found, 'index.js'), `export const RE2JS = { compile: (text) => 'compiled ' + text }\n`)
  const file = join(directory.path, 'framework', 'main.mjs')
  writeFileSync(file, `import { RE2JS } from 're2js'\nconsole.log(RE2JS.compile('a+'))\n`)
  const out = join(directory.path, 'out')
  mkdirSync(out)
  writeBundle(file, 'export const reconcilers = []\n', out)
  const { stdout } = spawnSync(process.execPath, [join(out, 'index.mjs')], { encoding: 'utf8' })
  expect(stdout).toBe('compiled a+\n')
})

it.each(['RE2JS', 'RE2JS, RE2Set'])('a reconciler that imports %s of re2js has all of it in its bundle', (names) => {
  using directory = temporaryDirectory('patterns-of-a-user')
  symlinkSync(resolve('node_modules'), join(directory.path, 'node_modules'))
  const list = join(directory.path, 'list.mjs')
  writeFileSync(list, `import { ${names} } from 're2js'\nconsole.log(RE2JS.matches('a+', 'aaa'))\n`)
  const pattern = join(functions, '../shared/model/schema/pattern.ts')
  const file = join(directory.path, 'main.ts')
  writeFileSync(file, `import ${JSON.stringify(list)}\nexport { compilePattern } from ${JSON.stringify(pattern)}\n`)
  const out = join(directory.path, 'out')
  mkdirSync(out)
  writeBundle(file, 'export const reconcilers = []\n', out)
  const script = `
    const { compilePattern } = await import(${JSON.stringify(join(out, 'index.mjs'))})
    console.log(compilePattern('^a(b|c)+$').matches('abcb'))`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect(stdout).toBe('true\ntrue\n')
})

it('a bundle is the same each time, wherever it is made', longOnly, () => {
  using first = temporaryDirectory('bundle')
  using second = temporaryDirectory('bundle-of-a-longer-name')
  for (const { path } of [first, second])
    writeBundle(join(functions, 'relay.ts'), 'export const reconcilers = []\n', path)
  const files = readdirSync(first.path)
  expect(files.length).toBeGreaterThan(3)
  expect(readdirSync(second.path)).toEqual(files)
  for (const file of files)
    expect(readFileSync(join(second.path, file), 'utf8')).toBe(readFileSync(join(first.path, file), 'utf8'))
})

it('a bundle has OpenTelemetry in it where traces are asked for, and nothing of it elsewhere', longOnly, () => {
  using directory = temporaryDirectory('bundle-traces')
  using other = temporaryDirectory('bundle-without-traces')
  const write = ({ path }: { readonly path: string }, tracing?: string): string => {
    writeBundle(join(functions, 'reconcile.ts'), 'export const reconcilers = []\n', path, { tracing })
    return bundledText(path)
  }
  const without = write(other)
  const withTraces = write(directory, join(functions, '../shared/runtime/aws/tracing.ts'))
  expect(without).not.toMatch(/opentelemetry/i)
  expect(withTraces).toMatch(/opentelemetry/i)
  const { stderr, status } = spawnSync(process.execPath, [join(directory.path, 'index.mjs')], {
    encoding: 'utf8',
    env: { ...process.env, OTEL_TRACES_EXPORTER: 'otlp' },
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})
