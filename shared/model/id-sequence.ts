/**
 * Ids in a row, for what is made too often for chance: the begin of a UUID, which nobody else has, and a number in the
 * place of its end.
 */
export function createIdSequence(uuid: string): () => string {
  const begin = uuid.slice(0, -digits)
  let count = 0
  let row = begin + hex(0, digits - endDigits)
  return () => {
    count++
    const end = count % ends.length
    if (end === 0) row = begin + hex(count / ends.length, digits - endDigits)
    return row + (ends[end] as string)
  }
}

/** As many as the last part of a UUID has: enough for a hundred thousand a second over 89 years. */
const digits = 12
/** The texts of the last two are made once. An id with all digits made anew takes nearly twice as long. */
const endDigits = 2

function hex(value: number, length: number): string {
  return value.toString(16).padStart(length, '0')
}

const ends = Array.from({ length: 16 ** endDigits }, (_, i) => hex(i, endDigits))
