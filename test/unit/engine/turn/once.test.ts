import { describe, expect, it } from 'vitest'
import { ContextCalls } from '../../../../shared/engine/turn/context-calls.ts'
import { createOnce } from '../../../../shared/engine/turn/once.ts'
import { RunNotes } from '../../../../shared/engine/turn/notes.ts'
import type { RunMemory } from '../../../../shared/engine/turn/run-memory.ts'
import type { RunTime } from '../../../../shared/engine/turn/run-times.ts'
import type { EngineState, OnceRecord } from '../../../../shared/model/engine-state.ts'
import type { Json } from '../../../../shared/model/json.ts'
import type { Effect } from '../../../../shared/reconciler/once.ts'
import { storedWidget } from '../../../support/stored-object.ts'

const time = { throwIfOver: () => {} } as unknown as RunTime
const over = {
  throwIfOver: () => {
    throw new Error('the run is over')
  },
} as unknown as RunTime

/** A memory that keeps what it is told, and how often. */
function memoryOf(engine: EngineState = {}) {
  let stored = { ...storedWidget('w'), engine }
  const writes: EngineState[] = []
  const memory: RunMemory = {
    live: () => stored,
    remember: async (change) => {
      stored = { ...stored, engine: change(stored.engine) }
      writes.push(stored.engine)
    },
  }
  return { memory, writes, once: () => stored.engine.memory?.once ?? {} }
}

describe('once', () => {
  it('notes an effect before it begins and with its result, and does it no more', async () => {
    const { memory, writes, once } = memoryOf()
    const effects: (Effect & { readonly before: readonly string[] })[] = []
    const run = () =>
      createOnce(memory, time)('k', async (effect) => {
        effects.push({ ...effect, before: Object.values(once()).map(({ state }) => state) })
        return { id: 7 }
      })
    expect([await run(), await run()]).toEqual([{ id: 7 }, { id: 7 }])
    expect(effects).toMatchObject([{ mayHaveHappened: false, before: ['begun'] }])
    expect(effects[0]?.token).toMatch(/^uid-default-w\.[0-9a-f]+\.[0-9a-f]+$/)
    expect(writes).toHaveLength(2)
    expect(once()['k']).toMatchObject({ state: 'done', result: { id: 7 } })
  })

  it('does one effect for two calls at once, and another for what is about something else', async () => {
    const { memory } = memoryOf()
    const once = createOnce(memory, time)
    let count = 0
    const effect = async () => ++count
    const both = [once('k', effect), once('k', effect), once('k', effect, { of: 2 }), once('other', effect)]
    expect(await Promise.all(both)).toEqual([1, 1, 3, 2])
  })

  it('tells the second of two calls at once that the first may have happened, if that failed', async () => {
    const { memory } = memoryOf()
    const once = createOnce(memory, time)
    const failed = once('k', () => Promise.reject(new Error('crash')))
    const second = once('k', async ({ mayHaveHappened }) => mayHaveHappened)
    await expect(failed).rejects.toThrow('crash')
    expect(await second).toBe(true)
  })

  it('says that an effect may have happened which a run before it began, under the same token', async () => {
    const { memory, writes } = memoryOf()
    const seen: Effect[] = []
    const failing = createOnce(memory, time)('k', async (effect) => {
      seen.push(effect)
      throw new Error('crash')
    })
    await expect(failing).rejects.toThrow('crash')
    await createOnce(memory, time)('k', async (effect) => void seen.push(effect))
    expect(seen.map(({ mayHaveHappened }) => mayHaveHappened)).toEqual([false, true])
    expect(new Set(seen.map(({ token }) => token)).size).toBe(1)
    expect(writes).toHaveLength(2)
  })

  it('does an effect again that is about something else, and keeps those of other keys', async () => {
    const { memory, once } = memoryOf()
    const calls: string[] = []
    const about = (key: string, of: Json) => createOnce(memory, time)(key, async () => void calls.push(key), { of })
    await about('a', 1)
    await about('b', 1)
    await about('a', 2)
    await about('a', 2)
    expect(calls).toEqual(['a', 'b', 'a'])
    expect(Object.keys(once())).toEqual(['a', 'b'])
    expect('result' in (once()['a'] ?? {})).toBe(false)
  })

  const full = (count: number): EngineState => {
    const record: OnceRecord = { of: 'x', state: 'begun' }
    return { memory: { once: Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, record])) } }
  }
  it.each([
    [31, 'new', true],
    [32, 'new', false],
    [32, 'k0', true],
  ])('with %d keys remembers %s: %j', async (count, key, is) => {
    const done = createOnce(memoryOf(full(count)).memory, time)(key, async () => 'x')
    const [{ status }] = await Promise.allSettled([done])
    expect(status).toBe(is ? 'fulfilled' : 'rejected')
  })

  it('counts those that begin at once, each of them', async () => {
    const once = createOnce(memoryOf().memory, time)
    const all = await Promise.allSettled(Array.from({ length: 40 }, (_, i) => once(`k${i}`, async () => i)))
    expect(all.filter(({ status }) => status === 'rejected')).toHaveLength(8)
  })

  it.each([
    [4_094, true],
    [4_095, false],
  ])('keeps a result of %d characters and two quotes: %j', async (length, is) => {
    const done = createOnce(memoryOf().memory, time)('k', async () => 'x'.repeat(length))
    const [{ status }] = await Promise.allSettled([done])
    expect(status).toBe(is ? 'fulfilled' : 'rejected')
  })

  it.each([
    ['result', Number.NaN, 'once: the result of k is NaN; JSON has'],
    ['result', { at: new Date(0) }, 'once: the result of k.at is of class Date'],
    ['of', [new Map()], 'once: the option "of" of k[0] is of class Map'],
  ])('takes no %s of %j, which JSON would change without a word', async (where, value, message) => {
    const given = value as Json
    const run = createOnce(memoryOf().memory, time)
    const done = where === 'of' ? run('k', async () => 'x', { of: given }) : run('k', async () => given)
    await expect(done).rejects.toThrow(message)
  })

  it('gives each run a result of its own', async () => {
    const { memory } = memoryOf()
    const made = { ids: [1] }
    await createOnce(memory, time)('k', async () => made)
    made.ids.push(2)
    const again = async (): Promise<typeof made> => createOnce(memory, time)('k', async () => made)
    const given = await again()
    given.ids.push(3)
    expect([given, await again()]).toEqual([{ ids: [1, 3] }, { ids: [1] }])
  })

  it('does nothing when the time of the run is over', async () => {
    const { memory, writes } = memoryOf()
    await expect(createOnce(memory, over)('k', async () => 'x')).rejects.toThrow('the run is over')
    expect(writes).toEqual([])
  })
})

describe('notes', () => {
  it('are those of earlier runs, are set and taken away, and kept when that is asked for', async () => {
    const { memory, writes } = memoryOf({ memory: { notes: { a: 1, b: 2 }, syncedAtMs: 3 } })
    const notes = new RunNotes(memory, time, new ContextCalls())
    expect(notes.get('a')).toBe(1)
    notes.set('a', 'x')
    notes.set('b', undefined)
    expect([notes.get('a'), Object.keys(notes.all()), writes.length]).toEqual(['x', ['a'], 0])
    await notes.keep()
    expect(writes).toEqual([{ memory: { notes: { a: 'x' }, syncedAtMs: 3 } }])
  })

  it.each([
    [4_096, true],
    [4_097, false],
  ])('of %d characters are kept: %j', (length, is) => {
    const notes = new RunNotes(memoryOf().memory, time, new ContextCalls())
    const set = (): void => notes.set('k', 'x'.repeat(length - '{"k":""}'.length))
    if (is) set()
    else expect(set).toThrow('4096 characters at most')
    expect(notes.all()).toEqual(is ? { k: expect.any(String) as string } : {})
  })

  it('are changed by set alone: what was set, and what is read, is a copy', async () => {
    const { memory, writes } = memoryOf()
    const notes = new RunNotes(memory, time, new ContextCalls())
    const progress = { step: 1, done: ['a'] }
    notes.set('p', progress)
    await notes.keep()
    progress.step = 2
    const read = notes.get('p') as typeof progress
    read.done.push('b')
    expect(notes.get('p')).toEqual({ step: 1, done: ['a'] })
    notes.set('p', progress)
    await notes.keep()
    expect(writes.map(({ memory: kept }) => kept?.notes)).toEqual([
      { p: { step: 1, done: ['a'] } },
      { p: { step: 2, done: ['a'] } },
    ])
  })

  it('are what JSON can say, and of names that every object has only what was set', () => {
    const notes = new RunNotes(memoryOf().memory, time, new ContextCalls())
    expect(() => notes.set('p', { rate: Number.NaN })).toThrow('notes: p.rate is NaN; JSON has')
    expect(() => notes.set('p', new Date(0) as unknown as Json)).toThrow('notes: p is of class Date')
    expect(notes.get('constructor')).toBeUndefined()
    notes.set('constructor', 'x')
    expect(notes.get('constructor')).toBe('x')
  })

  it('that are as they were, or are kept by now, are no changes', async () => {
    const { memory } = memoryOf({ memory: { notes: { a: 1, b: { c: [1] }, d: 2 } } })
    const notes = new RunNotes(memory, time, new ContextCalls())
    expect(notes.changes()).toEqual({})
    notes.set('b', { c: [1] })
    notes.set('x', 1)
    notes.set('x', undefined)
    expect(notes.changes()).toEqual({})
    notes.set('a', 2)
    notes.set('d', undefined)
    notes.set('constructor', 3)
    expect(notes.changes()).toEqual({ a: 2, d: undefined, constructor: 3 })
    expect(Object.keys(notes.changes())).toContain('d')
    await notes.keep()
    expect(notes.changes()).toEqual({})
    notes.set('a', 1)
    expect(notes.changes()).toEqual({ a: 1 })
  })

  describe('of a keep whose answer was lost', () => {
    async function keptWithoutAnswer() {
      const { memory, writes } = memoryOf({ memory: { notes: { a: 1 } } })
      const answers = [Promise.reject(new Error('the answer was lost'))]
      const remember: RunMemory['remember'] = async (change) => {
        await memory.remember(change)
        await answers.shift()
      }
      const notes = new RunNotes({ ...memory, remember }, time, new ContextCalls())
      notes.set('a', 2)
      notes.set('b', 2)
      await expect(notes.keep()).rejects.toThrow('the answer was lost')
      return { notes, writes }
    }

    it('are changes, though they are set back to what they were', async () => {
      const { notes } = await keptWithoutAnswer()
      expect(notes.changes()).toEqual({ a: 2, b: 2 })
      notes.set('a', 1)
      notes.set('b', undefined)
      expect(notes.changes()).toStrictEqual({ a: 1, b: undefined })
    })

    it('are stored as they are by the next keep, and no changes from then on', async () => {
      const { notes, writes } = await keptWithoutAnswer()
      notes.set('a', 1)
      notes.set('b', undefined)
      await notes.keep()
      expect(writes.at(-1)?.memory?.notes).toEqual({ a: 1 })
      expect(notes.changes()).toEqual({})
    })
  })

  it('that are set back while a keep is under way are kept as they are', async () => {
    const { memory, writes } = memoryOf()
    const notes = new RunNotes(memory, time, new ContextCalls())
    notes.set('a', 1)
    const first = notes.keep()
    notes.set('a', undefined)
    await Promise.all([first, notes.keep()])
    expect([writes.length, writes.at(-1)?.memory?.notes, notes.changes()]).toEqual([2, undefined, {}])
  })

  it('are kept beside what another run has noted meanwhile', async () => {
    const { memory, writes } = memoryOf({ memory: { notes: { a: 1, b: 1 } } })
    const notes = new RunNotes(memory, time, new ContextCalls())
    notes.set('a', 2)
    await memory.remember((engine) => ({ ...engine, memory: { notes: { a: 1, b: 5, c: 6 } } }))
    await notes.keep()
    expect(writes.at(-1)).toEqual({ memory: { notes: { a: 2, b: 5, c: 6 } } })
  })

  it('are not kept when the time of the run is over', async () => {
    const { memory, writes } = memoryOf()
    await expect(new RunNotes(memory, over, new ContextCalls()).keep()).rejects.toThrow('the run is over')
    expect(writes).toEqual([])
  })
})
