import { Annotations, Match } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { functionsAtOnce, quotaAdvice } from '../../infra/constructs/quota-need.ts'
import { deployed } from './synthesized.ts'

const least = { sharedConcurrency: 10, isolated: [], relaysPerShard: 1 }

describe('the functions that run at once', () => {
  it.each([
    ['by default', least, 10],
    ['with a Controller of its own', { ...least, isolated: [{ concurrency: 1 }] }, 12],
    ['with more objects at once', { ...least, sharedConcurrency: 1_000 }, 108],
    ['with more ticks', { ...least, ticksAtOnce: 4 }, 13],
    ['with a busier relay', { ...least, relaysPerShard: 4 }, 22],
  ])('%s', (_, use, count) => {
    expect(functionsAtOnce(use)).toBe(count)
  })

  it('leave a hundred over where some are reserved', () => {
    expect(quotaAdvice({ ...least, isReserved: true })).toContain('up to 110 functions')
  })

  it('by default are those that a new account may run', () => {
    expect(quotaAdvice(least)).toBeUndefined()
  })
})

it('a synthesis says what to raise', () => {
  const { stack, template } = deployed({ sharedConcurrency: 1_000 })
  template()
  const found = Annotations.fromStack(stack).findWarning('*', Match.stringLikeRegexp('functions run at once'))
  expect(found).toHaveLength(1)
  expect(JSON.stringify(found[0]?.entry.data)).toContain('request-service-quota-increase --service-code=lambda')
})
