import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installable } from '../../infra/packaging/manifest.ts'
import { runProgram, type Ended } from '../support/program.ts'
import { isLong, longOnly } from '../support/strength.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/**
 * The package as others get it: packed, installed from the file into an app that has nothing of ours, and used there.
 */
const directory = temporaryDirectory('package')
const app = join(directory.path, 'app')
const unreachable = isLong ? await must('npm', ['view', 'zod', 'version']).then(() => '', String) : ''
afterAll(() => directory[Symbol.dispose](), 120_000)

async function install(): Promise<void> {
  const dist = join(directory.path, 'dist')
  await must(process.execPath, ['infra/packaging/build.ts', dist])
  await must('npm', ['pack', dist, '--pack-destination', directory.path])
  const tarball = readdirSync(directory.path).find((name) => name.endsWith('.tgz')) ?? ''
  mkdirSync(app)
  for (const from of ['examples/deploy', 'test/infra/fixtures/app'])
    cpSync(from, join(app, 'deploy'), { recursive: true })
  cpSync('examples/greeting/greeting.ts', join(app, 'greeting', 'greeting.ts'))
  writeFileSync(join(app, 'check.ts'), check)
  const compilerOptions = { ...typical, types: ['node'] }
  writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  const { devDependencies = {}, dependencies } = own
  const version = (name: string): string => `${name}@${dependencies[name] ?? devDependencies[name] ?? 'latest'}`
  writeFileSync(join(app, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }))
  const packages = ['aws-cdk-lib', 'constructs', 'zod', 'typescript', '@types/node'].map(version)
  await must('npm', ['install', '--prefer-offline', '--no-audit', join('..', tarball), ...packages], app)
}

/** A test of a reconciler as an app would have it, for a runner that needs no installing. */
const check = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigMap } from 'setpoint'
import { createTestEnv } from 'setpoint/testing'
import { Greeting, greetings } from './greeting/greeting.ts'

void test('greets', async () => {
  await using env = await createTestEnv({ reconcilers: [greetings] })
  await env.apply(Greeting, { metadata: { name: 'hello' }, spec: { name: 'world' } })
  await env.settle()
  const made = await env.get(ConfigMap, 'hello')
  assert.deepEqual(made?.data, { text: 'Hello, world!' })
})
`

/** As `cdk init` writes it, with `.ts` in imports because Node runs it as it is. */
const typical = {
  target: 'es2024',
  lib: ['es2024', 'esnext.disposable'],
  module: 'nodenext',
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
}

const own = JSON.parse(readFileSync('package.json', 'utf8')) as Parameters<typeof installable>[0]

async function must(file: string, args: readonly string[], cwd?: string): Promise<Ended> {
  const ended = await runProgram(file, args, cwd === undefined ? {} : { cwd })
  if (ended.code !== 0) throw new Error(`${file} ${args.join(' ')}: ${(ended.stdout + ended.stderr).slice(-1_000)}`)
  return ended
}

describe.skipIf(unreachable !== '' || !isLong)(
  'the packed package in an empty CDK app',
  { meta: { skipped: isLong ? `no registry of npm: ${unreachable}` : longOnly.meta.skipped } },
  () => {
    beforeAll(install, 300_000)

    it('has types', async () => {
      await expect(
        must(process.execPath, [join('node_modules', 'typescript', 'bin', 'tsc')], app),
      ).resolves.toBeDefined()
    })

    it("tests the app's reconciler", async () => {
      const { stdout } = await must(process.execPath, ['--test', 'check.ts'], app)
      expect(stdout).toMatch(/pass 1\b/)
    })

    it('synthesizes it, with its own code in the bundles', async () => {
      const outdir = join(app, 'cdk.out')
      await must('env', [`CDK_OUTDIR=${outdir}`, process.execPath, 'app.ts'], join(app, 'deploy'))
      const template = readFileSync(join(outdir, 'Greetings.template.json'), 'utf8')
      expect(template).toContain('Runs the reconciler greeting')
      const bundles = readdirSync(outdir, { recursive: true, encoding: 'utf8' }).filter((file) =>
        file.endsWith('index.mjs'),
      )
      const texts = bundles.map((file) => readFileSync(join(outdir, file), 'utf8'))
      // In the functions of the control plane that know all reconcilers, and in the controller's own.
      expect(texts.filter((text) => text.includes('Hello, ')).length).toBeGreaterThanOrEqual(3)
    })
  },
)

describe('the manifest of the package', () => {
  const manifest = {
    name: 'setpoint',
    version: '1.0.0',
    dependencies: { zod: '4.0.0' },
    devDependencies: { esbuild: '1.0.0' },
  }

  it('depends on what its modules import, in our versions', () => {
    const modules = [
      "import * as z from 'zod'\nexport { a } from './a.js'",
      "import { b } from 'node:fs'\nawait import('esbuild')",
    ]
    expect(installable(manifest, modules)['dependencies']).toEqual({ esbuild: '1.0.0', zod: '4.0.0' })
  })

  it('asks for the Node that tests and reconcilers in TypeScript need, which npm does not bring along', () => {
    expect(installable(own, [])).toMatchObject({ engines: { node: '>=22.18' } })
  })

  it('takes the CDK from the app', () => {
    expect(installable(manifest, ["import { App } from 'aws-cdk-lib/core'"])).toMatchObject({
      dependencies: {},
      peerDependencies: { 'aws-cdk-lib': expect.any(String) },
    })
  })

  it('is not made of an import that is no dependency', () => {
    expect(() => installable(manifest, ["import left from 'left-pad'"])).toThrow('left-pad is imported')
  })
})
