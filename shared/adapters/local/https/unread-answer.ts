/** An answer under way. */
interface Progress {
  /** What waits until the client takes it. */
  readonly waiting: number
  /** Grows with what it takes. */
  readonly taken: number
}

/** To be asked once a second: whether a client has taken nothing for so long of what waits for it. */
export function watchUnread(look: () => Progress, secondsMax: number): () => boolean {
  let seconds = 0
  let before: Progress = { waiting: 0, taken: 0 }
  return () => {
    const now = look()
    const isSame = now.waiting === before.waiting && now.taken === before.taken
    seconds = now.waiting > 0 && isSame ? seconds + 1 : 0
    before = now
    return seconds > secondsMax
  }
}
