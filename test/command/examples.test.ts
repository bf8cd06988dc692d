import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { findEntry, loadReconcilers } from '../../functions/command/entry.ts'
import { isCondition, type ApiObject, type JsonObject } from '../../shared/index.ts'
import { createTestEnv } from '../../shared/testing/test-env.ts'
import { openApiClient, readManifests, type Manifest } from '../support/api-client.ts'
import { root } from '../support/control-plane-process.ts'
import { startProgram } from '../support/program.ts'
import { longOnly } from '../support/strength.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** Each example is run as it stands, and its manifest applied: every object of it is Ready then. */
const main = join(root, 'functions/command/main.ts')
const folders = [...new Set(globSync('examples/*/*.test.ts').map((file) => basename(dirname(file))))].toSorted()

const manifestOf = (name: string): string => join('examples', name, 'example.yaml')

it.each(folders)('examples/%s: the reconcilers that the command finds make its manifest Ready', async (name) => {
  await using env = await createTestEnv({ reconcilers: await loadReconcilers(findEntry(join('examples', name))) })
  expect(existsSync(manifestOf(name)), `${manifestOf(name)} is missing`).toBe(true)
  const manifests = parseAllDocuments(readFileSync(manifestOf(name), 'utf8')).map((one) => one.toJS() as JsonObject)
  for (const manifest of manifests) await env.applyManifest(manifest)
  await env.settle()
  await env.advance('1m')
  for (const { apiVersion, kind, metadata } of readManifests(manifestOf(name))) {
    if (apiVersion === 'v1') continue
    const [group = '', version = ''] = apiVersion.split('/')
    const object = await env.get<ApiObject>({ group, version, kind, namespaced: true }, metadata)
    expect(object && isCondition(object, 'Ready'), `${kind} ${metadata.name}`).toBe(true)
  }
})

it.each(folders)('examples/%s runs in a process, and its manifest is Ready', longOnly, async (name) => {
  using scratch = temporaryDirectory(`example-${name}`)
  const data = join(scratch.path, 'data')
  const args = [main, 'start', join('examples', name), '--port', '0', '--data-dir', data]
  await using plane = await startProgram(process.execPath, args, { cwd: root })
  await plane.says(/ready at/)
  using client = openApiClient(join(data, 'kubeconfig'))

  /** As kubectl finds them. */
  const pathOf = async ({ apiVersion, kind, metadata: { namespace = 'default' } }: Manifest): Promise<string> => {
    const rootPath = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const { body } = await client.send(`GET ${rootPath}`)
    const found = body.resources.find(
      (one: { kind: string; name: string }) => one.kind === kind && !one.name.includes('/'),
    )
    return found.namespaced ? `${rootPath}/namespaces/${namespace}/${found.name}` : `${rootPath}/${found.name}`
  }
  const bodies = readManifests(manifestOf(name))
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
