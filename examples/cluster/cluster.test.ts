import { expect, it } from 'vitest'
import { conditionOf, ConfigMap, Secret } from 'setpoint'
import { createTestEnv, type TestEnv } from 'setpoint/testing'
import { choosePrimary, DatabaseCluster, databaseClusters, Service, StatefulSet } from './cluster.ts'
import { reconcilers } from './reconcilers.ts'

const orders = { metadata: { name: 'orders' }, spec: { replicas: 3 } }

const cluster = async (env: TestEnv) => {
  const object = await env.get(DatabaseCluster, 'orders')
  const reasonOf = (type: string) => object && conditionOf(object, type)?.reason
  return { ...object?.status, ready: reasonOf('Ready'), progressing: reasonOf('Progressing') }
}
const services = async (env: TestEnv) => (await env.list(Service, 'default')).map(({ metadata }) => metadata.name)

it('makes one stage after the other, and the primary only after the first member', async () => {
  await using env = await createTestEnv({ reconcilers: [databaseClusters] })
  await env.apply(DatabaseCluster, orders)
  await env.settle()
  expect(await env.get(Secret, 'orders-password')).toBeDefined()
  expect(await env.get(ConfigMap, 'orders-config')).toMatchObject({ data: { 'max-connections': '100' } })
  expect(await env.get(StatefulSet, 'orders')).toMatchObject({ spec: { replicas: 3 } })
  expect(await services(env)).toEqual(['orders-members'])
  expect(await cluster(env)).toMatchObject({ ready: 'Bootstrapping' })

  await env.patch(StatefulSet, 'orders', { status: { readyReplicas: 1 } }, { subresource: 'status' })
  await env.settle()
  expect(await services(env)).toEqual(['orders-members', 'orders-primary'])
  expect(await cluster(env)).toMatchObject({ primary: 'orders-0', ready: 'MembersMissing' })

  await env.patch(StatefulSet, 'orders', { status: { readyReplicas: 3 } }, { subresource: 'status' })
  await env.settle()
  expect(await cluster(env)).toMatchObject({ readyReplicas: 3, ready: 'AllReplicasReady', progressing: 'Stable' })
})

it('keeps its password, puts back what others change, and stops its members before it goes', async () => {
  await using env = await createTestEnv({ reconcilers })
  await env.apply(DatabaseCluster, orders)
  await env.settle()
  await env.advance('1m')
  expect(await cluster(env)).toMatchObject({ readyReplicas: 3, ready: 'AllReplicasReady' })

  const password = (await env.get(Secret, 'orders-password'))?.data?.['password']
  await env.patch(StatefulSet, 'orders', { spec: { replicas: 1 } })
  await env.delete(ConfigMap, 'orders-config')
  await env.settle()
  expect(await env.get(StatefulSet, 'orders')).toMatchObject({ spec: { replicas: 3 } })
  expect(await env.get(ConfigMap, 'orders-config')).toBeDefined()
  expect((await env.get(Secret, 'orders-password'))?.data?.['password']).toBe(password)

  await env.advance('1m')
  await env.delete(DatabaseCluster, 'orders')
  await env.settle()
  expect(await env.get(StatefulSet, 'orders')).toMatchObject({ spec: { replicas: 0 } })
  expect(await cluster(env)).toMatchObject({ ready: 'Stopping' })
  await env.advance('1m')
  expect(await env.get(DatabaseCluster, 'orders')).toBeUndefined()
  expect([await env.get(StatefulSet, 'orders'), await services(env)]).toEqual([undefined, []])
})

it.each([
  { primary: undefined, ready: 3, next: 'orders-0' },
  { primary: 'orders-2', ready: 3, next: 'orders-2' },
  { primary: 'orders-2', ready: 2, next: 'orders-0' },
])('primary $primary, with $ready members ready: $next', ({ primary, ready, next }) => {
  const status = primary === undefined ? {} : { primary }
  const object = { ...orders, status } as unknown as Parameters<typeof choosePrimary>[0]
  expect(choosePrimary(object, ready)).toBe(next)
})
