import { expect, it } from 'vitest'
import { ConfigMap } from 'setpoint'
import { createTestEnv } from 'setpoint/testing'
import { awsEngine } from 'setpoint/testing-aws'
import { Greeting, greetings } from './greeting.ts'

it('restores its ConfigMap on DynamoDB, too, and after a crash', async () => {
  await using env = await createTestEnv({ reconcilers: [greetings], engine: awsEngine })
  await env.apply(Greeting, { metadata: { name: 'hello' }, spec: { name: 'world' } })
  await env.settle()
  expect(await env.get(ConfigMap, 'hello')).toMatchObject({ data: { text: 'Hello, world!' } })

  // The next run dies with its process, when it has put the ConfigMap back and has not said so.
  env.faults.once('store.replace', { kind: 'crash' }, ([stored]) => JSON.stringify(stored).includes('Hello, Ann'))
  await env.patch(Greeting, 'hello', { spec: { name: 'Ann' } })
  // Its message comes again when its visibility timeout ends, six times what the function may take.
  await env.advance('10m')
  expect(await env.get(ConfigMap, 'hello')).toMatchObject({ data: { text: 'Hello, Ann!' } })
})
