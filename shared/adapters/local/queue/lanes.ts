import type { Lane } from '../../../ports/work-queue.ts'

/** What can stand in a lane. The field belongs to `Lanes`. */
export interface Laned {
  lane: Lane | undefined
}

/**
 * Two lines, first come first served in each. The urgent one goes first, but every tenth item comes from the background
 * line if one stands there: however many urgent ones there are, a background one moves up.
 */
export interface Lanes<Item extends Laned> {
  readonly size: number
  /** Puts an item at the end of a lane; one that stands in the background moves to the urgent lane, never back. */
  join(item: Item, lane: Lane): void
  /** The next one; without `background`, the next urgent one. */
  take(background: boolean): Item | undefined
}

const backgroundShare = 10

export function createLanes<Item extends Laned>(): Lanes<Item> {
  const urgent = createLine<Item>()
  const background = createLine<Item>()
  let size = 0
  let taken = 0

  const join = (item: Item, lane: Lane): void => {
    if (item.lane === lane || item.lane === 'urgent') return
    if (item.lane === undefined) size++
    item.lane = lane
    if (lane === 'urgent') urgent.push(item)
    else background.push(item)
  }

  /** Whoever has left the lane since, for the other one or altogether, is passed over. */
  const next = (lane: Lane): Item | undefined => {
    const line = lane === 'urgent' ? urgent : background
    let item = line.shift()
    while (item !== undefined && item.lane !== lane) item = line.shift()
    return item
  }

  const nextOfBoth = (): Item | undefined => {
    const isBackgroundsTurn = ++taken % backgroundShare === 0
    return isBackgroundsTurn ? (next('background') ?? next('urgent')) : (next('urgent') ?? next('background'))
  }

  const take: Lanes<Item>['take'] = (withBackground) => {
    const item = withBackground ? nextOfBoth() : next('urgent')
    if (item === undefined) return item
    item.lane = undefined
    size--
    return item
  }

  return {
    get size() {
      return size
    },
    join,
    take,
  }
}

interface Line<Item> {
  push(item: Item): void
  shift(): Item | undefined
}

const gapMax = 1_024

/** An array with a gap at its head, which is closed when it is the larger part. */
function createLine<Item>(): Line<Item> {
  let items: (Item | undefined)[] = []
  let head = 0
  return {
    push: (item) => void items.push(item),
    shift: () => {
      const item = items[head]
      if (item === undefined) return item
      items[head++] = undefined
      if (head > gapMax && head * 2 > items.length) {
        items = items.slice(head)
        head = 0
      }
      return item
    },
  }
}
