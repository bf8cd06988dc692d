import { expect, it } from 'vitest'
import { checkConversions, createTestEnv } from 'setpoint/testing'
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

it('loses nothing between its versions but what the older one does not have', () => {
  const draw = { v1alpha1: (next: () => number) => ({ size: `${1 + Math.floor(next() * 1_000)}G` }) }
  expect(() => checkConversions(Disk, { draw, hidden: ['spec.zones'] })).not.toThrow()
})

it('refuses a disk that becomes smaller', async () => {
  await using env = await createTestEnv({ reconcilers: [disks] })
  await env.apply(Disk, { metadata: { name: 'a' }, spec: { gigabytes: 5 } })
  await expect(env.patch(Disk, 'a', { spec: { gigabytes: 4 } })).rejects.toThrow('a disk cannot become smaller')
})
