import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSqliteChangeLog } from '../../../../../shared/adapters/local/sqlite/sqlite-change-log.ts'
import { openSqliteDatabase } from '../../../../../shared/adapters/local/sqlite/sqlite-database.ts'
import { systemClock } from '../../../../../shared/adapters/node/system-clock.ts'
import { assemblePorts } from '../../../../../shared/runtime/local/ports.ts'
import { storedWidget, widgetKind } from '../../../../support/stored-object.ts'
import type { StoredObject } from '../../../../../shared/model/stored-object.ts'

function openPorts() {
  const database = openSqliteDatabase(':memory:')
  const ports = assemblePorts(database, createSqliteChangeLog({ database, clock: systemClock }))
  const { canBeDue } = ports
  if (canBeDue === undefined) throw new TypeError('these ports know their soonest timer')
  return { ...ports, database, canBeDue }
}

function dueAt(stored: StoredObject, wakeAtMs: number | undefined): StoredObject {
  return { ...stored, engine: wakeAtMs === undefined ? {} : { wakeAtMs } }
}

/** An object gets a timer, another one or none, or it goes; and somebody asks. */
const step = fc.oneof(
  fc.record({
    name: fc.constantFrom('a', 'b', 'c'),
    dueMs: fc.option(fc.integer({ min: 0, max: 200_000 }), { nil: undefined }),
  }),
  fc.record({ removed: fc.constantFrom('a', 'b', 'c') }),
  fc.record({ askedMs: fc.integer({ min: 0, max: 200_000 }) }),
)

describe('the soonest timer of a kind', () => {
  it('is never later than what the index finds, whatever is written in between', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { store, index, canBeDue, close } = openPorts()
        for (const one of steps) {
          const name = 'name' in one ? one.name : 'removed' in one ? one.removed : 'a'
          const there = await store.get({ ...widgetKind, namespace: 'default', name })
          if ('askedMs' in one) {
            const due = await index.due(widgetKind, one.askedMs, 1)
            expect(canBeDue(widgetKind, one.askedMs)).toBe(due.length > 0)
          } else if ('removed' in one) {
            if (there !== undefined) await store.remove(there)
          } else if (there === undefined) await store.create(dueAt(storedWidget(name), one.dueMs))
          else await store.replace(dueAt(there, one.dueMs), ['engine'])
        }
        close()
      }),
      { numRuns: 50 },
    )
  })

  it('is asked of the file again after a minute: a commit with an unknown end is told to nobody', async () => {
    const { store, canBeDue, database, close } = openPorts()
    await store.create(storedWidget('a'))
    expect(canBeDue(widgetKind, 1_000)).toBe(false)
    database.writeNow(() => database.prepare('UPDATE heads SET next_run_at_ms = 500').run())
    expect(canBeDue(widgetKind, 2_000)).toBe(false)
    expect(canBeDue(widgetKind, 61_000)).toBe(true)
    close()
  })

  it.each([
    ['is written', () => storedWidget('b')],
    ['is changed', (a: StoredObject) => a],
  ])('is that of an object that %s behind the last question', async (_what, objectOf) => {
    const { store, canBeDue, close } = openPorts()
    const a = await store.create(dueAt(storedWidget('a'), 100_000))
    expect(canBeDue(widgetKind, 49_000)).toBe(false)
    const sooner = dueAt(objectOf(a), 50_000)
    await (sooner.object === a.object ? store.replace(sooner, ['engine']) : store.create(sooner))
    expect([canBeDue(widgetKind, 49_999), canBeDue(widgetKind, 50_000)]).toEqual([false, true])
    close()
  })

  it('is nothing for a kind without objects', () => {
    const { canBeDue, close } = openPorts()
    expect(canBeDue({ group: 'nobody.dev', kind: 'Nothing' }, Infinity)).toBe(false)
    close()
  })

  it.each([
    [99_999, false],
    [100_000, true],
  ])('can be due at its very moment: at %d that is %s', async (untilMs, is) => {
    const { store, canBeDue, close } = openPorts()
    await store.create(dueAt(storedWidget('a'), 100_000))
    // What is known of it is a moment old.
    canBeDue(widgetKind, 90_000)
    expect(canBeDue(widgetKind, untilMs)).toBe(is)
    close()
  })

  it.each([
    [59_999, false],
    [-59_999, false],
    [60_000, true],
    [-60_000, true],
  ])('is looked for in the file again a minute later: %d ms later that is %s', async (ms, is) => {
    const { store, database, canBeDue, close } = openPorts()
    await store.create(dueAt(storedWidget('a'), 1_000_000))
    expect(canBeDue(widgetKind, 100_000)).toBe(false)
    // A commit of which nobody was told.
    database.prepare('UPDATE heads SET next_run_at_ms = 1').run()
    expect(canBeDue(widgetKind, 100_000 + ms)).toBe(is)
    close()
  })
})
