import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConfigMap, defineKind, defineReconciler, done, type Controller } from '../../shared/index.ts'
import { startLocalControlPlane, type LocalControlPlane } from '../../shared/runtime/local/control-plane.ts'
import { openApiClient, type ApiClient } from '../support/api-client.ts'
import { root } from '../support/control-plane-process.ts'
import { runProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const kindOf = (kind: string) =>
  defineKind({ group: 'example.dev', version: 'v1', kind, spec: z.object({}), status: z.object({ by: z.string() }) })
const Page = kindOf('Page')
const Book = kindOf('Book')
const reconcilerOf = (kind: typeof Page, by: string): Controller =>
  defineReconciler(kind, { owns: [ConfigMap], reconcile: async () => done({ status: { by } }) })

const collectionOf = (plural: string): string => `/apis/example.dev/v1/namespaces/default/${plural}`

describe('a reload', () => {
  const directory = temporaryDirectory('reload')
  let controllers: () => readonly Controller[] = () => [reconcilerOf(Page, 'first')]
  let plane: LocalControlPlane
  let client: ApiClient
  const watched: string[] = []
  beforeAll(async () => {
    const options = { port: 0, dataDirectory: directory.path, logLevel: 'error' } as const
    plane = await startLocalControlPlane({ ...options, controllers: () => controllers() })
    client = openApiClient(join(directory.path, 'kubeconfig'))
    await client.send(`POST ${collectionOf('pages')}`, { body: { metadata: { name: 'a' } } })
    const stream = await client.stream(`${collectionOf('pages')}?watch=true`)
    stream.on('data', (piece: Buffer) => watched.push(piece.toString()))
  })
  afterAll(async () => {
    client[Symbol.dispose]()
    await plane.stop(0)
    directory[Symbol.dispose]()
  })
  const madeBy = async (plural: string) =>
    (await client.send(`GET ${collectionOf(plural)}/a`)).body.status?.by as string | undefined

  it('runs every object by the new code, and a watch goes on', async () => {
    await expect.poll(() => madeBy('pages')).toBe('first')
    controllers = () => [reconcilerOf(Page, 'second')]
    await plane.reload(1_000)
    await expect.poll(() => madeBy('pages')).toBe('second')
    await expect.poll(() => watched.join('')).toContain('"by":"second"')
  })

  it('serves the kinds of new reconcilers', async () => {
    controllers = () => [reconcilerOf(Page, 'second'), reconcilerOf(Book, 'third')]
    await plane.reload(1_000)
    await client.send(`POST ${collectionOf('books')}`, { body: { metadata: { name: 'a' } } })
    await expect.poll(() => madeBy('books')).toBe('third')
  })

  it('leaves a key alone on which the old code goes on, and no other', async () => {
    const gate = Promise.withResolvers<void>()
    let [underWay, most] = [0, 0]
    const counted = (by: string, until: Promise<void>): Controller =>
      defineReconciler(Book, {
        reconcile: async ({ metadata: { name } }) => {
          if (name === 'slow') most = Math.max(most, ++underWay)
          if (name === 'slow') await until.finally(() => underWay--)
          return done({ status: { by } })
        },
      })
    const bookBy = async (name: string) =>
      (await client.send(`GET ${collectionOf('books')}/${name}`)).body.status?.by as string | undefined
    controllers = () => [reconcilerOf(Page, 'second'), counted('old', gate.promise)]
    await plane.reload(1_000)
    await client.send(`POST ${collectionOf('books')}`, { body: { metadata: { name: 'slow' } } })
    await expect.poll(() => underWay).toBe(1)
    controllers = () => [reconcilerOf(Page, 'second'), counted('new', Promise.resolve())]
    await plane.reload(0)
    await expect.poll(() => bookBy('a')).toBe('new')
    gate.resolve()
    await expect.poll(() => bookBy('slow')).toBe('new')
    expect(most).toBe(1)
  })

  it.each([
    [
      'cannot be loaded',
      () => {
        throw new SyntaxError('Unexpected token')
      },
      'Unexpected token',
    ],
    ['cannot stand together', () => [reconcilerOf(Page, 'a'), reconcilerOf(Page, 'b')], 'page'],
  ])('keeps the reconcilers of before where others %s', async (_, others, message) => {
    controllers = others
    await expect(plane.reload(1_000)).rejects.toThrow(message)
    await client.send(`DELETE ${collectionOf('pages')}/a`)
    await client.send(`POST ${collectionOf('pages')}`, { body: { metadata: { name: 'a' } } })
    await expect.poll(() => madeBy('pages')).toBe('second')
  })
})

describe('code that cannot be loaded', () => {
  const directory = temporaryDirectory('unloaded')
  const path = (name: string): string => join(directory.path, name)
  /** What a load of a module with this text says, in a process of its own: the hooks stay for its life. */
  const said = async (text: string, name = 'kind.ts'): Promise<string> => {
    writeFileSync(path('reconcilers.ts'), `import './${name}'\n`)
    writeFileSync(path(name), text)
    const script = `const { openReloadedModules } = await import(${JSON.stringify(join(root, 'functions/command/reload.ts'))})
const { inspect } = await import('node:util')
await openReloadedModules(${JSON.stringify(path('reconcilers.ts'))}).load().catch((error) => console.log(error.code === 'BAD_REQUEST' ? error.message : inspect(error)))
process.exit()`
    const { stdout } = await runProgram(process.execPath, ['--input-type=module', '-e', script], {
      cwd: directory.path,
    })
    return stdout
  }
  afterAll(() => directory[Symbol.dispose]())

  it('names the file and the line, and no frame of Node', async () => {
    const stdout = await said('export const a: number = 1\n\nexport export const b = 2\n')
    expect(stdout).toBe(`reconcilers.ts cannot be loaded: ${path('kind.ts')}:3

export export const b = 2
       ^^^^^^

SyntaxError [ERR_INVALID_TYPESCRIPT_SYNTAX]: Expected '{', got 'export'
`)
  })

  it('names the line of an import of what is not there', async () => {
    writeFileSync(path('other.ts'), 'export const there = 1\n')
    const stdout = await said("import { missing } from './other.ts'\nconsole.log(missing)\n")
    expect(stdout).toMatch(/^reconcilers\.ts cannot be loaded: file:.*\/kind\.ts:1\n/)
    expect(stdout).toContain(
      "SyntaxError: The requested module './other.ts' does not provide an export named 'missing'",
    )
    expect(stdout).not.toMatch(/\?setpoint=| at /)
  })

  it('keeps the frames of what throws, which are the author’s', async () => {
    const stdout = await said("function fail() {\n  throw new RangeError('boom')\n}\nfail()\nexport {}\n")
    expect(stdout).toContain('RangeError: boom')
    expect(stdout).toMatch(/kind\.ts:2:9/)
    expect(stdout).not.toMatch(/\?setpoint=|node:internal/)
  })
})
