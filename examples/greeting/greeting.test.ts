import { expect, it } from 'vitest'
import { ConfigMap } from 'setpoint'
import { createTestEnv } from 'setpoint/testing'
import { Greeting, greetings } from './greeting.ts'

it('puts the ConfigMap back when somebody edits it', async () => {
  await using env = await createTestEnv({ reconcilers: [greetings] })
  await env.apply(Greeting, { metadata: { name: 'hello' }, spec: { name: 'world' } })
  await env.settle()
  expect(await env.get(ConfigMap, 'hello')).toMatchObject({ data: { text: 'Hello, world!' } })

  await env.patch(ConfigMap, 'hello', { data: { text: 'Goodbye.' } })
  await env.settle()
  expect(await env.get(ConfigMap, 'hello')).toMatchObject({ data: { text: 'Hello, world!' } })
})
