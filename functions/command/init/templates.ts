import type { Names } from '../../reconcilers/new/names.ts'
import { exampleFile, kindFile, reconcilerFile } from '../../reconcilers/new/templates.ts'

/** The files of a repository with one reconciler, by path: the smallest one that does something. */
export function filesOfApp(names: Names): Readonly<Record<string, string>> {
  const { file } = names
  return {
    'reconcilers.ts': listFile(names),
    [`${file}/kind.ts`]: kindFile(names, 'setpoint'),
    [`${file}/reconciler.ts`]: reconcilerFile(names, 'setpoint'),
    [`${file}/${file}.test.ts`]: testFile(names),
    [`${file}/example.yaml`]: exampleFile(names, `${file}/example.yaml`),
    'deploy/app.ts': deployFile(names),
    'cdk.json': `${JSON.stringify({ app: 'node deploy/app.ts' }, null, 2)}\n`,
    'tsconfig.json': `${JSON.stringify({ compilerOptions, include: ['**/*.ts'] }, null, 2)}\n`,
    '.gitignore': [
      'node_modules/',
      '.setpoint/',
      'cdk.out/',
      '*.kubeconfig',
      '*.backup',
      '*.tar',
      '*.key',
      '*.pem',
      'token',
      '',
    ].join('\n'),
  }
}

/** A package.json, as far as `setpoint init` writes it. */
export interface AppManifest {
  readonly name?: string
  readonly private?: boolean
  readonly type?: string
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** The versions that this version is tested with. */
export const appDependencies = {
  dependencies: { setpoint: '0.1.0', zod: '4.6.7' },
  devDependencies: {
    '@types/node': '24.19.2',
    'aws-cdk': '2.1148.1',
    'aws-cdk-lib': '2.276.0',
    constructs: '10.8.1',
    'setpoint-cdk': '0.1.0',
    typescript: '7.0.2',
    vitest: '5.1.0',
  },
} as const

/** In the place of the shell, so that a program ends with its npm. */
const scripts = {
  dev: 'exec setpoint dev',
  start: 'exec setpoint start',
  test: 'tsc && vitest run',
  deploy: 'cdk deploy',
}

/**
 * The manifest with what the repository needs. What it has is kept, but for the test script that `npm init` writes, and
 * for its type: the files are ES modules. A package stays where it is: of one that is named twice, npm takes what
 * `devDependencies` say.
 */
export function completeManifest(found: AppManifest, directory: string): AppManifest {
  const { test, ...kept } = found.scripts ?? {}
  const known = { ...found.dependencies, ...found.devDependencies, ...found.optionalDependencies }
  const lacking = (needed: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(needed).filter(([name]) => !Object.hasOwn(known, name)))
  const ownTest = test === undefined || test.includes('no test specified') ? {} : { test }
  return {
    name: directory.toLowerCase().replaceAll(/[^a-z0-9._-]/g, '-'),
    private: true,
    ...found,
    type: 'module',
    scripts: { ...scripts, ...kept, ...ownTest },
    dependencies: { ...lacking(appDependencies.dependencies), ...found.dependencies },
    devDependencies: { ...lacking(appDependencies.devDependencies), ...found.devDependencies },
  }
}

/** Node runs TypeScript as it is when only types are to be taken out of it, and imports name their files. */
const compilerOptions = {
  target: 'es2024',
  lib: ['es2024', 'esnext.disposable'],
  module: 'nodenext',
  types: ['node'],
  noEmit: true,
  strict: true,
  erasableSyntaxOnly: true,
  verbatimModuleSyntax: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
}

function listFile({ file, variable }: Names): string {
  return `import type { Controller } from 'setpoint'
import { ${variable}Reconciler } from './${file}/reconciler.ts'

/** Everything that runs here, by \`npm run dev\` and \`npm start\`, and on AWS. */
export const reconcilers: readonly Controller[] = [${variable}Reconciler]
`
}

function testFile({ kind, file, variable }: Names): string {
  return `import { ConfigMap } from 'setpoint'
import { createTestEnv } from 'setpoint/testing'
import { expect, it } from 'vitest'
import { ${kind} } from './kind.ts'
import { ${variable}Reconciler } from './reconciler.ts'

it('becomes ready, and puts its ConfigMap back when somebody edits it', async () => {
  await using env = await createTestEnv({ reconcilers: [${variable}Reconciler] })
  await env.apply(${kind}, { metadata: { name: 'example' }, spec: { message: 'hello' } })
  await env.settle()
  expect(await env.get(${kind}, 'example')).toMatchObject({
    status: { configMap: 'example-${file}', conditions: [{ type: 'Ready', status: 'True' }] },
  })

  await env.patch(ConfigMap, 'example-${file}', { data: { message: 'edited by hand' } })
  await env.settle()
  expect(await env.get(ConfigMap, 'example-${file}')).toMatchObject({ data: { message: 'hello' } })
})

it('takes its ConfigMap along when it is deleted', async () => {
  await using env = await createTestEnv({ reconcilers: [${variable}Reconciler] })
  await env.apply(${kind}, { metadata: { name: 'example' }, spec: { message: 'hello' } })
  await env.settle()
  await env.delete(${kind}, 'example')
  await env.settle()
  expect(await env.get(ConfigMap, 'example-${file}')).toBeUndefined()
})
`
}

function deployFile({ kind }: Names): string {
  return `import { App, CfnOutput, Stack } from 'aws-cdk-lib'
import { Controller, ControlPlane, kubectlSetup } from 'setpoint/cdk'

const app = new App()
const stack = new Stack(app, '${kind}Plane')
const controlPlane = new ControlPlane(stack, 'ControlPlane', {
  reconcilers: 'reconcilers.ts',
  // Who may use the API: ARNs of IAM roles and users. This one is the role Admin of your own account.
  adminPrincipals: [\`arn:aws:iam::\${stack.account}:role/Admin\`],
})
new Controller(stack, '${kind}Controller', { controlPlane, reconciler: '${kind.toLowerCase()}' })
new CfnOutput(stack, 'KubectlSetup', { value: kubectlSetup(controlPlane) })
`
}
