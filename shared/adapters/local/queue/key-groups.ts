import type { ObjectKey } from '../../../model/object-key.ts'
import type { Delivery, Lane, WakeUp } from '../../../ports/work-queue.ts'
import { createDeadlines, type Timed } from './deadlines.ts'
import { createLanes, type Laned } from './lanes.ts'
import { mergeWakeUps } from './merge-wake-ups.ts'

/**
 * The state of a queue by the rules of SQS FIFO with one group per key, moved by calls that bring the time.
 *
 * A key is ready (in a lane), delayed (its time has not come), taken or held (a receipt has it to itself), or unknown.
 * What arrives while it is ready or delayed is merged into its one wake-up; what arrives while it is taken or held is
 * merged into the one that follows.
 */
export interface KeyGroups {
  accept(key: string, wakeUp: WakeUp, nowMs: number): void
  take(max: number, nowMs: number, backgroundMax?: number): readonly Delivery[]
  /** The three do nothing if the receipt has ended: settled, expired, or come back. */
  settle(handle: string, nowMs: number): void
  hold(handle: string, ms: number, nowMs: number): void
  /** Ends a hold; a receipt that is not held stays as it is. */
  wake(handle: string, nowMs: number): void
  /** Anything but timers has come since the receipt. */
  isWanted(handle: string, nowMs: number): boolean
  /**
   * The machine's clock was moved by so much, or the process stood still for so long: those who have taken a key have
   * it as long as before. If the clock was put back, what is held or delayed comes as soon as before, too.
   */
  clockJumped(byMs: number): void
  /** Whether somebody has a key that is not held. Looks at all receipts. */
  isAnyTaken(): boolean
  /** Keys that are ready. */
  depth(): number
  /** Since when the key that is ready longest has been so; Infinity if none is. Looks at all keys. */
  oldestReadyAtMs(): number
  /** Keys in the order in which they came into the queue; with `after`, those behind the one of this `order`. */
  list(nowMs: number, after?: number): Iterable<QueuedKey>
  /** The same of one key; undefined if it is not in the queue. */
  find(key: string, nowMs: number): QueuedKey | undefined
  /** When a key becomes ready, or a receipt ends, by itself. */
  nextDeadlineMs(): number | undefined
}

/** A key as it stands in the queue, for people. */
export interface QueuedKey {
  readonly key: ObjectKey
  readonly state: 'running' | 'ready' | 'held' | 'delayed'
  /** For how long it has been so; of one that is held or delayed, for how long it will be. */
  readonly ms: number
  readonly lane: Lane
  readonly reason: string
  /** Grows with each key that comes into the queue. */
  readonly order: number
}

export interface KeyGroupsOptions {
  /** Sets the receipts of this queue apart from all others, before and after a restart. */
  readonly handlePrefix: string
  readonly visibilityMs: number
  /** Told how long each key that is handed out was ready before. */
  readonly onHandOut?: (waitedMs: number) => void
}

interface Group extends Timed, Laned {
  readonly key: string
  readonly order: number
  wakeUp: WakeUp
  /** Arrived while the group was taken or held. */
  next: WakeUp | undefined
  /** The receipt, while taken or held. */
  handle: string | undefined
  isHeld: boolean
  receiveCount: number
  /** Since when it is, or was, ready. */
  readyAtMs: number
}

export function createKeyGroups(options: KeyGroupsOptions): KeyGroups {
  return new Groups(options)
}

class Groups implements KeyGroups {
  readonly #options: KeyGroupsOptions
  readonly #groups = new Map<string, Group>()
  readonly #receipts = new Map<string, Group>()
  readonly #lanes = createLanes<Group>()
  readonly #deadlines = createDeadlines<Group>()
  #handles = 0
  #added = 0

  constructor(options: KeyGroupsOptions) {
    this.#options = options
  }

  #makeReady(group: Group, nowMs: number): void {
    this.#deadlines.end(group)
    if (group.lane === undefined) group.readyAtMs = nowMs
    this.#lanes.join(group, group.wakeUp.lane)
  }

  /** Puts a group that no receipt has where its wake-up says. */
  #place(group: Group, nowMs: number): void {
    const { notBeforeMs = nowMs } = group.wakeUp
    if (notBeforeMs > nowMs && group.lane === undefined) this.#deadlines.set(group, notBeforeMs)
    else this.#makeReady(group, nowMs)
  }

  accept(key: string, wakeUp: WakeUp, nowMs: number): void {
    const group = this.#groups.get(key)
    if (group === undefined) {
      const added = groupOf(key, wakeUp, ++this.#added)
      this.#groups.set(key, added)
      this.#place(added, nowMs)
    } else if (group.handle === undefined) {
      group.wakeUp = mergeWakeUps(group.wakeUp, wakeUp)
      this.#place(group, nowMs)
    } else {
      group.next = group.next === undefined ? wakeUp : mergeWakeUps(group.next, wakeUp)
    }
  }

  #handOut(group: Group, nowMs: number): Delivery {
    const handle = `${this.#options.handlePrefix}.${++this.#handles}`
    group.handle = handle
    group.receiveCount++
    this.#receipts.set(handle, group)
    this.#deadlines.set(group, nowMs + this.#options.visibilityMs)
    this.#options.onHandOut?.(nowMs - group.readyAtMs)
    return { wakeUp: group.wakeUp, handle, receiveCount: group.receiveCount }
  }

  #endReceipt(group: Group): void {
    this.#receipts.delete(group.handle ?? '')
    group.handle = undefined
    group.isHeld = false
  }

  /** The same wake-up again, behind everything that is fresh. */
  #comeBack(group: Group, nowMs: number): void {
    this.#endReceipt(group)
    const back: WakeUp = { ...group.wakeUp, lane: 'background' }
    group.wakeUp = group.next === undefined ? back : mergeWakeUps(back, group.next)
    group.next = undefined
    this.#makeReady(group, nowMs)
  }

  #passTime(nowMs: number): void {
    for (let group = this.#deadlines.takeDue(nowMs); group !== undefined; group = this.#deadlines.takeDue(nowMs)) {
      if (group.handle === undefined) this.#makeReady(group, nowMs)
      else this.#comeBack(group, nowMs)
    }
  }

  take(max: number, nowMs: number, backgroundMax = max): readonly Delivery[] {
    this.#passTime(nowMs)
    const deliveries: Delivery[] = []
    let background = 0
    while (deliveries.length < max) {
      const group = this.#lanes.take(background < backgroundMax)
      if (group === undefined) break
      if (group.wakeUp.lane === 'background') background++
      deliveries.push(this.#handOut(group, nowMs))
    }
    return deliveries
  }

  #groupWith(handle: string, nowMs: number): Group | undefined {
    const group = this.#receipts.get(handle)
    return (group?.deadline?.atMs ?? 0) > nowMs ? group : undefined
  }

  settle(handle: string, nowMs: number): void {
    const group = this.#groupWith(handle, nowMs)
    if (group === undefined) return
    this.#endReceipt(group)
    this.#deadlines.end(group)
    if (group.next === undefined) return void this.#groups.delete(group.key)
    group.wakeUp = group.next
    group.next = undefined
    group.receiveCount = 0
    this.#place(group, nowMs)
  }

  hold(handle: string, ms: number, nowMs: number): void {
    const group = this.#groupWith(handle, nowMs)
    if (group === undefined) return
    if (ms <= 0) return this.#comeBack(group, nowMs)
    group.isHeld = true
    this.#deadlines.set(group, nowMs + ms)
  }

  wake(handle: string, nowMs: number): void {
    const group = this.#groupWith(handle, nowMs)
    if (group?.isHeld === true) this.#comeBack(group, nowMs)
  }

  isWanted(handle: string, nowMs: number): boolean {
    const next = this.#groupWith(handle, nowMs)?.next
    return next !== undefined && next.origin !== 'timer'
  }

  clockJumped(byMs: number): void {
    for (const group of this.#groups.values()) {
      const isTaken = group.handle !== undefined && !group.isHeld
      if (byMs < 0) moveTimes(group, byMs)
      if (group.deadline !== undefined && (isTaken || byMs < 0)) this.#deadlines.set(group, group.deadline.atMs + byMs)
    }
  }

  oldestReadyAtMs(): number {
    let oldest = Infinity
    for (const { lane, readyAtMs } of this.#groups.values())
      if (lane !== undefined) oldest = Math.min(oldest, readyAtMs)
    return oldest
  }

  *list(nowMs: number, after = 0): Iterable<QueuedKey> {
    for (const group of this.#groups.values()) if (group.order > after) yield this.#describe(group, nowMs)
  }

  find(key: string, nowMs: number): QueuedKey | undefined {
    const group = this.#groups.get(key)
    return group && this.#describe(group, nowMs)
  }

  #describe({ wakeUp, handle, isHeld, deadline, lane: line, readyAtMs, order }: Group, nowMs: number): QueuedKey {
    const { key, lane, reason } = wakeUp
    const leftMs = (deadline?.atMs ?? nowMs) - nowMs
    const isTaken = handle !== undefined && !isHeld
    const state = isTaken ? 'running' : isHeld ? 'held' : line === undefined ? 'delayed' : 'ready'
    const ms = isTaken ? this.#options.visibilityMs - leftMs : state === 'ready' ? nowMs - readyAtMs : leftMs
    return { key, state, ms: Math.max(0, ms), lane, reason, order }
  }

  isAnyTaken(): boolean {
    return [...this.#receipts.values()].some(({ isHeld }) => !isHeld)
  }

  depth(): number {
    return this.#lanes.size
  }

  nextDeadlineMs(): number | undefined {
    return this.#deadlines.earliestMs()
  }
}

function groupOf(key: string, wakeUp: WakeUp, order: number): Group {
  return {
    key,
    order,
    wakeUp,
    next: undefined,
    handle: undefined,
    isHeld: false,
    receiveCount: 0,
    readyAtMs: 0,
    lane: undefined,
    deadline: undefined,
  }
}

function moveTimes(group: Group, byMs: number): void {
  group.wakeUp = withTimeMoved(group.wakeUp, byMs)
  group.next = group.next && withTimeMoved(group.next, byMs)
  group.readyAtMs += byMs
}

function withTimeMoved(wakeUp: WakeUp, byMs: number): WakeUp {
  return wakeUp.notBeforeMs === undefined ? wakeUp : { ...wakeUp, notBeforeMs: wakeUp.notBeforeMs + byMs }
}
