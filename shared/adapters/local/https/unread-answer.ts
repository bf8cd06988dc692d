/** What waits until the client takes it. */
interface Written {
  readonly writableLength: number
}

/** To be asked once a second: whether a client has taken nothing for so long of what waits for it. */
export function watchUnread(written: Written, secondsMax: number): () => boolean {
  let seconds = 0
  let before = 0
  return () => {
    const { writableLength } = written
    seconds = writableLength > 0 && writableLength === before ? seconds + 1 : 0
    before = writableLength
    return seconds > secondsMax
  }
}
