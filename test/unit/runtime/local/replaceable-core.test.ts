import { describe, expect, it } from 'vitest'
import type { FollowedCore } from '../../../../shared/runtime/local/core.ts'
import { startReplaceableCore } from '../../../../shared/runtime/local/replaceable-core.ts'

/** Each start takes the next of these: a core, or what it fails with. */
async function startAll(starts: readonly (string | Error)[], introduceAgain = () => Promise.resolve()) {
  const told: string[] = []
  const next = starts.values()
  const core = await startReplaceableCore({
    load: () => Promise.resolve([]),
    introduceAgain,
    start: () => {
      const one = next.next().value
      if (one instanceof Error) return Promise.reject(one)
      told.push(`start ${one}`)
      return Promise.resolve({
        api: () => Promise.resolve({ status: 200, headers: {}, body: one }),
        ended: new Promise(() => {}),
        forget: () => {},
        stop: () => Promise.resolve(void told.push(`stop ${one}`)),
      } as unknown as FollowedCore)
    },
  })
  return { core, told }
}

describe('the core of a process that takes other reconcilers', () => {
  it('is replaced by one that has them', async () => {
    const { core, told } = await startAll(['a', 'b'])
    await core.replace(0)
    await core.stop(0)
    expect(told).toEqual(['start a', 'stop a', 'start b', 'stop b'])
    await expect(core.ended).resolves.toBeUndefined()
  })

  it('goes on as before where these cannot start', async () => {
    const { core, told } = await startAll(['a', new Error('no b'), 'a again'])
    await expect(core.replace(0)).rejects.toThrow('no b')
    expect(told).toEqual(['start a', 'stop a', 'start a again'])
    await core.stop(0)
  })

  it('goes on as before where the next start cannot be told to look at all objects', async () => {
    const { core, told } = await startAll(['a', 'a again'], () => Promise.reject(new Error('the disk is full')))
    await expect(core.replace(0)).rejects.toThrow('the disk is full')
    expect(told).toEqual(['start a', 'stop a', 'start a again'])
    await core.stop(0)
  })

  it('ends with the process where not even those of before can start', async () => {
    const { core } = await startAll(['a', new Error('no b'), new Error('no a')])
    await expect(core.replace(0)).rejects.toThrow('no b')
    await expect(core.ended).rejects.toThrow('no a')
  })

  it('is not replaced once it is to stop', async () => {
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { core, told } = await startAll(['a', 'b', 'c', 'd'], async () => {
      begun.resolve()
      await gate.promise
    })
    const first = core.replace(0)
    await begun.promise
    const second = core.replace(0)
    const stopped = core.stop(0)
    gate.resolve()
    await first
    await expect(second).rejects.toThrow('it stops')
    await stopped
    await expect(core.replace(0)).rejects.toThrow('it stops')
    expect(told).toEqual(['start a', 'stop a', 'start b', 'stop b'])
  })
})
