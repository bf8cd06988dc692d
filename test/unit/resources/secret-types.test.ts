import { afterEach, beforeEach, expect, it } from 'vitest'
import { Secret } from '../../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../../shared/testing/test-env.ts'

let env: TestEnv
beforeEach(async () => {
  env = await createTestEnv()
})
afterEach(() => env.close())

it.each([
  [['username', 'password'], ''],
  [['username'], ''],
  [['password'], ''],
  [['other'], 'data[username]: Required value, data[password]: Required value'],
])('a Secret of basic authentication with %j is refused for "%s"', async (names, refusal) => {
  const data = Object.fromEntries(names.map((name) => [name, btoa('x')]))
  const written = env.apply(Secret, { metadata: { name: 's' }, type: 'kubernetes.io/basic-auth', data })
  const problem = await written.then(
    () => '',
    (error: unknown) => String(error),
  )
  if (refusal === '') expect(problem).toBe('')
  else for (const one of refusal.split(', ')) expect(problem).toContain(one)
})
