/**
 * How many messages of a tick may be in a queue at a time: pure decisions from what the queue says of itself.
 *
 * Three come to one queue, and have the right of way in this order: users' changes; timers, which are waits that a user
 * asked for; sweeps (resyncs and first looks).
 *
 * - A sweep has its window. Where turns are slow, that is one message less than invocations may run at once, so one of
 *   them is always free for a change, however long a turn takes. What drains within half a second lets it grow, up to
 *   the work of about half a second.
 * - Timers may be taken by all invocations, and none of them may stand in line: a change waits for the end of one turn.
 * - Each tick sends some timers and some sweeps, even if users keep the function busy. If sweeps have fallen behind,
 *   it sends half as many sweeps as messages can run at once: each object is promised a look once a period.
 *
 * A queue says how many of its messages wait and how many are taken. The taken ones are run, or held until a time: what
 * is taken while nothing of a tick is under way is others'. AWS says of FIFO queues that these counts are exact
 * (developer guide), and of all queues that they may need a minute (API reference). Here they are believed 0.4 s later,
 * and a second at the begin of a tick. But before more than the least is sent into a queue of which nothing is known,
 * or was not for ten minutes, there is a probe: nothing is sent for five seconds, in which the counts must not show for
 * seconds what was seen to be through.
 */
export interface SendWindow {
  readonly limits: WindowLimits
  /** How many messages of sweeps may be under way. */
  readonly size: number
  /** So long a turn takes, at the longest of late, with its time in the queue. */
  readonly turnMs: number
  /** How many were sent in this tick, with what was under way from the one before. */
  readonly sentOf: Readonly<Record<Rank, number>>
  /** How many messages are under way: those of the tick, and the users' that wait. */
  readonly busy: number
  /** Taken messages that are not of this tick. */
  readonly others: number
  /** Nobody can tell which of the taken messages are others', until nothing of the tick is under way. */
  readonly isBlurred: boolean
  /** So many waited all the time: they stand behind a message of their object that is held or lost. */
  readonly stuck: number
  /** So many waited at least in this tick. */
  readonly waitedMin: number
  /** What was sent and is not known to be through, in this order. */
  readonly sent: readonly Sent[]
  /** When something was sent last. */
  readonly sentMs: number
  /** When those are due that were sent ahead: they are held until then. */
  readonly aheadMs: readonly number[]
  readonly lookedMs: number
  /** When it was last seen that messages are through in time; 0 if not of late. */
  readonly provenMs: number
  /** Since when nothing is sent, to see whether the counts were right; and how often in a row they were not. */
  readonly probe: { readonly fromMs: number; readonly wrong: number } | undefined
  /** When the window grew last. */
  readonly grownMs: number
  readonly isFirstLook: boolean
  /** Sweeps have fallen behind their period: each tick gets more of them done, though a change waits for a turn. */
  readonly isBehind: boolean
}

interface Sent {
  readonly keys: number
  readonly rank: Rank
  readonly atMs: number
  /** Of sweeps, so many were allowed. */
  readonly size: number
  /** It was about as many as were allowed. */
  readonly isFull: boolean
  readonly isLooked: boolean
  /** Whether others ended at the same time, so that nobody can tell when these did. */
  readonly isBlurred: boolean
}

export interface WindowLimits {
  /** So many messages of sweeps leave an invocation free. */
  readonly least: number
  /** So many run at once. */
  readonly slots: number
  /** No sweep has more. */
  readonly most: number
  /** Several ticks send into the same queue: this one is the n-th of so many. */
  readonly share: { readonly index: number; readonly of: number }
}

/** What a queue says of itself. */
export interface QueueDepth {
  readonly waiting: number
  /** Received and not deleted: run or held. */
  readonly taken: number
}

/** What is remembered of a queue from one tick to the next. */
export interface KnownQueue {
  readonly size: number
  readonly turnMs: number
  /** When that was last seen to be so. */
  readonly provenMs: number
  /** What of sweeps was still under way at the end, and since when. */
  readonly left?: number
  readonly leftMs?: number
  /** So many waited all the time. */
  readonly stuck?: number
}

/** A timer is a wait that a user asked for; a sweep is for drift that nobody may have caused. */
export type Rank = 'timer' | 'sweep'

/** A window doubles if messages are through in that time, gets one more in that, and shrinks if they take longer. */
const promptMs = 500
const fairMs = 600
const lateMs = 750
/** It grows so often at most: counts that lag are noticed before much is sent. */
const growMs = 1_000
/** Who is later than that is not believed any more to be quick, until there was a probe. */
const veryLateMs = 2_000
/** At the begin of a tick a count is believed after so long. */
const firstLookMs = 1_000
const probeMsMax = 5_000
const wrongMax = 3
/** What was sent is looked after so soon where turns are quick, and so often at least. */
const lookMsMin = 400
const lookMsMax = 5_000
/** Where turns are slow, it is looked so much ahead of the time whether they have become quicker. */
const earlier = 0.85
/** So long it is doubted where turns are slow that messages are through ahead of their time, if others are taken. */
const doubtMsMax = 30_000
/** What was seen longer ago is to be seen again before many are sent. */
const provenMsMax = 10 * 60_000
/** What is under way for longer than that is lost, or comes again and again. */
const leftMsMax = 90_000
/** Of several ticks, another one is assured of something each minute. */
const assuredMs = 60_000
/** Of several ticks with less than a message for each, one sends at a time, for so long; first it only looks. */
const turnOfShareMs = 8_000
const pauseOfShareMs = 1_000

/** What runs at once, as infra has it (`feedingOf`): invocations, and messages in each. */
export function workersOf(concurrency: number): { readonly invocations: number; readonly batchSize: number } {
  const batchSize = Math.max(1, Math.min(10, Math.floor(concurrency / 2)))
  return { batchSize, invocations: Math.min(1_000, Math.max(2, Math.floor(concurrency / batchSize))) }
}

export function limitsOf(concurrency: number, share: WindowLimits['share']): WindowLimits {
  const { invocations, batchSize } = workersOf(concurrency)
  const slots = invocations * batchSize
  return { least: invocations - 1, slots, most: 5 * slots, share }
}

export function openWindow(
  limits: WindowLimits,
  known: KnownQueue | undefined,
  { depth, nowMs }: { readonly depth: QueueDepth; readonly nowMs: number },
): SendWindow {
  const { turnMs = promptMs, stuck = 0, leftMs = 0 } = known ?? {}
  const left = nowMs - leftMs < leftMsMax ? (known?.left ?? 0) : 0
  const isProven = known !== undefined && nowMs - known.provenMs < provenMsMax
  const provenMs = isProven ? known.provenMs : 0
  const size = isProven ? Math.max(limits.least, startOf(limits, known)) : limits.least
  const before = {
    keys: left,
    rank: 'sweep',
    atMs: leftMs,
    size,
    isFull: false,
    isLooked: true,
    isBlurred: true,
  } as const
  const window = {
    limits,
    size,
    turnMs,
    busy: 0,
    sentOf: { timer: 0, sweep: left },
    others: Math.max(0, depth.taken - left),
    isBlurred: false,
    stuck: Math.min(stuck, depth.waiting),
    waitedMin: depth.waiting,
    sent: left > 0 ? [before] : [],
    sentMs: nowMs,
    aheadMs: [],
    lookedMs: nowMs,
    provenMs,
    probe: undefined,
    grownMs: nowMs,
    isFirstLook: isProven,
    isBehind: false,
  }
  return noteDepth(window, depth, nowMs)
}

/** A window that was not needed in full may be small where turns are quick. */
function startOf({ slots }: WindowLimits, { size, turnMs }: KnownQueue): number {
  return turnMs <= promptMs ? slots : Math.min(size, slots)
}

/** How many may be sent now. */
export function roomIn(window: SendWindow, rank: Rank, nowMs: number): number {
  return Math.max(0, leftIn(window, rank, nowMs))
}

function leftIn(window: SendWindow, rank: Rank, nowMs: number): number {
  const { limits, lookedMs } = window
  const { share, least, slots } = limits
  if (window.probe !== undefined) return 0
  const size = rank === 'timer' ? Math.max(window.size, slots) : window.size
  // Each tick sends something, even if users keep the function busy.
  const isAssured = Math.floor(nowMs / assuredMs) % share.of === share.index
  const leastOf = { timer: slots, sweep: window.isBehind ? Math.max(least, Math.ceil(slots / 2)) : least }
  const assured = isAssured ? leastOf[rank] - window.sentOf[rank] : 0
  const free = Math.max(size - window.busy, assured)
  if (rank === 'timer') return Math.min(free, partOf(size, share.of))
  if (size >= share.of) return Math.min(free, partOf(size, share.of))
  if (isUnknown(window)) return share.index === 0 ? free : assured
  // What the others sent shows in a count of this turn only.
  return isTurnOf(share, nowMs) && lookedMs >= nowMs - (nowMs % turnOfShareMs) + pauseOfShareMs ? free : 0
}

/** Then the first one of several ticks finds out, while the others wait. */
function isUnknown({ turnMs, provenMs }: SendWindow): boolean {
  return turnMs <= promptMs && provenMs === 0
}

/** Whether a count would tell something now. */
export function isLookDue(window: SendWindow, rank: Rank, nowMs: number): boolean {
  if (nowMs < nextLookMs(window)) return false
  const { share } = window.limits
  if (rank === 'timer' || window.size >= share.of) return true
  return isUnknown(window) ? share.index === 0 : isTurnOf(share, nowMs)
}

/** So few more are not worth a request. */
export function enoughOf({ size, limits }: SendWindow, want: number): number {
  return Math.min(want, Math.ceil(partOf(size, limits.share.of) / 2))
}

export function noteSent(window: SendWindow, keys: number, { rank, nowMs }: Sending): SendWindow {
  const { size, limits } = window
  const isFull = 2 * keys >= partOf(size, limits.share.of)
  const one = { keys, rank, atMs: nowMs, size, isFull, isLooked: false, isBlurred: window.isBlurred }
  const sentOf = { ...window.sentOf, [rank]: window.sentOf[rank] + keys }
  return { ...window, sentOf, busy: window.busy + keys, sent: [...window.sent, one], sentMs: nowMs }
}

interface Sending {
  readonly rank: Rank
  readonly nowMs: number
}

/** They are received at once, and held until they are due. */
export function noteAhead(window: SendWindow, duesMs: readonly number[]): SendWindow {
  return { ...window, aheadMs: [...window.aheadMs, ...duesMs] }
}

export function nextLookMs({ sent, turnMs, lookedMs, isFirstLook, probe, others }: SendWindow): number {
  const [first] = sent
  if (probe !== undefined) return Math.min(lookedMs + promptMs, probe.fromMs + probeMsMax)
  if (first === undefined) return lookedMs + firstLookMs
  if (first.isLooked) return lookedMs + Math.min(firstLookMs, Math.max(lookMsMin / 2, (lookedMs - first.atMs) / 4))
  const slowMs = others > 0 ? Math.min(doubtMsMax, turnMs) : Math.min(lookMsMax, earlier * turnMs)
  const ms = turnMs > promptMs ? slowMs : lookMsMin
  return first.atMs + (isFirstLook ? Math.max(firstLookMs, ms) : ms)
}

/** Whether turns are known to be quick, so that a handful needs no care. */
export function isQuick({ turnMs, provenMs }: SendWindow): boolean {
  return turnMs <= promptMs && provenMs > 0
}

export function noteDepth(before: SendWindow, depth: QueueDepth, nowMs: number): SendWindow {
  const window = withOthers(before, depth, nowMs)
  const { limits, size } = window
  const inHand = Math.max(0, depth.taken - window.others - window.aheadMs.length)
  const stuck = Math.min(window.stuck, depth.waiting)
  const waiting = depth.waiting - stuck
  const busy = waiting + Math.min(limits.slots, inHand)
  // With more messages than run at once, what counts is how long they stand in line.
  const counted = size > limits.slots ? waiting : busy
  const underWay = before.others > 0 ? Math.max(counted, sumOf(tooYoung(window, nowMs))) : counted
  const ofOthers = size < limits.share.of ? 0 : size - partOf(size, limits.share.of)
  const { through, left } = takeThrough(window.sent, Math.max(0, underWay - ofOthers))
  const seen = through.reduce(judgeThrough, { ...window, nowMs })
  const late = judgeLate({ ...seen, late: left[0] })
  const { size: fitting, turnMs, provenMs, probe, grownMs } = judgeProbe(late, underWay > ofOthers)
  const isQuiet = left.length === 0 && probe === undefined && nowMs - window.sentMs >= window.turnMs
  return {
    ...window,
    size: fitting,
    turnMs,
    provenMs,
    probe,
    grownMs,
    busy: isQuiet ? waiting : Math.max(busy, underWay),
    isBlurred: window.isBlurred && !isQuiet,
    stuck,
    waitedMin: Math.min(window.waitedMin, depth.waiting),
    others: isQuiet ? window.others + inHand : window.others,
    sent: left.map((one) => ({ ...one, isLooked: true })),
    lookedMs: nowMs,
    isFirstLook: window.isFirstLook && window.sent.every(({ isBlurred }) => isBlurred),
  }
}

/** What the next tick is to know. */
export function knownOf({ size, turnMs, provenMs, sent, waitedMin: stuck }: SendWindow): KnownQueue {
  const sweeps = sent.filter(({ rank }) => rank === 'sweep')
  const [first] = sweeps
  const left = first === undefined ? {} : { left: sumOf(sweeps), leftMs: first.atMs }
  return { size, turnMs: Math.round(turnMs), provenMs, ...left, ...(stuck > 0 && { stuck }) }
}

/**
 * If fewer are taken than others had, some of theirs ended: all of the tick's count as being under way still. What
 * nobody can tell is assumed to be through after two turns, if nothing waits.
 */
function withOthers(window: SendWindow, { waiting, taken }: QueueDepth, nowMs: number): SendWindow {
  const aheadMs = window.aheadMs.filter((dueMs) => dueMs > nowMs)
  const free = taken - aheadMs.length
  const isOld = ({ isBlurred, atMs }: Sent): boolean =>
    isBlurred && waiting <= window.stuck && nowMs - atMs >= 2 * window.turnMs
  const sent = window.sent.filter((one) => !isOld(one))
  const ended = sumOf(window.sent) - sumOf(sent)
  const own = sumOf(sent)
  const others = Math.min(window.others + ended, Math.max(0, free))
  if (others === window.others + ended) return { ...window, aheadMs, sent, others }
  const blurred = sent.map((one) => ({ ...one, isBlurred: true }))
  return { ...window, aheadMs, sent: blurred, isBlurred: own > 0, others: Math.max(0, others - own) }
}

/**
 * Where turns are slow, and others are taken: if fewer are taken than before, more likely one of theirs has ended than
 * one of the tick's before its time.
 */
function tooYoung({ turnMs, sent }: SendWindow, nowMs: number): readonly Sent[] {
  return turnMs <= promptMs ? [] : sent.filter(({ atMs }) => nowMs - atMs < Math.min(doubtMsMax, turnMs))
}

/** In their order, as a FIFO queue has it. */
function takeThrough(
  sent: readonly Sent[],
  underWay: number,
): { readonly through: readonly Sent[]; readonly left: readonly Sent[] } {
  let done = Math.max(0, sumOf(sent) - underWay)
  const through: Sent[] = []
  const left: Sent[] = []
  for (const one of sent) {
    const own = Math.min(done, one.keys)
    done -= own
    if (own === one.keys) through.push(one)
    else left.push({ ...one, keys: one.keys - own })
  }
  return { through, left }
}

interface Judged extends Pick<
  SendWindow,
  'limits' | 'size' | 'turnMs' | 'provenMs' | 'probe' | 'grownMs' | 'isFirstLook'
> {
  readonly nowMs: number
}

function judgeThrough(seen: Judged, one: Sent): Judged {
  if (one.isBlurred && one.size <= seen.limits.slots) return seen
  const ageMs = seen.nowMs - one.atMs
  // Nobody looked before: it may have taken less.
  const turnMs = Math.max(promptMs, one.isLooked ? ageMs : earlier * Math.min(ageMs, seen.turnMs))
  if (one.isLooked && ageMs > fairMs) return { ...judgeSlow(seen, one), turnMs }
  const isFirst = seen.isFirstLook && seen.turnMs <= promptMs && ageMs <= firstLookMs + fairMs
  if (ageMs > fairMs && !isFirst) return { ...seen, turnMs }
  if (seen.provenMs === 0) return { ...seen, turnMs, probe: { fromMs: one.atMs, wrong: 0 } }
  const isPrompt = ageMs <= promptMs || isFirst
  const proven = { ...seen, turnMs, provenMs: seen.nowMs }
  if (!one.isFull || seen.nowMs - seen.grownMs < growMs) return proven
  return { ...proven, size: Math.min(seen.limits.most, seen.size + (isPrompt ? seen.size : 1)), grownMs: seen.nowMs }
}

/** Of those that are not through, the first one tells. */
function judgeLate({ late, ...seen }: Judged & { readonly late: Sent | undefined }): Judged {
  if (late === undefined || (late.isBlurred && late.size <= seen.limits.slots)) return seen
  return { ...judgeSlow(seen, late), turnMs: Math.max(seen.turnMs, seen.nowMs - late.atMs) }
}

function judgeSlow(seen: Judged, { atMs, size }: Sent): Judged {
  const ageMs = seen.nowMs - atMs
  if (ageMs <= lateMs) return seen
  const fitting = Math.min(seen.size, Math.floor((size * promptMs) / ageMs))
  const provenMs = ageMs > veryLateMs ? 0 : seen.provenMs
  return { ...seen, size: Math.max(seen.limits.least, fitting), provenMs }
}

/** Counts that lag show later what they did not show in time; a user's message is not there for so long. */
function judgeProbe(seen: Judged, isBusy: boolean): Judged {
  if (seen.probe === undefined) return seen
  const { fromMs } = seen.probe
  const ageMs = seen.nowMs - fromMs
  const wrong = isBusy ? seen.probe.wrong + 1 : 0
  if (wrong === wrongMax) return { ...seen, probe: undefined, turnMs: Math.max(seen.turnMs, ageMs) }
  return ageMs < probeMsMax
    ? { ...seen, probe: { fromMs, wrong } }
    : { ...seen, probe: undefined, provenMs: seen.nowMs }
}

function partOf(size: number, shares: number): number {
  return Math.max(1, Math.floor(size / shares))
}

/** Whether it is this tick's turn, and what the one before it sent shows in the counts. */
function isTurnOf({ index, of }: WindowLimits['share'], nowMs: number): boolean {
  if (of === 1) return true
  return Math.floor(nowMs / turnOfShareMs) % of === index && nowMs % turnOfShareMs >= pauseOfShareMs
}

function sumOf(sent: readonly Sent[]): number {
  return sent.reduce((sum, { keys }) => sum + keys, 0)
}
