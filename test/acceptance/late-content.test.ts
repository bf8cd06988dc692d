import { afterEach, expect, it } from 'vitest'
import { done, Namespace, Secret, type JsonObject } from '../../shared/index.ts'
import { awsEngine } from '../../shared/testing-aws/aws-engine.ts'
import { createTestEnv, type TestEnv, type TestEnvOptions } from '../../shared/testing/test-env.ts'
import { Widget, widgets } from './support/widgets.ts'

/** What a slow request writes into a namespace that is gone by then goes as the rest of the namespace has gone. */

let env: TestEnv
afterEach(() => env.close())

const engines: readonly { readonly engine: string; readonly options: TestEnvOptions }[] = [
  { engine: 'SQLite', options: {} },
  { engine: 'DynamoDB', options: { engine: awsEngine } },
]

it.each(engines)('a late clean-up on $engine finds the Secret that it needs', async ({ options }) => {
  const found: (string | undefined)[] = []
  env = await createTestEnv({
    ...options,
    reconcilers: [
      widgets([], () => done(), {
        grants: [{ kind: Secret, access: 'read' }],
        cleanup: async (_widget, ctx) => {
          const secret = await ctx.get(Secret, 'password')
          found.push(secret?.data?.['value'])
          if (secret === undefined) throw new Error('no password')
          if (found.length < 8) throw new Error('not yet')
          return done()
        },
      }),
    ],
  })
  await env.apply(Namespace, { metadata: { name: 'shop' } })
  await env.settle()
  const at = { namespace: 'shop' }
  env.faults.always(
    'store.create',
    { kind: 'delay', ms: 20_000 },
    ([stored]) => (stored as { readonly object: JsonObject }).object['kind'] !== 'Event',
  )
  const late = Promise.all([
    env.apply(Secret, { metadata: { ...at, name: 'password' }, data: { value: 'eA==' } }),
    env.apply(Widget, { metadata: { ...at, name: 'w' }, spec: {} }),
  ])
  await env.delete(Namespace, 'shop')
  await env.advance('15s')
  expect(await env.get(Namespace, 'shop')).toBeUndefined()
  await env.advance('10s')
  await late
  env.faults.clear()
  await env.advance('5m')
  expect(found).toEqual(Array.from({ length: 8 }, () => 'eA=='))
  expect(await env.get(Widget, { ...at, name: 'w' })).toBeUndefined()
  expect(await env.get(Secret, { ...at, name: 'password' })).toBeUndefined()
})
