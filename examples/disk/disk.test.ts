import { expect, it } from 'vitest'
import { createTestEnv } from 'setpoint/testing'
import { Disk, disks } from './disk.ts'

const manifest = (size: string) => ({
  apiVersion: 'example.dev/v1alpha1',
  kind: 'Disk',
  metadata: { name: 'a' },
  spec: { size },
})

it('takes what was written for the version before, and keeps what that one does not know', async () => {
  await using env = await createTestEnv({ reconcilers: [disks] })
  await env.applyManifest(manifest('5G'))
  await env.settle()
  expect(await env.get(Disk, 'a')).toMatchObject({ spec: { gigabytes: 5, zones: [] }, status: { bytes: 5e9 } })

  await env.patch(Disk, 'a', { spec: { zones: ['west'] } })
  await env.applyManifest(manifest('6G'))
  expect(await env.get(Disk, 'a')).toMatchObject({ spec: { gigabytes: 6, zones: ['west'] } })
})
