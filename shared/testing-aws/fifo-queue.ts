/**
 * The rules of one SQS FIFO queue of high throughput, in memory and on a clock that is given: by what AWS does and not
 * by what one would like (docs/decisions/0012-sqs-protocol.md).
 * - Order per group, not exclusion: of a group all messages up to the first invisible one can be received. Those after
 *   it wait, whatever they are. There is one lane, and nothing is merged.
 * - Visibility belongs to a message and is counted from its receipt, twelve hours in all. A handle belongs to one
 *   receipt, and is worth nothing as soon as its message is visible again.
 * - An id is remembered for five minutes per group, also after its message was deleted.
 * - A message that was received too often becomes a dead letter, at the next try to receive it.
 * - Groups are looked for among the first messages only, and so many may be in flight.
 */
export interface FifoQueue<Body> {
  /** Nothing happens if the group had a message of this id within five minutes. */
  send(message: Sent<Body>): void
  receive(max: number): readonly FifoMessage<Body>[]
  /** The message of a handle, as long as it is in flight: neither deleted nor visible again. */
  inFlight(handle: string): FifoMessage<Body> | undefined
  /** False for a handle whose message is not in flight. */
  delete(handle: string): boolean
  /** Has a message in flight be visible again so long from now. */
  changeVisibility(handle: string, ms: number): 'changed' | 'stale' | 'tooLong'
  /** When a group can be received from next; a time that is past if one can be now, Infinity if there is none. */
  nextVisibleMs(): number
  /** All messages. */
  depth(): number
  /** Messages that are visible, as SQS counts those that wait. */
  waiting(): number
  purge(): void
}

export interface Sent<Body> {
  readonly group: string
  readonly dedupId: string
  readonly body: Body
}

export interface FifoMessage<Body> extends Sent<Body> {
  readonly sentAtMs: number
  readonly visibleAtMs: number
  readonly handle: string
  readonly receiveCount: number
  readonly firstReceivedAtMs: number
}

export interface FifoQueueOptions<Body> {
  readonly name: string
  readonly nowMs: () => number
  /** How long a message is its receiver's. */
  readonly visibilityMs: () => number
  /** So often a message is handed out. */
  readonly maxReceiveCount: () => number
  /** Takes what was handed out too often. */
  readonly onDead: (message: FifoMessage<Body>) => void
  /** How many messages, from the oldest on, groups are looked for in. */
  readonly scanMax?: () => number
  readonly inFlightMax?: () => number
  /** In which order groups are taken from. AWS promises none; default: the one that waits longest first. */
  readonly arrange?: <Group>(groups: readonly Group[]) => Iterable<Group>
}

interface Message<Body> extends FifoMessage<Body> {
  visibleAtMs: number
  handle: string
  receivedAtMs: number
  receiveCount: number
  firstReceivedAtMs: number
}

const dedupMs = 300_000
/** From its receipt on a message may be invisible for so long in all. */
const invisibleMsMax = 12 * 3_600_000
/** SQS's default, which our queues keep: then a message is gone, whatever became of it. */
const retentionMs = 4 * 24 * 3_600_000
/** AWS's quotas. */
const scanned = 120_000
const inFlightAtMost = 120_000

export function createFifoQueue<Body>(options: FifoQueueOptions<Body>): FifoQueue<Body> {
  return new Queue(options)
}

class Queue<Body> implements FifoQueue<Body> {
  readonly #options: FifoQueueOptions<Body>
  /** In the order of their sending. */
  readonly #all = new Set<Message<Body>>()
  readonly #groups = new Map<string, Message<Body>[]>()
  readonly #byHandle = new Map<string, Message<Body>>()
  readonly #sentAtMs = new Map<string, number>()
  #receipts = 0

  constructor(options: FifoQueueOptions<Body>) {
    this.#options = options
  }

  send(sent: Sent<Body>): void {
    const nowMs = this.#options.nowMs()
    const id = `${sent.group} ${sent.dedupId}`
    if (nowMs - (this.#sentAtMs.get(id) ?? -Infinity) < dedupMs) return
    // At its end: the oldest are in front.
    this.#sentAtMs.delete(id)
    this.#sentAtMs.set(id, nowMs)
    const fresh = { handle: '', receiveCount: 0, receivedAtMs: 0, firstReceivedAtMs: 0 }
    const message = { ...sent, ...fresh, sentAtMs: nowMs, visibleAtMs: nowMs }
    this.#all.add(message)
    const others = this.#groups.get(sent.group)
    if (others === undefined) this.#groups.set(sent.group, [message])
    else others.push(message)
  }

  receive(max: number): readonly FifoMessage<Body>[] {
    this.#forget()
    const { arrange = (groups) => groups } = this.#options
    const most = Math.min(max, this.#room())
    const taken: FifoMessage<Body>[] = []
    if (most <= 0) return taken
    for (const group of arrange(this.#available())) {
      taken.push(...this.#take(group, most - taken.length))
      if (taken.length >= most) break
    }
    return taken
  }

  inFlight(handle: string): FifoMessage<Body> | undefined {
    const message = this.#byHandle.get(handle)
    return message === undefined || this.#isVisible(message) ? undefined : message
  }

  delete(handle: string): boolean {
    const message = this.#byHandle.get(handle)
    if (message === undefined || this.#isVisible(message)) return false
    this.#drop(message)
    return true
  }

  changeVisibility(handle: string, ms: number): 'changed' | 'stale' | 'tooLong' {
    const message = this.#byHandle.get(handle)
    if (message === undefined || this.#isVisible(message)) return 'stale'
    const visibleAtMs = this.#options.nowMs() + ms
    if (visibleAtMs > message.receivedAtMs + invisibleMsMax) return 'tooLong'
    message.visibleAtMs = visibleAtMs
    return 'changed'
  }

  nextVisibleMs(): number {
    let nextMs = Infinity
    for (const [head] of this.#groups.values()) nextMs = Math.min(nextMs, head?.visibleAtMs ?? Infinity)
    return nextMs
  }

  depth(): number {
    return this.#all.size
  }

  waiting(): number {
    let count = 0
    for (const message of this.#all) if (this.#isVisible(message)) count++
    return count
  }

  purge(): void {
    for (const kept of [this.#all, this.#groups, this.#byHandle, this.#sentAtMs]) kept.clear()
  }

  #isVisible({ visibleAtMs }: Message<Body>): boolean {
    return visibleAtMs <= this.#options.nowMs()
  }

  /** A group's head decides: what stands behind an invisible message waits with it. */
  #available(): readonly Message<Body>[][] {
    const { scanMax = () => scanned } = this.#options
    const heads = [...this.#groups.values()].filter(([head]) => head !== undefined && this.#isVisible(head))
    if (this.#all.size <= scanMax()) return heads
    const seen = new Set<string>()
    let left = scanMax()
    for (const { group } of this.#all) {
      if (left-- <= 0) break
      seen.add(group)
    }
    return heads.filter(([head]) => head !== undefined && seen.has(head.group))
  }

  #take(group: readonly Message<Body>[], max: number): FifoMessage<Body>[] {
    const { maxReceiveCount, onDead } = this.#options
    const taken: FifoMessage<Body>[] = []
    for (const message of group.slice()) {
      if (!this.#isVisible(message) || taken.length === max) break
      if (message.receiveCount < maxReceiveCount()) taken.push(this.#hand(message))
      else {
        this.#drop(message)
        onDead(message)
      }
    }
    return taken
  }

  /** The receipt, as it is: the message may be received again while its receiver still has it. */
  #hand(message: Message<Body>): FifoMessage<Body> {
    const { name, nowMs, visibilityMs } = this.#options
    this.#byHandle.delete(message.handle)
    message.handle = `${name} ${++this.#receipts}`
    message.receivedAtMs = nowMs()
    message.visibleAtMs = nowMs() + visibilityMs()
    if (message.receiveCount++ === 0) message.firstReceivedAtMs = nowMs()
    this.#byHandle.set(message.handle, message)
    return { ...message }
  }

  /** How many more may be in flight. As long as there are fewer messages than that, they need not be counted. */
  #room(): number {
    const { inFlightMax = () => inFlightAtMost } = this.#options
    if (this.#all.size < inFlightMax()) return Infinity
    let count = 0
    for (const message of this.#byHandle.values()) if (!this.#isVisible(message)) count++
    return inFlightMax() - count
  }

  #drop(message: Message<Body>): void {
    this.#all.delete(message)
    this.#byHandle.delete(message.handle)
    const left = (this.#groups.get(message.group) ?? []).filter((other) => other !== message)
    if (left.length === 0) this.#groups.delete(message.group)
    else this.#groups.set(message.group, left)
  }

  /** What is older than SQS keeps it: messages, and ids. */
  #forget(): void {
    const nowMs = this.#options.nowMs()
    for (const message of this.#all) {
      if (nowMs - message.sentAtMs < retentionMs) break
      this.#drop(message)
    }
    for (const [id, sentAtMs] of this.#sentAtMs) {
      if (nowMs - sentAtMs < dedupMs) break
      this.#sentAtMs.delete(id)
    }
  }
}
