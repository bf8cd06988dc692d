import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createHeap } from '../../../../../shared/adapters/local/queue/heap.ts'

const ascending = (a: number, b: number): number => a - b

describe('a heap', () => {
  it('is empty at first', () => {
    const heap = createHeap<number>((a, b) => a < b)
    expect([heap.size, heap.peek(), heap.pop()]).toEqual([0, undefined, undefined])
  })

  it('gives what is first of all it holds, whatever came and went', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.nat(50), { freq: 3 })), (acts) => {
        const heap = createHeap<number>((a, b) => a < b)
        let model: number[] = []
        for (const act of acts) {
          if (act === null) {
            expect(heap.pop()).toBe(model[0])
            model = model.slice(1)
          } else {
            heap.push(act)
            model = [...model, act].toSorted(ascending)
          }
          expect([heap.size, heap.peek()]).toEqual([model.length, model[0]])
        }
      }),
    )
  })

  it('stays in order when items are dropped', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50)), fc.nat(50), (items, limit) => {
        const heap = createHeap<number>((a, b) => a < b)
        for (const item of items) heap.push(item)
        heap.retain((item) => item > limit)
        const left: (number | undefined)[] = []
        while (heap.size > 0) left.push(heap.pop())
        expect(left).toEqual(items.filter((item) => item > limit).toSorted(ascending))
      }),
    )
  })
})
