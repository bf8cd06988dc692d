import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ConfigMap, type Kind } from '../../shared/index.ts'
import type { JsonObject } from '../../shared/model/json.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { Part } from './support/primary.ts'

/** What people see of a quota; test/contract/quotas tries many at once. */
const ResourceQuota: Kind<{ readonly status?: { readonly used?: JsonObject } }, unknown> = {
  ...ConfigMap,
  kind: 'ResourceQuota',
} as never

let env: TestEnv
beforeEach(async () => {
  env = await createTestEnv({ tickMs: 60_000, kinds: [Part] })
})
afterEach(() => env.close())

async function limit(hard: JsonObject): Promise<void> {
  await env.applyManifest({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard } })
  await env.settle()
}

async function used(): Promise<JsonObject | undefined> {
  await env.settle()
  return (await env.get(ResourceQuota, 'q'))?.status?.used
}

const map = (name: string) => env.apply(ConfigMap, { metadata: { name } })

describe('a quota', () => {
  it('counts what is there, refuses what is too much, and makes room when something is removed', async () => {
    await map('a')
    await limit({ configmaps: 2, 'count/parts.test.setpoint.dev': 0 })
    expect(await used()).toEqual({ configmaps: '1', 'count/parts.test.setpoint.dev': '0' })
    await map('b')
    await expect(map('c')).rejects.toThrow(
      'configmaps "c" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=2, limited: configmaps=2',
    )
    await expect(env.apply(Part, { metadata: { name: 'p' }, spec: {} })).rejects.toThrow('exceeded quota: q')
    await map('b')
    expect(await used()).toMatchObject({ configmaps: '2' })
    await env.delete(ConfigMap, 'b')
    expect(await used()).toMatchObject({ configmaps: '1' })
    await env.advance('1h')
    await env.delete(ConfigMap, 'a')
    await env.advance('1m')
    expect(await used()).toMatchObject({ configmaps: '0' })
  })

  it('has the limits that it was last given, and none when it is gone', async () => {
    await limit({ configmaps: 0 })
    await expect(map('a')).rejects.toThrow('exceeded quota')
    await limit({ configmaps: 1 })
    await map('a')
    expect(await used()).toEqual({ configmaps: '1' })
    await env.delete(ResourceQuota, 'q')
    await map('b')
  })

  it('that a process left wrong, which ended between its writes, is right again a little later', async () => {
    await limit({ configmaps: 1 })
    await env.advance('1m')
    env.faults.once(
      'store.create',
      { kind: 'crash' },
      ([stored]) => (stored as StoredObject).object.kind === 'ConfigMap',
    )
    await map('a').catch(() => {})
    await env.crash()
    await expect(map('a')).rejects.toThrow('exceeded quota')
    await env.advance('70m')
    expect(await used()).toEqual({ configmaps: '0' })
    await map('a')
  })
})
