import { describe, expect, it } from 'vitest'
import { createRunMemory } from '../../../../shared/engine/turn/run-memory.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import type { ObjectStore } from '../../../../shared/ports/object-store.ts'
import { expectCode } from '../../../support/expect-code.ts'
import { storedWidget, withMetadata } from '../../../support/stored-object.ts'

const given = storedWidget('w', { resourceVersion: '1' })
const overtaken = withMetadata(given, { resourceVersion: '2' })

/** A store with one object that takes writes of its newest version only, and says what it was asked. */
function storeWith(newest: StoredObject | undefined) {
  const calls: string[] = []
  const store = {
    get: async () => {
      calls.push('get')
      return newest
    },
    replace: async (stored: StoredObject) => {
      calls.push('replace')
      if (stored.object.metadata.resourceVersion !== newest?.object.metadata.resourceVersion)
        throw new OperatingError('VERSION_CONFLICT', 'another was ahead')
      return stored
    },
  } as unknown as ObjectStore
  return { calls, store }
}

const wake = { wakeAtMs: 5 }

describe('what a run remembers', () => {
  it('is written on the state that the run has, without a read', async () => {
    const { calls, store } = storeWith(given)
    const memory = createRunMemory(store, given)
    await memory.remember((engine) => ({ ...engine, ...wake }))
    expect(calls).toEqual(['replace'])
    expect(memory.live().engine).toEqual(wake)
  })

  it('is refused, and not asked for of the store, where it would leave no room beside it', async () => {
    const { calls, store } = storeWith(given)
    const memory = createRunMemory(store, given)
    const full = memory.remember((engine) => ({ ...engine, memory: { notes: { n: 'x'.repeat(400_000) } } }))
    await expectCode(full, 'TOO_LARGE')
    expect([calls, memory.live()]).toEqual([[], given])
  })

  it('is written one after the other, however much of it comes at once', async () => {
    let newest = given
    const store = {
      replace: async (stored: StoredObject) => {
        const { resourceVersion } = newest.object.metadata
        if (stored.object.metadata.resourceVersion !== resourceVersion)
          throw new OperatingError('VERSION_CONFLICT', 'another was ahead')
        newest = withMetadata(stored, { resourceVersion: String(Number(resourceVersion) + 1) })
        await Promise.resolve()
        return newest
      },
    } as unknown as ObjectStore
    const memory = createRunMemory(store, given)
    const notes = Array.from({ length: 30 }, (_, i) => `n${i}`)
    const add = (name: string) =>
      memory.remember(({ memory: { notes: others } = {}, ...engine }) => ({
        ...engine,
        memory: { notes: { ...others, [name]: 1 } },
      }))
    const refused = memory.remember(() => {
      throw new Error('no')
    })
    await Promise.all([expect(refused).rejects.toThrow('no'), ...notes.map(add)])
    expect(Object.keys(newest.engine.memory?.notes ?? {})).toEqual(notes)
  })

  it('is written on the newest state where another write was ahead', async () => {
    const { calls, store } = storeWith(overtaken)
    const memory = createRunMemory(store, given)
    await memory.remember((engine) => ({ ...engine, ...wake }))
    expect(calls).toEqual(['replace', 'get', 'replace'])
    expect(memory.live()).toEqual({ ...overtaken, engine: wake })
  })

  it('is not written again where it is known', async () => {
    const { calls, store } = storeWith(given)
    await createRunMemory(store, given).remember((engine) => ({ ...engine }))
    expect(calls).toEqual([])
  })

  it.each([
    ['gone', undefined],
    ['another of its name', withMetadata(overtaken, { uid: 'other' })],
  ])('is refused where the object is %s', async (_, newest) => {
    const memory = createRunMemory(storeWith(newest).store, given)
    await expectCode(
      memory.remember((engine) => ({ ...engine, ...wake })),
      'NOT_FOUND',
    )
  })
})
