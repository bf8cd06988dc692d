import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createDeadlines, type Timed } from '../../../../../shared/adapters/local/queue/deadlines.ts'

interface Named extends Timed {
  readonly name: string
}

const named = (name: string): Named => ({ name, deadline: undefined })

describe('deadlines', () => {
  it('come up in their order, and not before their time', () => {
    const deadlines = createDeadlines<Named>()
    deadlines.set(named('b'), 20)
    deadlines.set(named('a'), 10)
    expect(deadlines.earliestMs()).toBe(10)
    expect(deadlines.takeDue(9)).toBeUndefined()
    expect([deadlines.takeDue(20)?.name, deadlines.takeDue(20)?.name, deadlines.takeDue(20)]).toEqual([
      'a',
      'b',
      undefined,
    ])
  })

  it('forget what has ended once that is more than twice what is left and 64', () => {
    const deadlines = createDeadlines<Timed>()
    let looks = 0
    const left = Array.from({ length: 40 }, (_, i): Timed => {
      let deadline: Timed['deadline']
      return {
        get deadline() {
          if (i === 39) looks++
          return deadline
        },
        set deadline(one) {
          deadline = one
        },
      }
    })
    for (const [i, item] of left.entries()) {
      deadlines.set(item, 500)
      deadlines.set(item, 1_000 + i)
    }
    const ending = named('ending')
    deadlines.end(ending)
    looks = 0
    const endedAt = (count: number): number => {
      for (let i = 0; i < count; i++) {
        deadlines.set(ending, 2_000)
        deadlines.end(ending)
      }
      return looks
    }
    // Forty are left, and so 144 may be there. Eighty are, two of each, and one more comes with each that ends.
    expect([endedAt(64), endedAt(1), endedAt(104), endedAt(1)]).toEqual([0, 2, 2, 3])
    expect(deadlines.earliestMs()).toBe(1_000)
  })

  it('are moved and ended as if the old ones had never been', () => {
    const names = fc.constantFrom('a', 'b', 'c', 'd')
    const acts = fc.array(fc.record({ name: names, atMs: fc.option(fc.nat(100)) }), { maxLength: 300, size: 'max' })
    fc.assert(
      fc.property(acts, (all) => {
        const deadlines = createDeadlines<Named>()
        const items = new Map(['a', 'b', 'c', 'd'].map((name) => [name, named(name)]))
        const model = new Map<string, number>()
        for (const { name, atMs } of all) {
          const item = items.get(name) as Named
          if (atMs === null) {
            deadlines.end(item)
            model.delete(name)
          } else {
            deadlines.set(item, atMs)
            model.set(name, atMs)
          }
          expect(deadlines.earliestMs()).toBe(model.size === 0 ? undefined : Math.min(...model.values()))
        }
        const taken: string[] = []
        for (let item = deadlines.takeDue(1_000); item !== undefined; item = deadlines.takeDue(1_000))
          taken.push(item.name)
        expect(taken.map((name) => model.get(name))).toEqual([...model.values()].toSorted((a, b) => a - b))
      }),
    )
  })
})
