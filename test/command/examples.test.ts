import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { openApiClient } from '../support/api-client.ts'
import { root } from '../support/control-plane-process.ts'
import { startProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** Each example is started as it stands, and its manifest applied: every object of it is Ready then. */
const main = join(root, 'functions/command/main.ts')
const folders = globSync('examples/*/*.test.ts')
  .map((file) => basename(dirname(file)))
  .toSorted()

interface Body {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

it.each(folders)('examples/%s runs, and its manifest is Ready', { timeout: 240_000 }, async (name) => {
  const manifest = join('examples', name, 'example.yaml')
  expect(existsSync(manifest), `${manifest} is missing`).toBe(true)
  using scratch = temporaryDirectory(`example-${name}`)
  const data = join(scratch.path, 'data')
  const args = [main, 'start', join('examples', name), '--port', '0', '--data-dir', data]
  await using plane = await startProgram(process.execPath, args, { cwd: root })
  await plane.says(/ready at/)
  using client = openApiClient(join(data, 'kubeconfig'))

  /** As kubectl finds them. */
  const pathOf = async ({ apiVersion, kind, metadata: { namespace = 'default' } }: Body): Promise<string> => {
    const rootPath = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const { body } = await client.send(`GET ${rootPath}`)
    const found = body.resources.find(
      (one: { kind: string; name: string }) => one.kind === kind && !one.name.includes('/'),
    )
    return found.namespaced ? `${rootPath}/namespaces/${namespace}/${found.name}` : `${rootPath}/${found.name}`
  }
  const bodies = parseAllDocuments(readFileSync(manifest, 'utf8')).map((document) => document.toJS() as Body)
  for (const body of bodies)
    expect(await client.send(`POST ${await pathOf(body)}`, { body })).toMatchObject({ status: 201 })
  for (const body of bodies.filter(({ apiVersion }) => apiVersion !== 'v1')) {
    const path = `${await pathOf(body)}/${body.metadata.name}`
    const ready = async () => {
      const { conditions = [] } = (await client.send(`GET ${path}`)).body.status ?? {}
      return conditions.find(({ type }: { type: string }) => type === 'Ready')?.status
    }
    await expect.poll(ready, { timeout: 60_000 }).toBe('True')
  }
})
