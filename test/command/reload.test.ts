import { join } from 'node:path'
import * as z from 'zod'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConfigMap, defineKind, defineReconciler, done, type Controller } from '../../shared/index.ts'
import { startLocalControlPlane, type LocalControlPlane } from '../../shared/runtime/local/control-plane.ts'
import { openApiClient, type ApiClient } from '../support/api-client.ts'
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
