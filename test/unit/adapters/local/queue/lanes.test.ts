import { describe, expect, it } from 'vitest'
import { createLanes, type Laned } from '../../../../../shared/adapters/local/queue/lanes.ts'
import type { Lane } from '../../../../../shared/ports/work-queue.ts'

interface Item extends Laned {
  readonly name: string
}

function open(...all: readonly (readonly [string, Lane])[]) {
  const lanes = createLanes<Item>()
  const items = new Map<string, Item>()
  const join = (name: string, lane: Lane): void => {
    const item = items.get(name) ?? { name, lane: undefined }
    items.set(name, item)
    lanes.join(item, lane)
  }
  for (const [name, lane] of all) join(name, lane)
  const take = (background = true): string | undefined => lanes.take(background)?.name
  const takeAll = (background = true): string => {
    const names: string[] = []
    for (let name = take(background); name !== undefined; name = take(background)) names.push(name)
    return names.join(' ')
  }
  return { lanes, items, join, take, takeAll }
}

describe('two lanes', () => {
  it('give the urgent ones first, each lane in its order', () => {
    const { lanes, takeAll } = open(['a', 'background'], ['b', 'urgent'], ['c', 'background'], ['d', 'urgent'])
    expect(lanes.size).toBe(4)
    expect([takeAll(), lanes.size]).toEqual(['b d a c', 0])
  })

  it('give none of the background if it is not wanted', () => {
    const { lanes, takeAll } = open(['a', 'background'], ['b', 'urgent'])
    expect([takeAll(false), lanes.size, takeAll()]).toEqual(['b', 1, 'a'])
  })

  it('give every tenth from the background, however many urgent ones there are', () => {
    const urgent = Array.from({ length: 30 }, (_, i) => [String(i), 'urgent'] as const)
    const { takeAll } = open(...urgent, ['x', 'background'], ['y', 'background'])
    const names = takeAll().split(' ')
    expect([names.indexOf('x'), names.indexOf('y'), names.length]).toEqual([9, 19, 32])
  })

  it('give an urgent one where the tenth of the background is not there', () => {
    const { takeAll } = open(...Array.from({ length: 12 }, (_, i) => [String(i), 'urgent'] as const))
    expect(takeAll()).toBe('0 1 2 3 4 5 6 7 8 9 10 11')
  })

  it('have an item once, which moves to the urgent one and never back', () => {
    const { lanes, join, takeAll } = open(['a', 'background'], ['b', 'background'], ['c', 'urgent'])
    join('b', 'urgent')
    join('b', 'background')
    join('c', 'urgent')
    join('a', 'background')
    expect([lanes.size, takeAll(), lanes.size]).toEqual([3, 'c b a', 0])
  })

  it('take in again what has been taken', () => {
    const { join, take, items } = open(['a', 'urgent'])
    expect([take(), items.get('a')?.lane, take()]).toEqual(['a', undefined, undefined])
    join('a', 'background')
    expect([items.get('a')?.lane, take(), take()]).toEqual(['background', 'a', undefined])
  })

  it('keep their order over many thousands', () => {
    const { join, take } = open()
    let joined = 0
    let taken = 0
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 1_000; i++) join(String(joined++), 'urgent')
      for (let i = 0; i < 900; i++) expect(take()).toBe(String(taken++))
    }
    while (taken < joined) expect(take()).toBe(String(taken++))
    expect(take()).toBeUndefined()
  })
})
