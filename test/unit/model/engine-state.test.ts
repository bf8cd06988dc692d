import { describe, expect, it } from 'vitest'
import {
  attemptsOf,
  dueAtMs,
  failureOf,
  netAfterMs,
  nettedMs,
  retryAtMsOf,
  withMemory,
  writtenBetween,
  type EngineState,
  type Failure,
  type MemoryFields,
  type Wait,
} from '../../../shared/model/engine-state.ts'

const resync = (atMs: number): EngineState => ({ wait: { kind: 'Resync', generation: 1, atMs } })
const failure: Failure = { attempt: 3, error: 'no' }
const backoff: EngineState = { wait: { kind: 'Backoff', generation: 2, atMs: 5, failure } }
const stopped: EngineState = { wait: { kind: 'Stopped', generation: 2, failure } }

describe('an object is due', () => {
  it.each<[string, EngineState, number | undefined]>([
    ['never, at rest', {}, undefined],
    ['at the end of its wait', resync(5), 5],
    ['when it is woken', { wakeAtMs: 7 }, 7],
    ['when it is woken, ahead of its wait', { ...resync(9), wakeAtMs: 7 }, 7],
    ['at the end of its wait, ahead of its wake', { ...resync(5), wakeAtMs: 7 }, 5],
    ['never, when it has stopped', stopped, undefined],
    ['when it is woken, though it has stopped', { ...stopped, wakeAtMs: 7 }, 7],
    ['at the beginning of all time', { ...resync(0), wakeAtMs: 7 }, 0],
  ])('%s', (_when, engine, atMs) => {
    expect(dueAtMs(engine)).toBe(atMs)
  })
})

describe('what has failed is tried again', () => {
  const limited = { kind: 'RateLimited', generation: 2, atMs: 3, failure } as const
  it.each<[string, EngineState, number | undefined]>([
    ['at no time, at rest', {}, undefined],
    ['at no time, where nothing has failed', resync(5), undefined],
    ['at the end of its backoff', backoff, 5],
    ['at no time, when it has stopped for good', stopped, undefined],
    ['when one that has stopped is looked at again', { wait: { ...stopped.wait, atMs: 6 } as Wait }, 6],
    ['at the same time, though a limit puts a run off', { wait: { ...limited, retryAtMs: 5 } }, 5],
    ['at the same time, though it runs in a loop', { wait: { ...limited, kind: 'HotLoop', retryAtMs: 5 } }, 5],
    ['at no time that an earlier version has left out', { wait: limited }, undefined],
    ['at no time of its own, when the far side says when', { wait: { ...limited, kind: 'RetryAfter' } }, undefined],
  ])('%s', (_when, engine, atMs) => {
    expect(retryAtMsOf(engine)).toBe(atMs)
  })
})

describe('the net of a write', () => {
  const writtenMs = 1_000_000
  const netMs = writtenMs + netAfterMs

  it('is five minutes after it', () => expect(netAfterMs).toBe(300_000))

  it.each<[string, EngineState, number, boolean]>([
    ['is known by it', { wakeAtMs: netMs, netMs }, writtenMs, true],
    ['is known where its clock was half a minute ahead', { wakeAtMs: netMs, netMs }, writtenMs + 30_000, true],
    ['is known where its clock was half a minute behind', { wakeAtMs: netMs, netMs }, writtenMs - 30_000, true],
    ['is not that of one much later', { wakeAtMs: netMs, netMs }, writtenMs + 30_001, false],
    ['is not that of one much earlier', { wakeAtMs: netMs, netMs }, writtenMs - 30_001, false],
    ['is none where no net was set', { wakeAtMs: netMs }, writtenMs, false],
    ['is not the only timer beside an earlier wait', { ...resync(5), wakeAtMs: netMs, netMs }, writtenMs, false],
    ['is not the only timer beside an earlier wake', { wakeAtMs: netMs - 1, netMs }, writtenMs, false],
  ])('%s', (_what, engine, atMs, is) => {
    expect(nettedMs(engine, atMs)).toBe(is ? netMs : undefined)
  })

  it.each([
    [netMs, writtenMs],
    [netMs + 30_000, writtenMs],
    [netMs - 30_000, writtenMs],
  ])('that is due at %d is found by the times of writes', (dueMs, atMs) => {
    const { fromMs, toMs } = writtenBetween(dueMs, dueMs)
    expect([fromMs <= atMs, atMs <= toMs, toMs - fromMs]).toEqual([true, true, 60_000])
  })
})

describe('failures in a row', () => {
  it.each<[string, EngineState, number, Failure | undefined, number]>([
    ['of an object at rest', {}, 1, undefined, 0],
    ['of a wait that is about none', resync(5), 1, undefined, 0],
    ['of the generation that failed', backoff, 2, failure, 3],
    ['of a newer generation', backoff, 3, failure, 0],
    ['of one that has stopped', stopped, 2, failure, 3],
    ['of a run that was put off', { wait: { kind: 'RateLimited', generation: 1, atMs: 5 } }, 1, undefined, 0],
  ])('%s', (...row) => {
    const [, engine, generation, found, attempts] = row
    expect([failureOf(engine), attemptsOf(engine, generation)]).toEqual([found, attempts])
  })
})

describe('a memory', () => {
  const notes = { a: 1 }
  it.each<[MemoryFields, EngineState['memory']]>([
    [{}, undefined],
    [{ notes: undefined, once: {} }, undefined],
    [{ notes, once: {}, expectations: undefined }, { notes }],
    [
      { syncedAtMs: 0, unended: 0 },
      { syncedAtMs: 0, unended: 0 },
    ],
    [{ window: { startMs: 1, runs: 2 } }, { window: { startMs: 1, runs: 2 } }],
  ])('of %j is %j', (fields, memory) => {
    const engine = { ...backoff, memory: { unended: 3 } }
    const next = withMemory(engine, fields)
    expect(next).toEqual(memory === undefined ? backoff : { ...backoff, memory })
    expect('memory' in next).toBe(memory !== undefined)
  })
})
