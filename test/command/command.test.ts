import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { appDependencies, completeManifest } from '../../functions/command/init/templates.ts'
import { openApiClient, type ApiClient } from '../support/api-client.ts'
import { root } from '../support/control-plane-process.ts'
import { findKubectls, noKubectl } from '../support/kubectl.ts'
import { runProgram, startProgram, type Program } from '../support/program.ts'
import { inProcesses, setpointIn, type StartedPlane } from '../support/setpoint-command.ts'
import { isLong, longOnly } from '../support/strength.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const directory = temporaryDirectory('command')
const main = join(root, 'functions/command/main.ts')
const setpoint = (cwd: string, ...args: readonly string[]) => setpointIn(cwd).call(...args)
afterAll(() => directory[Symbol.dispose]())

/** A directory of somebody's own, where `setpoint` and what apps need are installed. */
function makeApp(name: string): string {
  const app = join(directory.path, name)
  const modules = join(app, 'node_modules')
  mkdirSync(join(modules, '@types'), { recursive: true })
  symlinkSync(root, join(modules, 'setpoint'))
  for (const one of ['zod', 'vitest', 'typescript', '@types/node', 'aws-cdk-lib', 'constructs'])
    symlinkSync(join(root, 'node_modules', one), join(modules, one))
  return app
}

async function expectMistake(cwd: string, args: readonly string[], message: string): Promise<void> {
  const ended = await setpoint(cwd, ...args)
  expect(ended).toMatchObject({ code: 1, stdout: '' })
  expect(ended.stderr).toContain(message)
  expect(ended.stderr.trim().split('\n')).toHaveLength(1)
}

describe('setpoint', () => {
  const empty = makeApp('empty')

  it('says what it can do, and each of its commands what comes after it', async () => {
    const { code, stdout } = await inProcesses(empty).call('--help')
    expect(code).toBe(0)
    const names = [...stdout.matchAll(/^ {2}([a-z-]+) {2}/gm)].map(([, name = '']) => name)
    expect(names).toEqual([
      'init',
      'dev',
      'start',
      'check',
      'explain',
      'doctor',
      'reconcile',
      'runs',
      'logs',
      'get-queue',
      'get-timers',
      'get-budgets',
      'log-level',
      'migrate',
      'backup',
      'restore',
      'health',
      'image',
      'token',
      'completion',
    ])
    for (const name of names.filter((one) => one !== 'start'))
      expect(await setpoint(empty, name, '--help')).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(`usage: setpoint ${name}`),
      })
  })

  it('ends well when nobody reads what it says, as behind head', async () => {
    const program = spawn(process.execPath, [main, '--help'], { cwd: empty, stdio: ['ignore', 'pipe', 'pipe'] })
    program.stdout.destroy()
    const [[code], stderr] = await Promise.all([once(program, 'close'), textOf(program.stderr)])
    expect([code, stderr]).toEqual([0, ''])
  })

  const isFull = existsSync('/dev/full')
  it.skipIf(!isFull)('says what cannot be written in one line', { meta: { skipped: 'no /dev/full' } }, async () => {
    const ended = await runProgram('sh', ['-c', `"${process.execPath}" "${main}" --help > /dev/full`], { cwd: empty })
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/^setpoint: cannot write .*ENOSPC.*\n$/) })
  })

  it.each([
    [['nothing'], 'there is no command nothing: type setpoint --help'],
    [['explan'], 'there is no command explan: type setpoint explain, or setpoint --help'],
    [['explain', 'greeting'], 'greeting is no object: type setpoint explain greeting/NAME'],
    [['logs', 'greeting/a', '-f'], "Unknown option '-f': type setpoint logs --help"],
    [['dev', 'nowhere.ts'], 'nowhere.ts is not there: name the module that exports your reconcilers'],
    [
      ['dev'],
      'this directory has no reconcilers.ts: name the module that exports your reconcilers, or type setpoint init',
    ],
    [['dev', 'nowhere'], 'nowhere has no reconcilers.ts'],
    [['dev', '--prot', '1'], '--prot'],
    [['init', 'DnsRecord'], 'type setpoint init example.dev/v1/DnsRecord'],
    [['init', 'example.dev/1/A'], 'version "1" is none'],
    [['reconcile', 'greeting'], 'type setpoint reconcile KIND/NAME, or setpoint reconcile --all KIND'],
    [['completion', 'fish'], 'name the shell'],
    [['dev', 'a.ts', 'b.ts'], 'type setpoint dev [entry]: one module has all'],
    [['doctor', 'now'], 'type setpoint doctor, and nothing after it'],
  ])('refuses %j in a line', async (args, message) => {
    await expectMistake(empty, args, message)
  })

  it('start says in a process of its own what comes after it, and what it does not find', longOnly, async () => {
    const { call } = inProcesses(empty)
    expect(await call('start', '--help')).toMatchObject({ code: 0, stdout: expect.stringContaining('usage:') })
    expect(await call('start', 'nowhere')).toMatchObject({ code: 1, stderr: expect.stringContaining('nowhere has no') })
  })

  it('checks a data directory', async () => {
    const { code, stderr } = await setpoint(empty, 'check', '--data-dir', 'none')
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('none') })
  })

  it('prints completions that a shell takes', async () => {
    const { stdout } = await setpoint(empty, 'completion', 'bash')
    expect(stdout).toMatch(/^complete .* -W 'init dev start .*' setpoint\n$/)
  })
})

describe('setpoint init', () => {
  const app = makeApp('greetings')
  let written: Awaited<ReturnType<typeof setpoint>>
  beforeAll(async () => {
    writeFileSync(join(app, 'package.json'), JSON.stringify({ name: 'mine', scripts: { lint: 'x' }, license: 'MIT' }))
    written = await setpoint(app, 'init')
  })

  it('writes a repository that compiles and passes its tests as it is', longOnly, async () => {
    expect(written).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('npm run dev') })
    const bin = (path: string): string => join(root, 'node_modules', path)
    expect(await runProgram(process.execPath, [bin('typescript/bin/tsc')], { cwd: app })).toMatchObject({
      code: 0,
      stdout: '',
    })
    const tests = await runProgram(process.execPath, [bin('vitest/vitest.mjs'), 'run'], {
      cwd: app,
      env: { VITEST: undefined },
    })
    expect(tests).toMatchObject({ code: 0, stdout: expect.stringMatching(/2 passed/) })
  })

  it('keeps what the manifest says, and adds what it lacks', () => {
    expect(JSON.parse(readFileSync(join(app, 'package.json'), 'utf8'))).toMatchObject({
      name: 'mine',
      license: 'MIT',
      type: 'module',
      scripts: { lint: 'x', dev: 'exec setpoint dev', test: 'tsc && vitest run' },
      dependencies: appDependencies.dependencies,
    })
    const made = completeManifest({ scripts: { test: 'echo "Error: no test specified" && exit 1' } }, 'My App')
    expect(made).toMatchObject({ name: 'my-app', scripts: { test: 'tsc && vitest run' } })
    expect(completeManifest({ scripts: { test: 'mine' }, dependencies: { zod: '4.0.0' } }, 'a')).toMatchObject({
      scripts: { test: 'mine' },
      dependencies: { zod: '4.0.0' },
    })
  })

  it('leaves a package where the manifest has it, since npm takes the development dependency of two', () => {
    const found = {
      dependencies: { 'aws-cdk-lib': '^2.280.0' },
      devDependencies: { zod: '^4.7.0' },
      optionalDependencies: { constructs: '^10.9.0' },
    }
    const { dependencies, devDependencies, optionalDependencies } = completeManifest(found, 'a')
    expect(dependencies).toEqual({ 'aws-cdk-lib': '^2.280.0', setpoint: appDependencies.dependencies.setpoint })
    const { 'aws-cdk-lib': _, constructs: __, ...others } = appDependencies.devDependencies
    expect(devDependencies).toEqual({ ...others, zod: '^4.7.0' })
    expect(optionalDependencies).toEqual(found.optionalDependencies)
  })

  it('says that a package of CommonJS becomes one of ES modules, and nothing of any other', async () => {
    const other = makeApp('commonjs')
    writeFileSync(join(other, 'package.json'), JSON.stringify({ name: 'mine', type: 'commonjs' }))
    const { stdout } = await setpoint(other, 'init')
    expect(stdout).toContain('"type" in package.json was "commonjs" and is "module" now: a .js file with require')
    expect(JSON.parse(readFileSync(join(other, 'package.json'), 'utf8'))).toMatchObject({ type: 'module' })
    expect(written.stdout).not.toContain('"type"')
  })

  it('writes over nothing', async () => {
    const before = readFileSync(join(app, 'reconcilers.ts'), 'utf8')
    await expectMistake(
      app,
      ['init'],
      'reconcilers.ts is there already: nothing was written. For another kind type setpoint init example.dev/v1/DnsRecord',
    )
    await expectMistake(app, ['init', 'a.dev/v1/Greeting'], 'greeting/kind.ts is there already: nothing was written')
    expect(readFileSync(join(app, 'reconcilers.ts'), 'utf8')).toBe(before)
  })

  it('writes the folder of another kind into a repository, and says what to add', async () => {
    const two = makeApp('two-kinds')
    await setpoint(two, 'init')
    const filesIn = (): [string, string][] =>
      readdirSync(two, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
        .map(({ parentPath, name }) => join(parentPath, name))
        .map((file) => [relative(two, file), readFileSync(file, 'utf8')])
    const before = new Map(filesIn())
    const { code, stdout, stderr } = await setpoint(two, 'init', 'example.dev/v1/OtherThing')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const line = "import { otherThingReconciler } from './other-thing/reconciler.ts'"
    expect(stdout).toContain(`Next, in reconcilers.ts, this line, and otherThingReconciler in the list:\n\n  ${line}\n`)
    expect(stdout).toContain(
      "new Controller(stack, 'OtherThingController', { controlPlane, reconciler: 'otherthing' })",
    )
    const after = new Map(filesIn())
    expect([...before].filter(([path, text]) => after.get(path) !== text)).toEqual([])
    const added = ['example.yaml', 'kind.ts', 'other-thing.test.ts', 'reconciler.ts']
    expect([...after.keys()].filter((path) => !before.has(path)).toSorted()).toEqual(
      added.map((name) => `other-thing/${name}`),
    )
    const list = before
      .get('reconcilers.ts')
      ?.replace('[greetingReconciler]', '[greetingReconciler, otherThingReconciler]')
    writeFileSync(join(two, 'reconcilers.ts'), `${line}\n${list}`)
    const count = "import('./reconcilers.ts').then(({ reconcilers }) => console.log(reconcilers.length))"
    expect(await runProgram(process.execPath, ['-e', count], { cwd: two })).toMatchObject({ code: 0, stdout: '2\n' })
  })

  it('writes nothing where a file stands in the way of a directory', async () => {
    const other = makeApp('in-the-way')
    writeFileSync(join(other, 'greeting'), '')
    await expectMistake(other, ['init'], 'greeting is there already: nothing was written')
    expect(readdirSync(other)).toEqual(['greeting', 'node_modules'])
  })

  it.each([['{ name'], [''], ['null'], ['[]']])('writes nothing beside a manifest that is none: %j', async (text) => {
    const other = makeApp(`manifest-${text.length}`)
    writeFileSync(join(other, 'package.json'), text)
    await expectMistake(other, ['init'], 'package.json holds no JSON object: nothing was written')
    expect(readdirSync(other)).toEqual(['node_modules', 'package.json'])
  })

  it('names the versions that this repository has', () => {
    const { version, dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
    const ours = { ...devDependencies, ...dependencies, setpoint: version, 'setpoint-cdk': version }
    for (const [name, wanted] of Object.entries({
      ...appDependencies.dependencies,
      ...appDependencies.devDependencies,
    }))
      expect([name, ours[name]]).toEqual([name, wanted])
  })
})

/** A compiler and a process that start take their time where other tests run. */
const long = { timeout: 120_000 }

describe('setpoint dev', longOnly, () => {
  const app = makeApp('developed')
  let program: Program
  let client: ApiClient
  const collection = '/apis/example.dev/v1/namespaces/default/greetings'
  const message = async () =>
    (await client.send('GET /api/v1/namespaces/default/configmaps/example-greeting')).body.data?.message
  const edit = (from: string, to: string): void => {
    const file = join(app, 'greeting/reconciler.ts')
    writeFileSync(file, readFileSync(file, 'utf8').replace(from, to))
  }

  beforeAll(async () => {
    await setpoint(app, 'init')
    // The types of the CDK take the compiler longer than all the rest.
    rmSync(join(app, 'deploy'), { recursive: true })
    program = await startProgram(process.execPath, [main, 'dev', '--port', '0'], { cwd: app })
    await program.says(/ready at/)
    client = openApiClient(join(app, '.setpoint/kubeconfig'))
    const body = {
      apiVersion: 'example.dev/v1',
      kind: 'Greeting',
      metadata: { name: 'example' },
      spec: { message: 'hi' },
    }
    await client.send(`POST ${collection}`, { body })
  })
  afterAll(async () => {
    client[Symbol.dispose]()
    await program[Symbol.asyncDispose]()
  })

  it('runs the reconcilers of the directory, and shows each run', async () => {
    await expect.poll(message).toBe('hi')
    await expect
      .poll(() => program.stderr)
      .toMatch(/greeting default\/example: reconciled in \d+ ms, done because of created/)
  })

  it('takes the code that changed, keeps the objects and who is connected, and runs each object', async () => {
    edit('message: spec.message', 'message: `${spec.message}!`')
    await expect.poll(message, long).toBe('hi!')
    expect(program.stdout).toMatch(
      /greeting\/reconciler.ts has changed\nthe reconcilers run the changed code after \d+ ms\n/,
    )
    expect(program.stdout.match(/ready at/g)).toHaveLength(1)
  })

  it('tells a type error, and a file that cannot be loaded, and goes on when it is mended', async () => {
    edit('${spec.message}!', '${spec.massage}!')
    await expect.poll(() => program.stderr, long).toMatch(/types: greeting\/reconciler.ts.* error TS/)
    edit('export const', 'export export const')
    await expect.poll(() => program.stderr, long).toMatch(/the old reconcilers stay in use: .*SyntaxError/s)
    expect(program.stderr).not.toMatch(/\?setpoint=|node:internal/)
    expect(await client.send(`GET ${collection}/example`)).toMatchObject({ status: 200 })
    edit('export export const', 'export const')
    edit('${spec.massage}!', '${spec.message}?')
    await expect.poll(message, long).toBe('hi?')
  })

  it('takes a file that is written after it is imported, and a directory that comes back', async () => {
    const greeting = join(app, 'greeting')
    edit('import { Greeting }', "import { end } from './late/end.ts'\nimport { Greeting }")
    edit('${spec.message}?', '${spec.message}${end}')
    await expect.poll(() => program.stderr, long).toMatch(/the old reconcilers stay in use: .*late\/end.ts/s)
    const write = (end: string): void => writeFileSync(join(greeting, 'late/end.ts'), `export const end = '${end}'\n`)
    mkdirSync(join(greeting, 'late'))
    await delay(300)
    write(' made')
    await expect.poll(message, long).toBe('hi made')

    renameSync(greeting, `${greeting}-before`)
    cpSync(`${greeting}-before`, greeting, { recursive: true })
    await delay(300)
    for (const end of [' back', ' again']) {
      write(end)
      await expect.poll(message, long).toBe(`hi${end}`)
    }
  })

  it('says that types are not checked where there is no compiler, and what to type', async () => {
    const cwd = join(app, 'untyped')
    mkdirSync(cwd)
    writeFileSync(join(cwd, 'reconcilers.ts'), `export * from '../reconcilers.ts'\n`)
    await using untyped = await startProgram(process.execPath, [main, 'dev', '--port', '0'], { cwd })
    await untyped.says(/ready at/)
    expect(untyped.stdout).toMatch(/^types are not checked: TypeScript is not installed here: npm install,/)
    await untyped.stop()
  })

  it('ends with its control plane and its compiler', async () => {
    const { code, signal } = await program.stop()
    expect(code === 0 || signal === 'SIGTERM').toBe(true)
  })
})

it('setpoint dev ends when the npm that runs it is killed', longOnly, async () => {
  const app = makeApp('by-npm')
  await setpoint(app, 'init')
  rmSync(join(app, 'tsconfig.json'))
  writeFileSync(
    join(app, 'package.json'),
    JSON.stringify({ type: 'module', scripts: { dev: `exec node ${main} dev --port 0` } }),
  )
  const npm = await startProgram('npm', ['run', 'dev'], { cwd: app })
  await npm.says(/ready at/)
  expect(await setpoint(app, 'health')).toMatchObject({ code: 0 })
  await npm.stop('SIGKILL')
  const health = async (): Promise<string> => (await setpoint(app, 'health')).stderr
  await expect.poll(health, { timeout: 60_000 }).toContain('no control plane answers')
})

describe('setpoint dev and its control plane', longOnly, () => {
  const startIn = async (name: string): Promise<{ app: string; program: Program }> => {
    const app = makeApp(name)
    await setpoint(app, 'init')
    rmSync(join(app, 'tsconfig.json'))
    const env = { npm_lifecycle_event: undefined }
    const program = await startProgram(process.execPath, [main, 'dev', '--port', '0'], { cwd: app, env })
    await program.says(/ready at/)
    return { app, program }
  }

  it('say that the one was killed, and end with 1', async () => {
    const { program } = await startIn('plane-killed')
    const { stdout } = await runProgram('pgrep', ['-P', String(program.pid), '-f', 'start-reloading'])
    process.kill(Number(stdout), 'SIGKILL')
    const { code, stderr } = await program.ended
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('was ended by SIGKILL') })
  })

  it('end when the other is killed', async () => {
    const { app, program } = await startIn('dev-killed')
    await program.stop('SIGKILL')
    const health = async (): Promise<string> => (await setpoint(app, 'health')).stderr
    await expect.poll(health, { timeout: 60_000 }).toContain('no control plane answers')
  })
})

const lacksKubectl = isLong && (await findKubectls()).length === 0

describe.skipIf(lacksKubectl)('setpoint start, asked with kubectl', { meta: { skipped: noKubectl } }, () => {
  let plane: StartedPlane
  const cwd = join(directory.path, 'started')
  beforeAll(async () => {
    mkdirSync(cwd)
    plane = await setpointIn(cwd).start(join(root, 'examples/greeting'))
    using client = openApiClient(join(cwd, '.setpoint/kubeconfig'))
    const body = {
      apiVersion: 'example.dev/v1',
      kind: 'Greeting',
      metadata: { name: 'hello' },
      spec: { name: 'world' },
    }
    await client.send('POST /apis/example.dev/v1/namespaces/default/greetings', { body })
  })
  afterAll(() => plane[Symbol.asyncDispose]())

  it('explains an object, runs it, and has the doctor look', async () => {
    const { stdout, stderr } = await setpoint(cwd, 'explain', 'greeting/hello')
    expect({ stdout, stderr }).toMatchObject({ stdout: expect.stringContaining('1. DESIRED'), stderr: '' })
    expect(await setpoint(cwd, 'reconcile', 'greeting/hello')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('annotated'),
    })
    expect(await setpoint(cwd, 'reconcile', '--all', 'greetings')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('annotated'),
    })
    expect((await setpoint(cwd, 'doctor')).stdout).toContain('greeting, for Greeting')
  })

  it('says that no object is there to be run', async () => {
    const none = 'setpoint: nothing runs: no greetings found in the namespace empty\n'
    const told = await setpoint(cwd, 'reconcile', '--all', 'greetings', '-n', 'empty')
    expect(told).toMatchObject({ code: 0, stdout: '', stderr: none })
  })

  it('says what kubectl says of what is not there', async () => {
    await expectMistake(cwd, ['explain', 'greeting/nobody'], 'greetings.example.dev "nobody" not found')
    await expectMistake(cwd, ['explain', 'greeting'], 'type setpoint explain greeting/NAME')
  })
})
