/** What the conditions of clusters and databases say when something fails. */
import { expect, it } from 'vitest'
import { clusterReconciler } from '../../../functions/reconcilers/postgres/cluster.ts'
import { databaseReconciler } from '../../../functions/reconcilers/postgres/database.ts'
import { PostgresFailure, type FailureKind } from '../../../functions/reconcilers/postgres/failure.ts'
import { PostgresCluster, PostgresDatabase } from '../../../functions/reconcilers/postgres/kinds.ts'
import type { PostgresProvider } from '../../../functions/reconcilers/postgres/provider.ts'
import type { Condition } from '../../../shared/index.ts'
import { createTestEnv } from '../../../shared/testing/test-env.ts'

/** A server that is ready, behind a port where nobody listens. */
function createProvider(): PostgresProvider & { failure: PostgresFailure | undefined } {
  const endpoint = { host: '127.0.0.1', port: 1, version: '18', startedAt: '2026-01-01T00:00:00Z' }
  const provider = {
    failure: undefined as PostgresFailure | undefined,
    resync: '1m' as const,
    stages: [
      { condition: 'Initialised', run: async () => ({}) },
      {
        condition: 'Configured',
        run: async () => {
          if (provider.failure !== undefined) throw provider.failure
          return {}
        },
      },
      { condition: 'Running', run: async () => ({ endpoint }) },
    ],
    remove: async () => 'gone' as const,
    retain: async () => 'it stays',
  }
  return provider
}

const told = (conditions: readonly Condition[] = []) =>
  Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]))

it.each<[FailureKind, string]>([
  ['terminal', 'ConfigurationInvalid'],
  ['retryable', 'NotConfigured'],
])('a stage of a cluster that fails, %s, says so', async (kind, reason) => {
  const provider = createProvider()
  await using env = await createTestEnv({ reconcilers: [clusterReconciler(provider)] })
  await env.apply(PostgresCluster, { metadata: { name: 'main' }, spec: {} })
  await env.settle()
  expect(told((await env.get(PostgresCluster, 'main'))?.status?.conditions)).toMatchObject({
    Configured: 'True AsDeclared',
    Ready: 'True Reconciled',
  })
  provider.failure = new PostgresFailure(kind, reason, 'it is wrong')
  await env.apply(PostgresCluster, { metadata: { name: 'main' }, spec: { parameters: { max_connections: 'x' } } })
  await env.settle()
  const conditions = (await env.get(PostgresCluster, 'main'))?.status?.conditions
  expect(told(conditions)).toMatchObject({
    Initialised: 'True AsDeclared',
    Configured: `False ${reason}`,
    Running: 'True AsDeclared',
    Ready: expect.stringContaining('False'),
  })
  expect(conditions?.find(({ type }) => type === 'Configured')?.message).toBe('it is wrong')
  expect(conditions?.some(({ type }) => type === 'Stalled')).toBe(kind === 'terminal')
})

it('a database that fails does not go on saying that its cluster is not ready', async () => {
  await using env = await createTestEnv({ reconcilers: [clusterReconciler(createProvider()), databaseReconciler] })
  await env.apply(PostgresDatabase, { metadata: { name: 'orders' }, spec: { clusterRef: { name: 'main' } } })
  await env.settle()
  const seen = async () => told((await env.get(PostgresDatabase, 'orders'))?.status?.conditions)
  expect(await seen()).toMatchObject({ ClusterReady: 'False ClusterNotFound' })
  await env.apply(PostgresCluster, { metadata: { name: 'main' }, spec: {} })
  await env.settle()
  await expect.poll(seen).toMatchObject({ ClusterReady: 'True Ready' })
})

it('a database stays on its cluster while that is there, and says so', async () => {
  await using env = await createTestEnv({ reconcilers: [clusterReconciler(createProvider()), databaseReconciler] })
  for (const name of ['main', 'other']) await env.apply(PostgresCluster, { metadata: { name }, spec: {} })
  await env.settle()
  const declareOn = (name: string) =>
    env.apply(PostgresDatabase, { metadata: { name: 'orders' }, spec: { clusterRef: { name } } })
  const seen = async () => told((await env.get(PostgresDatabase, 'orders'))?.status?.conditions)
  await declareOn('mian')
  await env.settle()
  // Nothing is there yet: a name that was mistyped can be mended.
  await declareOn('main')
  await expect.poll(seen).toMatchObject({ Ready: 'False ConnectionLost' })
  await declareOn('other')
  await expect.poll(seen).toMatchObject({ Ready: 'False CannotMove', Stalled: 'True CannotMove' })
  await env.delete(PostgresCluster, 'main')
  await env.settle()
  await declareOn('main')
  await declareOn('other')
  await expect.poll(seen).toMatchObject({ Ready: 'False ConnectionLost' })
})

it('a database of which nothing was made goes though its cluster is not ready; another waits for it', async () => {
  const provider = createProvider()
  await using env = await createTestEnv({ reconcilers: [clusterReconciler(provider), databaseReconciler] })
  const declare = (name: string) =>
    env.apply(PostgresDatabase, { metadata: { name }, spec: { clusterRef: { name: 'main' } } })
  const seen = async (name: string) => told((await env.get(PostgresDatabase, name))?.status?.conditions)
  await env.apply(PostgresCluster, { metadata: { name: 'main' }, spec: {} })
  await env.settle()
  await declare('early')
  await expect.poll(() => seen('early')).toMatchObject({ Ready: 'False ConnectionLost' })
  provider.failure = new PostgresFailure('terminal', 'ConfigurationInvalid', 'it is wrong')
  await env.apply(PostgresCluster, { metadata: { name: 'main' }, spec: { parameters: { max_connections: 'x' } } })
  await env.settle()
  await declare('late')
  await env.settle()
  expect(await seen('late')).toMatchObject({ Ready: 'False ClusterNotReady' })
  for (const name of ['early', 'late']) await env.delete(PostgresDatabase, name)
  await env.settle()
  expect(await env.get(PostgresDatabase, 'late')).toBeUndefined()
  expect(await seen('early')).toMatchObject({ Ready: 'False ClusterNotReady' })
})
