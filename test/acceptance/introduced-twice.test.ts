import { afterEach, expect, it } from 'vitest'
import { ConfigMap, done, type Controller } from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { Widget, widgets } from './support/widgets.ts'

let env: TestEnv
afterEach(() => env.close())

/** A Widget has a ConfigMap. */
const owner = (): Controller =>
  widgets(
    [],
    async ({ metadata: { name } }, ctx) => {
      await ctx.apply(ConfigMap, { metadata: { name: `of-${name}` }, data: {} })
      return done()
    },
    { owns: [ConfigMap], resync: '10h' },
  )

// SQS drops a message that has the id of one of the last five minutes.
it.each([
  ['2m', '70s'],
  ['6m', '70s'],
  ['2m', '6m'],
] as const)(
  'a controller that was there for %s and gone for %s looks at all there is when it returns',
  async (there, gone) => {
    env = await createTestEnv({ reconcilers: [], kinds: [Widget], tickMs: 60_000 })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.advance('10m')
    await env.crash([owner()])
    await env.advance(there)
    expect(await env.get(ConfigMap, 'of-w')).toBeDefined()
    await env.crash([])
    await env.advance('5s')
    await env.delete(ConfigMap, 'of-w')
    await env.advance(gone)
    await env.crash([owner()])
    await env.advance('30m')
    expect(await env.get(ConfigMap, 'of-w')).toBeDefined()
  },
)
