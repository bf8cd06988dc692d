import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openApiClient, type ApiClient } from '../support/api-client.ts'
import { startControlPlane, type ControlPlaneProcess } from '../support/control-plane-process.ts'
import { eventually } from '../support/eventually.ts'
import { canMount, smallDisk, type SmallDisk } from '../support/small-disk.ts'
import { longOnly } from '../support/strength.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const text = 'x'.repeat(20_000)
const map = (name: string) => ({ metadata: { name }, data: { text } })
const full = {
  status: 503,
  body: {
    kind: 'Status',
    reason: 'ServiceUnavailable',
    message: expect.stringMatching(/setpoint\.db: .*disk is full$/),
  },
}

describe.skipIf(!canMount)('a disk that is full', { meta: { skipped: 'only root may mount one' } }, () => {
  it(
    'is told as such, costs nothing that was acknowledged, and once there is room again all goes on by itself',
    longOnly,
    async () => {
      using disk = smallDisk(4_096)
      const plane = await startControlPlane({ dataDirectory: join(disk.path, 'data') })
      using client = openApiClient(plane.kubeconfig)
      await client.send('POST /api/v1/namespaces', { body: { metadata: { name: 'leaving' } } })
      const { acknowledged, free } = await writeUntilRefused(client, disk)

      expect(await client.send('DELETE /api/v1/namespaces/leaving')).toMatchObject(full)
      expect(await client.send(`POST ${maps}`, { body: map('refused') })).toMatchObject(full)
      expect(await names(client)).toEqual(acknowledged)

      // Small writes fit into what the log has left, for a while.
      for (
        let n = 0;
        (await client.send('POST /api/v1/namespaces', { body: { metadata: { name: `n${n}` } } })).status === 201;
        n++
      );
      await eventually(async () => expect(await client.send('GET /readyz')).toMatchObject({ status: 503 }))
      expect((await client.send('GET /doctor')).body).toMatch(/look +takes writes\? +no: /)
      for (const path of ['/livez', '/healthz']) expect(await client.send(`GET ${path}`)).toMatchObject({ status: 200 })

      free()
      await eventually(async () => expect(await client.send('GET /readyz')).toMatchObject({ status: 200 }))
      await eventually(async () =>
        expect(await client.send('DELETE /api/v1/namespaces/leaving')).toMatchObject({ status: 200 }),
      )
      await eventually(async () =>
        expect(await client.send('GET /api/v1/namespaces/leaving')).toMatchObject({ status: 404 }),
      )
      expect(await client.send(`POST ${maps}`, { body: map('z') })).toMatchObject({ status: 201 })

      expect(await plane.stop()).toMatchObject({ code: 0 })
      await using again = await startControlPlane(samePlace(plane))
      expect(again.url).toBe(plane.url)
      expect(await names(client)).toEqual([...acknowledged, 'z'])
    },
  )

  it('lets it be stopped, and started if it was killed, to be read', longOnly, async () => {
    using disk = smallDisk(4_096)
    const plane = await startControlPlane({ dataDirectory: join(disk.path, 'data') })
    using client = openApiClient(plane.kubeconfig)
    const { acknowledged } = await writeUntilRefused(client, disk)
    await plane.stop('SIGKILL')
    const second = await startControlPlane(samePlace(plane))
    expect(await names(client)).toEqual(acknowledged)
    expect(await second.stop()).toMatchObject({ code: 0, stderr: expect.not.stringMatching(/^setpoint:/m) })
  })
})

/** Takes all that is left, until the returned function is called. */
function fill(disk: SmallDisk): () => void {
  const ballast = join(disk.path, 'ballast')
  expect(() => writeFileSync(ballast, Buffer.alloc(8_000_000))).toThrow('ENOSPC')
  return () => rmSync(ballast)
}

/** The names of those that were acknowledged, before and while the disk becomes full. */
async function writeUntilRefused(client: ApiClient, disk: SmallDisk) {
  const acknowledged: string[] = []
  let free = (): void => {}
  for (let n = 0; ; n++) {
    const name = `m${String(n).padStart(4, '0')}`
    const reply = await client.send(`POST ${maps}`, { body: map(name) })
    if (reply.status === 201) acknowledged.push(name)
    else {
      expect(reply).toMatchObject(full)
      return { acknowledged, free }
    }
    if (n === 10) free = fill(disk)
  }
}

async function names(client: ApiClient): Promise<readonly string[]> {
  const { body } = await client.send(`GET ${maps}`)
  return body.items.map((item: { readonly metadata: { readonly name: string } }) => item.metadata.name)
}

const samePlace = ({ dataDirectory, url }: ControlPlaneProcess) => ({ dataDirectory, port: Number(new URL(url).port) })
