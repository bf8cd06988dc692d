import { OperatingError } from './errors.ts'
import type { ApiObject } from './object.ts'
import type { Touched } from './stored-object.ts'

/** DynamoDB takes 400 KB. */
export const bytesMax = 350 * 1_024
/** With what the engine writes for itself: why an object waits can be said of one that is full, too. */
const bytesMaxOfEngine = 390 * 1_024

/**
 * Throws TOO_LARGE for a write by which an object, as text with what the engine remembers of it, would take too many
 * bytes.
 */
export function checkSize({ kind, metadata }: ApiObject, bytes: number, touched: Touched): void {
  const limit = touched.every((part) => part === 'engine' || part === 'timer') ? bytesMaxOfEngine : bytesMax
  if (bytes <= limit) return
  throw new OperatingError('TOO_LARGE', `${kind} ${metadata.name} would take ${bytes} bytes, the limit is ${limit}`)
}
