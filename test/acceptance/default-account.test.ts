import { expect, it } from 'vitest'
import { ConfigMap, Namespace } from '../../shared/index.ts'
import { createTestEnv } from '../../shared/testing/test-env.ts'

/** As reconcilers would name it. */
const ServiceAccount = { ...ConfigMap, kind: 'ServiceAccount' }

it('each namespace has its ServiceAccount, which comes back when it is deleted', async () => {
  await using env = await createTestEnv()
  await env.apply(Namespace, { metadata: { name: 'n' } })
  await env.settle()
  for (const namespace of ['default', 'n'] as const) {
    const first = await env.get(ServiceAccount, { namespace, name: 'default' })
    expect(first).toBeDefined()
    await env.delete(ServiceAccount, { namespace, name: 'default' })
    await env.settle()
    const second = await env.get(ServiceAccount, { namespace, name: 'default' })
    expect(second).toBeDefined()
    expect(second?.metadata.uid).not.toBe(first?.metadata.uid)
  }
  await env.delete(Namespace, 'n')
  await env.settle()
  expect(await env.get(Namespace, 'n')).toBeUndefined()
})
