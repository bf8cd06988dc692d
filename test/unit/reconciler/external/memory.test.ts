import { describe, expect, it } from 'vitest'
import type { Context, Json } from '../../../../shared/index.ts'
import {
  beginningOfPaths,
  correctTimes,
  note,
  withoutEntity,
  withoutMirror,
  type ExternalMemory,
} from '../../../../shared/reconciler/external/memory.ts'

type Known = Partial<ExternalMemory>

const nowMs = 1_000_000
const longestMs = 3_600_000
const place = { parameter: { name: 'p' } }
const elsewhere = { secretsManager: { name: 'q' } }

describe('what is left of an entity that is gone', () => {
  it.each<[string, Known, Known]>([
    ['is its id', { id: 'x', createdAtMs: 1, digest: 'd', outputKeys: ['user'] }, { lostId: 'x' }],
    ['is the id of one before it, if it had none', { lostId: 'w' }, { lostId: 'w' }],
    ['is nothing, if there never was one', { intent: { atMs: 1 } }, {}],
    ['is the request that was answered', { request: 'r' }, { request: 'r' }],
    ['is where outputs are', { outputsAt: place }, { outputsAt: place }],
    ['is where outputs may be', { outputsAlso: elsewhere }, { outputsAlso: elsewhere }],
    ['is what was stored of it', { outputs: 'new', outputsBefore: 'old' }, { outputsBefore: 'new' }],
    ['is what was stored before it, if nothing was of it', { outputsBefore: 'old' }, { outputsBefore: 'old' }],
  ])('%s', (_what, memory, left) => {
    expect(withoutEntity({ round: 2, ...memory })).toStrictEqual({ round: 3, ...left })
  })

  it.each<[string, Known, Known]>([
    ['in its round', { id: 'x', mirrored: true }, {}],
    ['the one that was lost before', { id: 'x', mirrored: true, lostId: 'w' }, { lostId: 'w' }],
  ])('and was only observed is %s', (_what, memory, left) => {
    expect(withoutMirror({ round: 2, ...memory })).toStrictEqual({ round: 2, ...left })
  })
})

describe('a time', () => {
  const refusedAt = (atMs: number): Known => ({ refusal: { digest: 'd', atMs, reason: 'R', message: 'm' } })
  const waitsFrom = (atMs: number): Known => ({
    wait: { digest: 'd', untilMs: atMs + longestMs, reason: 'R', message: 'm' },
  })
  const others = { id: 'x', intent: { atMs: 1 }, deletedAtMs: 3, ...refusedAt(5) }
  const rows: readonly (readonly [string, (atMs: number) => Known, Known])[] = [
    ['an intent', (atMs) => ({ intent: { atMs } }), { intent: { atMs: nowMs } }],
    ['a creation', (createdAtMs) => ({ createdAtMs }), { createdAtMs: nowMs }],
    ['a deletion', (deletedAtMs) => ({ deletedAtMs }), { deletedAtMs: nowMs }],
    ['a sync', (syncedAtMs) => ({ syncedAtMs }), {}],
    ['a refusal', refusedAt, {}],
    ['a wait', waitsFrom, {}],
    [
      'a creation beside other times',
      (createdAtMs) => ({ ...others, createdAtMs, syncedAtMs: 4 }),
      { ...others, createdAtMs: nowMs, syncedAtMs: 4 },
    ],
    [
      'a sync beside other times',
      (syncedAtMs) => ({ ...others, createdAtMs: 2, syncedAtMs }),
      { ...others, createdAtMs: 2 },
    ],
  ]

  it.each(rows)('of %s may be a minute ahead', (_what, memoryAt) => {
    const memory = { round: 2, ...memoryAt(nowMs + 60_000) }
    expect(correctTimes(memory, nowMs, longestMs)).toBe(memory)
  })

  it.each(rows)('of %s is corrected if it is further ahead', (_what, memoryAt, corrected) => {
    const memory = { round: 2, ...memoryAt(nowMs + 60_001) }
    expect(correctTimes(memory, nowMs, longestMs)).toStrictEqual({ round: 2, ...corrected })
  })
})

describe('of a memory that has', () => {
  const roomMax = 3_600
  const planned = { digest: 'd', untilMs: 1, change: { do: 'delete', id: 'x' } } as const
  const shown = { text: 'x'.repeat(1_000) }
  const outputsUnkept = ['password']

  const noted = (memory: ExternalMemory): unknown => {
    const kept: [string, Json][] = []
    const ctx = { notes: { set: (key: string, value: Json) => kept.push([key, value]) } } as unknown as Context
    const answer = note(ctx, memory)
    expect(kept).toEqual([['external', answer]])
    return answer
  }

  /** With an id so long that it is as long as JSON. */
  const ofLength = (length: number, known: Known): ExternalMemory => {
    const memory = { round: 0, id: '', ...known }
    return { ...memory, id: 'x'.repeat(length - JSON.stringify(memory).length) }
  }

  it.each<[string, number, Known, Known]>([
    ['just room, all is noted', roomMax, { planned, shown, outputsUnkept }, { planned, shown, outputsUnkept }],
    ['no room, the plan is left out', roomMax + 1, { planned, shown, outputsUnkept }, { shown, outputsUnkept }],
    [
      'none without a plan either, what is shown is left to the status',
      roomMax + 500,
      { planned, shown, outputsUnkept },
      { isShownInStatus: true, outputsUnkept },
    ],
    [
      'none without that either, the names of outputs are left out',
      roomMax + 1_500,
      { planned, shown, outputsUnkept },
      { isShownInStatus: true },
    ],
    ['none and shows nothing, the names of outputs are left out', roomMax + 1, { outputsUnkept }, {}],
  ])('%s', (...[, length, known, left]) => {
    const memory = ofLength(length, known)
    expect(noted(memory)).toStrictEqual({ round: 0, id: memory.id, ...left })
  })
})

describe('paths', () => {
  const path = 'p'.repeat(200)
  it.each<[string, string[], string[]]>([
    ['that are none', [], []],
    ['with room for them are told', [path, path, path], [path, path, path]],
    ['without room are counted', [path, path, path, 'a', 'b'], [path, path, path, 'and 2 more']],
    ['that are long are shortened', [`${path}p`], [`${path}…`]],
    ['that are long count as much as is told', [`${path}pppp`, path, path], [`${path}…`, path, 'and 1 more']],
  ])('%s', (_what, paths, told) => {
    expect(beginningOfPaths(paths)).toEqual(told)
  })
})
