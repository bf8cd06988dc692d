/**
 * The resync wheel: every object sits on one of 3600 slots, chosen by its uid, for life. An object is due when its
 * period's hand passes its slot, so resync is spread flat over any period and nothing has to be written.
 */
export const wheelSlots = 3_600

/** The slot of a uid: FNV-1a, folded. */
export function wheelSlot(uid: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < uid.length; i++) hash = Math.imul(hash ^ uid.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % wheelSlots
}

/** A stretch of slots: `from` inclusive, `to` exclusive. */
export interface Slots {
  readonly from: number
  readonly to: number
}

/**
 * Slots that the hand of a period passes from one time (inclusive) to another (exclusive): each once per period,
 * whatever the tick.
 */
export function slotsBetween(fromMs: number, toMs: number, periodMs: number): readonly Slots[] {
  const first = slotsPassed(fromMs, periodMs)
  const count = slotsPassed(toMs, periodMs) - first
  if (count >= wheelSlots) return [{ from: 0, to: wheelSlots }]
  const from = first % wheelSlots
  const to = from + count
  if (count <= 0) return []
  return to <= wheelSlots
    ? [{ from, to }]
    : [
        { from, to: wheelSlots },
        { from: 0, to: to - wheelSlots },
      ]
}

/** When the hand of a period next passes the slot of a uid, after this time. */
export function nextPassMs(uid: string, nowMs: number, periodMs: number): number {
  const slotMs = (wheelSlot(uid) * periodMs) / wheelSlots
  return Math.ceil(slotMs + (Math.floor((nowMs - slotMs) / periodMs) + 1) * periodMs)
}

function slotsPassed(ms: number, periodMs: number): number {
  return Math.ceil((ms * wheelSlots) / periodMs)
}
