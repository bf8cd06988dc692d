/**
 * A binary heap: the item that comes before all others is at hand, adding and taking cost the logarithm of the size.
 */
export interface Heap<Item> {
  readonly size: number
  push(item: Item): void
  /** The first item, without taking it. */
  peek(): Item | undefined
  /** Takes the first item. */
  pop(): Item | undefined
  /** Drops all items that do not pass. */
  retain(passes: (item: Item) => boolean): void
}

export function createHeap<Item>(isBefore: (a: Item, b: Item) => boolean): Heap<Item> {
  let items: Item[] = []

  /** Both walks hold `item` in hand and move the others into the gap it leaves. */
  const siftUp = (from: number, item: Item): void => {
    let at = from
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(item, items[parent] as Item)) break
      items[at] = items[parent] as Item
      at = parent
    }
    items[at] = item
  }

  const siftDown = (from: number, item: Item): void => {
    let at = from
    for (let child = 2 * at + 1; child < items.length; child = 2 * at + 1) {
      if (child + 1 < items.length && isBefore(items[child + 1] as Item, items[child] as Item)) child++
      if (!isBefore(items[child] as Item, item)) break
      items[at] = items[child] as Item
      at = child
    }
    items[at] = item
  }

  const pop = (): Item | undefined => {
    const [first] = items
    const last = items.pop()
    if (items.length > 0) siftDown(0, last as Item)
    return first
  }

  const retain = (passes: (item: Item) => boolean): void => {
    items = items.filter(passes)
    for (let i = (items.length >> 1) - 1; i >= 0; i--) siftDown(i, items[i] as Item)
  }

  return {
    get size() {
      return items.length
    },
    push: (item) => siftUp(items.length, item),
    peek: () => items[0],
    pop,
    retain,
  }
}
