import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openApiClient } from '../support/api-client.ts'
import { root, startControlPlane, startLocalProgram } from '../support/control-plane-process.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const program = join(root, 'test/e2e/poison-control-plane.ts')
const vials = '/apis/test.setpoint.dev/v1/namespaces/default/vials'
const vial = (name: string, content: string) => ({
  apiVersion: 'test.setpoint.dev/v1',
  kind: 'Vial',
  metadata: { name },
  spec: { content },
})
const ready = { conditions: expect.arrayContaining([expect.objectContaining({ type: 'Ready', status: 'True' })]) }
const notEnded = { status: 'True', reason: 'RunNotEnded' }
const stalled = { conditions: expect.arrayContaining([expect.objectContaining({ type: 'Stalled', ...notEnded })]) }

describe('an object whose run ends the process', { concurrent: true }, () => {
  const directory = temporaryDirectory('poison')
  afterAll(() => directory[Symbol.dispose]())

  it.for(['throws', 'exits'])('is Stalled after three ends, one that %s', async (content) => {
    const dataDirectory = join(directory.path, content)
    const file = join(dataDirectory, 'unended-runs.json')
    const start = () => startControlPlane({ program, dataDirectory })
    {
      await using plane = await start()
      using client = openApiClient(plane.kubeconfig)
      await client.send(`POST ${vials}`, { body: vial('poison', content) }).catch(() => {})
      await plane.process.ended
      expect(statSync(file).mode & 0o777).toBe(0o600)
    }
    for (const ends of [2, 3]) {
      // It may end ahead of its ready line.
      await using again = await startLocalProgram({ program, dataDirectory })
      await again.ended
      expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
        'vial/test.setpoint.dev/Vial/default/poison': ends,
      })
    }
    await using plane = await start()
    using client = openApiClient(plane.kubeconfig)
    expect(plane.process.stderr).toMatch(/the process ended again and again while this object ran.*"name":"poison"/)
    expect((await client.send(`GET ${vials}/poison`)).body).toMatchObject({ status: stalled })
    await client.send(`POST ${vials}`, { body: vial('other', 'water') })
    const isReady = async (name: string) =>
      expect((await client.send(`GET ${vials}/${name}`)).body).toMatchObject({ status: ready })
    await eventually(() => isReady('other'))
    expect((await client.send(`GET ${vials}/poison`)).body).toMatchObject({ status: stalled })
    const body = { spec: { content: 'water' } }
    await client.send(`PATCH ${vials}/poison`, { body, contentType: 'application/merge-patch+json' })
    await eventually(() => isReady('poison'))
    await eventually(async () => expect(readFileSync(file, 'utf8')).toBe('{}'))
    expect(await plane.stop()).toMatchObject({ code: 0 })
  })

  it('counts no end that was asked for, and starts with a file that is damaged', async () => {
    const dataDirectory = join(directory.path, 'asked')
    const file = join(dataDirectory, 'unended-runs.json')
    {
      await using plane = await startControlPlane({ program, dataDirectory })
      using client = openApiClient(plane.kubeconfig)
      await client.send(`POST ${vials}`, { body: vial('slow', 'slow') })
      expect(await plane.stop()).toMatchObject({ code: 0 })
    }
    expect(existsSync(file)).toBe(false)
    writeFileSync(file, '{"a/b": 1')
    await using plane = await startControlPlane({ program, dataDirectory })
    expect(plane.process.stderr).toContain('runs that the process ended in are not known')
    using client = openApiClient(plane.kubeconfig)
    await eventually(async () => expect((await client.send(`GET ${vials}/slow`)).body).toMatchObject({ status: ready }))
  })
})
