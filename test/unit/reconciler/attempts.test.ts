import { expect, it } from 'vitest'
import { attempts, stop, type Context } from '../../../shared/index.ts'

/** The reason with which the run ends that has so many failures before it. */
async function reasonOf(attempt: number, error: Error): Promise<unknown> {
  const run = attempts<object, object>({ max: 2 }, () => Promise.reject(error))
  const thrown = await run({}, { attempt } as Context).catch((reason: unknown) => reason)
  return (thrown as { readonly reason?: string }).reason ?? (thrown as Error).message
}

it.each([
  ['the first failure', 0, new Error('away'), 'away'],
  ['the last failure', 1, new Error('away'), 'RetriesExhausted'],
  ['what stops by itself, the last time too', 1, stop('Broken', 'for good'), 'Broken'],
])('%s ends as it says', async (_what, attempt, error, reason) => {
  expect(await reasonOf(attempt, error)).toBe(reason)
})
