import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApiClient, pathOf, readManifests, type ApiClient, type Manifest } from '../support/api-client.ts'
import { root, startControlPlane, type ControlPlaneProcess } from '../support/control-plane-process.ts'
import { eventually } from '../support/eventually.ts'
import { startProgram, type Program } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** The example of the README, on the program behind `npm start`, with a Konnect in a process of its own. */

const directory = temporaryDirectory('konnect')
const dataDirectory = join(directory.path, 'data')
const api = '/apis/konnect.setpoint.dev/v1alpha1/namespaces/default'
let plane: ControlPlaneProcess
let client: ApiClient
let fake: Program
let konnectUrl = ''

async function start(): Promise<void> {
  plane = await startControlPlane({ dataDirectory })
  client = openApiClient(plane.kubeconfig)
}

beforeAll(async () => {
  fake = await startProgram(process.execPath, [join(root, 'test/reconcilers/konnect/fake-konnect.ts'), '--port', '0'])
  konnectUrl = (await fake.says(/ready at (\S+)\n/))[1] ?? ''
  await start()
})
afterAll(async () => {
  client[Symbol.dispose]()
  await plane[Symbol.asyncDispose]()
  await fake[Symbol.asyncDispose]()
  directory[Symbol.dispose]()
})

/** The manifests of the example, asserted every second and sent to our own Konnect. */
const manifests: readonly Manifest[] = readManifests(join(root, 'examples/konnect.yaml')).map((manifest) => {
  const { metadata, spec } = manifest as Manifest & { readonly spec: object }
  const annotations = { 'setpoint.dev/resync': '1s' }
  return { ...manifest, metadata: { ...metadata, annotations }, spec }
})

async function apply(manifest: object): Promise<void> {
  const options = { body: manifest, contentType: 'application/apply-patch+yaml' }
  const { status } = await client.send(`PATCH ${pathOf(manifest as Manifest)}?fieldManager=test`, options)
  expect([200, 201]).toContain(status)
}

async function get(path: string) {
  return (await client.send(`GET ${api}/${path}`)).body
}

async function entities(collection: string): Promise<readonly { readonly id: string; readonly host?: string }[]> {
  return (await fetch(`${konnectUrl}/ui/${collection}`)).json() as Promise<readonly { readonly id: string }[]>
}

const isProgrammed = async (path: string): Promise<void> => {
  const { status } = await get(path)
  expect(status.conditions).toContainEqual(expect.objectContaining({ type: 'Programmed', status: 'True' }))
}

describe('the example', () => {
  it('is made in Konnect, whatever the order, and each object is Programmed', async () => {
    for (const manifest of manifests.toReversed()) {
      const given = manifest as Manifest & { readonly spec: object }
      const isControlPlane = manifest.kind === 'KonnectControlPlane'
      await apply(isControlPlane ? { ...given, spec: { ...given.spec, serverURL: konnectUrl } } : given)
    }
    const metadata = { name: 'konnect', namespace: 'default' }
    await apply({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: { token: 'kpat_test' } })
    for (const path of [
      'konnectcontrolplanes/shop',
      'konnectservices/orders',
      'konnectroutes/orders',
      'konnectconsumers/warehouse',
    ])
      await eventually(() => isProgrammed(path))
    for (const collection of ['control-planes', 'services', 'routes', 'consumers'])
      expect(await entities(collection)).toHaveLength(1)
  })

  it('is put back when somebody edits in the UI, though the control plane is killed meanwhile', async () => {
    const [service] = await entities('services')
    await fetch(`${konnectUrl}/ui/${service?.id}`, {
      method: 'PATCH',
      body: JSON.stringify({ host: 'edited.example' }),
    })
    client[Symbol.dispose]()
    await plane.stop('SIGKILL')
    await start()
    await eventually(
      async () =>
        expect(await entities('services')).toMatchObject([{ id: service?.id, host: 'orders.internal.example' }]),
      20_000,
    )
  })

  it('goes from Konnect when it is deleted', async () => {
    for (const manifest of manifests) await client.send(`DELETE ${pathOf(manifest)}`)
    await eventually(async () => {
      for (const collection of ['control-planes', 'services', 'routes', 'consumers'])
        expect(await entities(collection)).toEqual([])
      for (const manifest of manifests) expect((await client.send(`GET ${pathOf(manifest)}`)).status).toBe(404)
    })
  })
})
