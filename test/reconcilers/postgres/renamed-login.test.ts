import { expect, it } from 'vitest'
import { clusterReconciler } from '../../../functions/reconcilers/postgres/cluster.ts'
import { databaseReconciler } from '../../../functions/reconcilers/postgres/database.ts'
import { PostgresCluster, PostgresDatabase } from '../../../functions/reconcilers/postgres/kinds.ts'
import type { PostgresProvider } from '../../../functions/reconcilers/postgres/provider.ts'
import { Secret } from '../../../shared/index.ts'
import { createTestEnv } from '../../../shared/testing/test-env.ts'

/** A server that is ready, behind a port where nobody listens: the Secret is stored before anybody connects. */
const endpoint = { host: '127.0.0.1', port: 1, version: '18', startedAt: '2026-01-01T00:00:00Z' }
const provider: PostgresProvider = {
  resync: '1m',
  stages: [{ condition: 'Running', run: async () => ({ endpoint }) }],
  remove: async () => 'gone',
  retain: async () => 'it stays',
}

it.each([[{ database: 'shop' }], [{ role: 'shop' }]])(
  'a Secret that is deleted after a rename (%j) comes back with the password that it had',
  async (renamed) => {
    await using env = await createTestEnv({ reconcilers: [clusterReconciler(provider), databaseReconciler] })
    const password = async (): Promise<string> =>
      Buffer.from((await env.get(Secret, 'orders-connection'))?.data?.['password'] ?? '', 'base64').toString()
    const declare = (spec: object) =>
      env.apply(PostgresDatabase, { metadata: { name: 'orders' }, spec: { clusterRef: { name: 'main' }, ...spec } })
    await env.apply(PostgresCluster, { metadata: { name: 'main' }, spec: {} })
    await env.settle()
    await declare({})
    await expect.poll(password).not.toBe('')
    const chosen = await password()
    // Without a rename it comes back as it was.
    await env.delete(Secret, 'orders-connection')
    await env.advance('2m')
    await expect.poll(password).toBe(chosen)

    await declare(renamed)
    await env.advance('2m')
    expect(await password()).toBe(chosen)
    await env.delete(Secret, 'orders-connection')
    await env.advance('2m')
    await expect.poll(password).not.toBe('')
    expect(await password()).toBe(chosen)
  },
)
