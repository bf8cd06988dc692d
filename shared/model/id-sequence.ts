/**
 * Ids in a row, for what is made too often for chance: the begin of a UUID, which nobody else has, and a number in the
 * place of its end.
 */
export function createIdSequence(uuid: string): () => string {
  const begin = uuid.slice(0, -digits)
  let count = 0
  return () => begin + (++count).toString(16).padStart(digits, '0')
}

/** As many as the last part of a UUID has: enough for a hundred thousand a second over 89 years. */
const digits = 12
