/** What is sent: a short text, or bytes in pieces, which all who are told the same share. */
export type Text = string | readonly Uint8Array[]

/** At most so much is handed to the server at a time: what a client costs that does not read. */
export const pieceMax = 16_384
const encoder = new TextEncoder()

export function cut(text: string): readonly Uint8Array[] {
  return cutBytes(encoder.encode(text))
}

/** Each piece is a copy, so that none keeps the others. */
export function cutBytes(bytes: Uint8Array): readonly Uint8Array[] {
  if (bytes.length <= pieceMax) return [bytes]
  const pieces: Uint8Array[] = []
  for (let from = 0; from < bytes.length; from += pieceMax) pieces.push(bytes.slice(from, from + pieceMax))
  return pieces
}
