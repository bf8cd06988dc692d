import { describe, expect, it } from 'vitest'
import { createTokenBucket } from '../../../../shared/engine/limits/token-bucket.ts'

describe('a token bucket', () => {
  it('gives its burst, and then one at a time', () => {
    const bucket = createTokenBucket({ burst: 2, perSecond: 10 })
    expect([bucket.take(0), bucket.take(0), bucket.take(0)]).toEqual([true, true, false])
    expect(bucket.waitMs(0)).toBe(100)
    expect([bucket.take(99), bucket.take(100)]).toEqual([false, true])
  })

  it('reserves tokens that are yet to come, each behind the one before', () => {
    const bucket = createTokenBucket({ burst: 1, perSecond: 10 })
    expect([bucket.reserve(0), bucket.reserve(0), bucket.reserve(0)]).toEqual([0, 100, 200])
  })

  it('fills at its rate when the clock is put back: nobody waits until it is as late as it was', () => {
    const bucket = createTokenBucket({ burst: 1, perSecond: 10 })
    expect(bucket.take(3_600_000)).toBe(true)
    expect([bucket.take(0), bucket.take(100)]).toEqual([false, true])
  })
})
