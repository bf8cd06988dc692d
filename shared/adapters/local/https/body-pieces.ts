/** The pieces of a body that is on its way, joined now and then: a buffer of one byte takes a hundred. */
export class BodyPieces {
  readonly #joined: Uint8Array[] = []
  #pieces: Uint8Array[] = []
  /** Of all pieces, in bytes. */
  length = 0

  add(piece: Uint8Array): void {
    if (piece.length === 0) return
    this.length += piece.length
    this.#pieces.push(piece)
    if (this.#pieces.length < piecesMax) return
    this.#joined.push(Buffer.concat(this.#pieces))
    this.#pieces = []
  }

  /** The body. One that came in one piece is that piece. */
  join(): Uint8Array {
    const [first, ...rest] = [...this.#joined, ...this.#pieces]
    if (first !== undefined && rest.length === 0) return first
    return Buffer.concat([...this.#joined, ...this.#pieces])
  }
}

const piecesMax = 256
