import { describe, expect, it } from 'vitest'
import type { ApiServices } from '../../../shared/api/call.ts'
import { reachVersion, requireUnchanged } from '../../../shared/api/fresh-version.ts'
import type { ChangeBatch, ChangeFeed, FollowOptions } from '../../../shared/ports/change-feed.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'
import { plainKind } from './called.ts'
import { endOf } from './end-of.ts'

const never = new AbortController().signal

describe('a version that the store has to have reached', () => {
  function open(versions: readonly string[]) {
    const clock = createVirtualClock()
    const looks: number[] = []
    const startMs = clock.nowMs()
    const latest = async () => {
      looks.push(clock.nowMs() - startMs)
      return versions[Math.min(looks.length, versions.length) - 1] as string
    }
    const services = { clock, feed: { latest } } as unknown as ApiServices
    return {
      clock,
      looks,
      reach: (version?: string, signal = never) => endOf(() => reachVersion(version, services, signal)),
    }
  }

  it.each([
    ['7', ['7']],
    ['7', ['8']],
    ['9', ['10']],
    ['10', ['100']],
  ])('%j is there at %j', async (version, versions) => {
    const { reach, looks } = open(versions)
    expect([await reach(version), looks]).toEqual([undefined, [0]])
  })

  it('is none if none is asked for', async () => {
    const { reach, looks } = open(['7'])
    expect([await reach(), looks]).toEqual([undefined, []])
  })

  it('is waited for, ten looks a second', async () => {
    const { reach, looks, clock } = open(['10', '10', '99', '100'])
    const reached = reach('100')
    await clock.advance(250)
    expect(looks).toEqual([0, 100, 200])
    await clock.advance(100)
    expect([await reached, looks.length]).toEqual([undefined, 4])
  })

  const tooNew = 'VERSION_TOO_NEW: Timeout: Too large resource version: 8, current: 7'
  it('is waited for three seconds, and no longer than the client does', async () => {
    const { reach, looks, clock } = open(['7'])
    const end = reach('8')
    await clock.advance(2_950)
    expect(looks).toHaveLength(30)
    await clock.advance(100)
    expect([await end, looks.at(-1)]).toEqual([tooNew, 3_000])
    const gone = open(['7'])
    expect([await gone.reach('8', AbortSignal.abort()), gone.looks]).toEqual([tooNew, [0]])
  })

  it('is refused in the words that clients know', async () => {
    const services = { clock: createVirtualClock(), feed: { latest: async () => '7' } } as unknown as ApiServices
    const details = {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    }
    await expect(reachVersion('8', services, AbortSignal.abort())).rejects.toMatchObject({ details })
  })
})

describe('a kind of which the past is asked for', () => {
  function open(batch: ChangeBatch | undefined, reachBack?: number) {
    const asked: FollowOptions[] = []
    let returned = 0
    const follow = (options: FollowOptions) => {
      asked.push(options)
      const next = async () => (batch === undefined ? { done: true, value: undefined } : { done: false, value: batch })
      return { [Symbol.asyncIterator]: () => ({ next, return: async () => void returned++ }) }
    }
    const feed = { follow, ...(reachBack !== undefined && { reachBack }) } as unknown as ChangeFeed
    const span = { since: '5', until: '10' }
    const end = () => endOf(() => requireUnchanged(plainKind, span, { feed }, never))
    return { asked, end, returned: () => returned }
  }
  const changed = [{ type: 'added' }] as unknown as ChangeBatch['changes']
  const why =
    'EXPIRED: lists tell the present, and there may have been changes: resourceVersion 5 is not served exactly'

  it.each<[string, ChangeBatch | undefined, unknown]>([
    ['has not changed up to then', { changes: [], resourceVersion: '10' }, undefined],
    ['has not changed up to later', { changes: [], resourceVersion: '11' }, undefined],
    ['is known up to before', { changes: [], resourceVersion: '9' }, why],
    ['has changed', { changes: changed, resourceVersion: '10' }, why],
    ['is not told of', undefined, why],
  ])('%s', async (_what, batch, end) => {
    const { asked, end: endNow, returned } = open(batch)
    expect(await endNow()).toBe(end)
    expect([asked, returned()]).toEqual([[{ after: '5', of: plainKind, signal: never }], 1])
  })

  it('is not looked at where clocks number the writes', async () => {
    const { asked, end } = open({ changes: [], resourceVersion: '10' }, 0)
    expect([await end(), asked]).toEqual([why, []])
  })
})
