import { expect, it } from 'vitest'
import { threadMs } from './cold-starts.ts'

it('counts the time of a thread on a processor, and none of one that ended meanwhile', () => {
  expect(threadMs('/proc/self/task/nobody/schedstat')).toBe(0)
  expect(threadMs('/proc/self/schedstat')).toBeGreaterThan(0)
  expect(() => threadMs('/proc/self')).toThrow('EISDIR')
})
