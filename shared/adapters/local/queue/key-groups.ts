import type { Delivery, WakeUp } from '../../../ports/work-queue.ts'
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
   * it as long as before.
   */
  clockJumped(byMs: number): void
  /** Whether somebody has a key that is not held. Looks at all receipts. */
  isAnyTaken(): boolean
  /** Keys that are ready. */
  depth(): number
  /** Since when the key that is ready longest has been so; Infinity if none is. Looks at all keys. */
  oldestReadyAtMs(): number
  /** When a key becomes ready, or a receipt ends, by itself. */
  nextDeadlineMs(): number | undefined
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

export function createKeyGroups({ handlePrefix, visibilityMs, onHandOut = () => {} }: KeyGroupsOptions): KeyGroups {
  const groups = new Map<string, Group>()
  const receipts = new Map<string, Group>()
  const lanes = createLanes<Group>()
  const deadlines = createDeadlines<Group>()
  let handles = 0

  const makeReady = (group: Group, nowMs: number): void => {
    deadlines.end(group)
    if (group.lane === undefined) group.readyAtMs = nowMs
    lanes.join(group, group.wakeUp.lane)
  }

  /** Puts a group that no receipt has where its wake-up says. */
  const place = (group: Group, nowMs: number): void => {
    const { notBeforeMs = nowMs } = group.wakeUp
    if (notBeforeMs > nowMs && group.lane === undefined) deadlines.set(group, notBeforeMs)
    else makeReady(group, nowMs)
  }

  const accept: KeyGroups['accept'] = (key, wakeUp, nowMs) => {
    const group = groups.get(key)
    if (group === undefined) {
      const added = groupOf(key, wakeUp)
      groups.set(key, added)
      place(added, nowMs)
    } else if (group.handle === undefined) {
      group.wakeUp = mergeWakeUps(group.wakeUp, wakeUp)
      place(group, nowMs)
    } else {
      group.next = group.next === undefined ? wakeUp : mergeWakeUps(group.next, wakeUp)
    }
  }

  const handOut = (group: Group, nowMs: number): Delivery => {
    const handle = `${handlePrefix}.${++handles}`
    group.handle = handle
    group.receiveCount++
    receipts.set(handle, group)
    deadlines.set(group, nowMs + visibilityMs)
    onHandOut(nowMs - group.readyAtMs)
    return { wakeUp: group.wakeUp, handle, receiveCount: group.receiveCount }
  }

  const endReceipt = (group: Group): void => {
    receipts.delete(group.handle ?? '')
    group.handle = undefined
    group.isHeld = false
  }

  /** The same wake-up again, behind everything that is fresh. */
  const comeBack = (group: Group, nowMs: number): void => {
    endReceipt(group)
    const back: WakeUp = { ...group.wakeUp, lane: 'background' }
    group.wakeUp = group.next === undefined ? back : mergeWakeUps(back, group.next)
    group.next = undefined
    makeReady(group, nowMs)
  }

  const passTime = (nowMs: number): void => {
    for (let group = deadlines.takeDue(nowMs); group !== undefined; group = deadlines.takeDue(nowMs)) {
      if (group.handle === undefined) makeReady(group, nowMs)
      else comeBack(group, nowMs)
    }
  }

  const take: KeyGroups['take'] = (max, nowMs, backgroundMax = max) => {
    passTime(nowMs)
    const deliveries: Delivery[] = []
    let background = 0
    while (deliveries.length < max) {
      const group = lanes.take(background < backgroundMax)
      if (group === undefined) break
      if (group.wakeUp.lane === 'background') background++
      deliveries.push(handOut(group, nowMs))
    }
    return deliveries
  }

  const groupWith = (handle: string, nowMs: number): Group | undefined => {
    const group = receipts.get(handle)
    return (group?.deadline?.atMs ?? 0) > nowMs ? group : undefined
  }

  const settle: KeyGroups['settle'] = (handle, nowMs) => {
    const group = groupWith(handle, nowMs)
    if (group === undefined) return
    endReceipt(group)
    deadlines.end(group)
    if (group.next === undefined) return void groups.delete(group.key)
    group.wakeUp = group.next
    group.next = undefined
    group.receiveCount = 0
    place(group, nowMs)
  }

  const hold: KeyGroups['hold'] = (handle, ms, nowMs) => {
    const group = groupWith(handle, nowMs)
    if (group === undefined) return
    if (ms <= 0) return comeBack(group, nowMs)
    group.isHeld = true
    deadlines.set(group, nowMs + ms)
  }

  const wake: KeyGroups['wake'] = (handle, nowMs) => {
    const group = groupWith(handle, nowMs)
    if (group?.isHeld === true) comeBack(group, nowMs)
  }

  const isWanted: KeyGroups['isWanted'] = (handle, nowMs) => {
    const next = groupWith(handle, nowMs)?.next
    return next !== undefined && next.origin !== 'timer'
  }

  const clockJumped = (byMs: number): void => {
    for (const group of receipts.values())
      if (!group.isHeld && group.deadline !== undefined) deadlines.set(group, group.deadline.atMs + byMs)
  }

  const oldestReadyAtMs = (): number => {
    let oldest = Infinity
    for (const { lane, readyAtMs } of groups.values()) if (lane !== undefined) oldest = Math.min(oldest, readyAtMs)
    return oldest
  }

  return {
    accept,
    take,
    settle,
    hold,
    wake,
    isWanted,
    clockJumped,
    isAnyTaken: () => [...receipts.values()].some(({ isHeld }) => !isHeld),
    depth: () => lanes.size,
    oldestReadyAtMs,
    nextDeadlineMs: deadlines.earliestMs,
  }
}

function groupOf(key: string, wakeUp: WakeUp): Group {
  return {
    key,
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
