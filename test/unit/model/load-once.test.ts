import { expect, it } from 'vitest'
import { loadOnce } from '../../../shared/model/load-once.ts'

it('loads when it is first asked, once for all who ask, and again where that failed', async () => {
  const answers = [() => Promise.reject(new Error('too many open files')), () => Promise.resolve('loaded')]
  const ask = loadOnce(async () => (answers.shift() as () => Promise<string>)())
  expect(answers).toHaveLength(2)
  const both = await Promise.allSettled([ask(), ask()])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await Promise.all([ask(), ask()])).toEqual(['loaded', 'loaded'])
  expect(answers).toEqual([])
})
