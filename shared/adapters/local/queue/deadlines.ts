import { createHeap } from './heap.ts'

/** What can have one deadline at a time. The field belongs to `Deadlines`. */
export interface Timed {
  deadline: Deadline | undefined
}

export interface Deadline {
  readonly atMs: number
  readonly of: Timed
}

/**
 * Deadlines of many, the earliest at hand. Moving or ending one costs nothing: the old entry stays in the heap until it
 * comes up, or until such entries are the majority.
 */
export interface QueueDeadlines<Item extends Timed> {
  /** Replaces the item's deadline. */
  set(item: Item, atMs: number): void
  end(item: Item): void
  earliestMs(): number | undefined
  /** Takes the item whose deadline is the earliest, if it is not after `nowMs`. */
  takeDue(nowMs: number): Item | undefined
}

const staleMin = 64

export function createDeadlines<Item extends Timed>(): QueueDeadlines<Item> {
  const heap = createHeap<Deadline>((a, b) => a.atMs < b.atMs)
  let live = 0

  const isLive = (deadline: Deadline): boolean => deadline.of.deadline === deadline

  const first = (): Deadline | undefined => {
    let head = heap.peek()
    for (; head !== undefined && !isLive(head); head = heap.peek()) heap.pop()
    return head
  }

  const end = (item: Item): void => {
    if (item.deadline === undefined) return
    item.deadline = undefined
    live--
    if (heap.size > 2 * live + staleMin) heap.retain(isLive)
  }

  const set = (item: Item, atMs: number): void => {
    if (item.deadline === undefined) live++
    item.deadline = { atMs, of: item }
    heap.push(item.deadline)
  }

  const takeDue = (nowMs: number): Item | undefined => {
    const head = first()
    if (head === undefined || head.atMs > nowMs) return undefined
    const item = head.of as Item
    end(item)
    return item
  }

  return { set, end, earliestMs: () => first()?.atMs, takeDue }
}
