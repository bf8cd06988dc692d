import { expect, it } from 'vitest'
import { ConfigMap } from 'setpoint'
import { createTestEnv } from 'setpoint/testing'
import { Listener, listeners } from './ports.ts'

const names = Array.from({ length: 20 }, (_, i) => `listener-${i}`)

it('gives no port twice, whoever comes at once and whatever breaks', async () => {
  await using env = await createTestEnv({ reconcilers: [listeners] })
  await env.apply(ConfigMap, { metadata: { name: 'ports' }, data: {} })
  env.faults.once('store.replace', { kind: 'crash' })
  await Promise.all(names.map((name) => env.apply(Listener, { metadata: { name }, spec: {} })))
  await env.advance('1m')

  const ports = (await env.list(Listener)).map(({ status }) => status?.port)
  expect(new Set(ports).size).toBe(names.length)
})

it('gives a port back with the listener', async () => {
  await using env = await createTestEnv({ reconcilers: [listeners] })
  await env.apply(ConfigMap, { metadata: { name: 'ports' }, data: {} })
  await env.apply(Listener, { metadata: { name: 'web' }, spec: {} })
  await env.settle()
  expect(Object.keys((await env.get(ConfigMap, 'ports'))?.data ?? {})).toEqual(['20000'])

  await env.delete(Listener, 'web')
  await env.settle()
  expect((await env.get(ConfigMap, 'ports'))?.data ?? {}).toEqual({})
})
