import { describe, expect, it } from 'vitest'
import { recordKey } from '../../../../shared/engine/state/removed-record.ts'
import type { Turn } from '../../../../shared/engine/state/turn.ts'
import { OverrunError } from '../../../../shared/engine/turn/commit.ts'
import { behindOverruns, createOverruns } from '../../../../shared/engine/turn/overruns.ts'
import type { ObjectKey } from '../../../../shared/model/object-key.ts'
import type { Logger } from '../../../../shared/ports/logger.ts'

const key: ObjectKey = { group: 'test.setpoint.dev', kind: 'Widget', namespace: 'default', name: 'w' }

/** An engine that follows one of whose functions these go on, and what becomes of its turns. */
function nextEngine(goingOn: readonly ObjectKey[], { refusesHold = false } = {}) {
  const overruns = createOverruns()
  const ends = goingOn.map((one) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    overruns.note(one, promise)
    return resolve
  })
  const did: string[] = []
  const log = (message: string) => void did.push(message)
  const logger: Logger = { debug: log, info: log, warn: log, error: log, with: () => logger }
  const turn = {
    key,
    hold: async (ms: number) => {
      if (refusesHold) throw new Error('no queue')
      did.push(`comes again in ${ms}`)
    },
  } as Turn
  const run = behindOverruns(async () => void did.push('runs'), { overruns, logger })
  return {
    overruns,
    did,
    take: () => run(turn, new AbortController().signal),
    end: async (i: number) => {
      ends[i]?.()
      await settled()
    },
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))
const waits = 'the function of an earlier run goes on; its object waits for the end'

describe('a turn of a key on which a function of an earlier engine goes on', () => {
  it.each([
    ['the object', key],
    ['a removed object of its name', recordKey(key)],
  ])('is left as it is, and comes again when the function has ended: of %s', async (_what, of) => {
    const { take, end, did } = nextEngine([of])
    await expect(take()).rejects.toThrow(OverrunError)
    await settled()
    expect(did).toEqual([waits])
    await end(0)
    await take()
    expect(did).toEqual([waits, 'comes again in 0', 'runs'])
  })

  it('comes again when the last of several has ended', async () => {
    const { take, end, did } = nextEngine([key, key, recordKey(key)])
    await expect(take()).rejects.toThrow(OverrunError)
    for (const i of [0, 1]) await end(i)
    expect(did).toEqual([waits])
    await end(2)
    expect(did).toEqual([waits, 'comes again in 0'])
  })

  it('runs when the queue hands it out a second time', async () => {
    const { take, did } = nextEngine([key])
    await expect(take()).rejects.toThrow(OverrunError)
    await take()
    expect(did).toEqual([waits, 'runs'])
  })

  it('runs at once if the function has ended by then', async () => {
    const { take, end, did } = nextEngine([key])
    await end(0)
    await take()
    expect(did).toEqual(['runs'])
  })

  it('writes a line to the log if the queue does not take the message back', async () => {
    const { take, end, did } = nextEngine([key], { refusesHold: true })
    await expect(take()).rejects.toThrow(OverrunError)
    await end(0)
    expect(did).toEqual([waits, 'turn not ended; it is redelivered after its visibility timeout'])
  })
})

describe('a turn runs', () => {
  it('beside functions of other keys', async () => {
    const { take, did } = nextEngine([{ ...key, name: 'other' }])
    await take()
    expect(did).toEqual(['runs'])
  })

  it('beside what goes on since its own engine began, whose queue knows of it', async () => {
    const { overruns, take, did } = nextEngine([])
    overruns.note(key, new Promise(() => {}))
    await take()
    expect(did).toEqual(['runs'])
  })
})

describe('the list of what goes on', () => {
  it('forgets a key when nothing goes on with it', async () => {
    const { overruns, end } = nextEngine([key, key])
    await end(1)
    expect([...overruns.texts()]).toHaveLength(1)
    await end(0)
    expect([...overruns.texts()]).toEqual([])
  })

  it('forgets a key whose function failed, too', async () => {
    const { overruns } = nextEngine([])
    overruns.note(key, Promise.reject(new Error('no luck')))
    await settled()
    expect([...overruns.texts()]).toEqual([])
  })
})
