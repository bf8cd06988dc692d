import { OperatingError } from './errors.ts'
import type { ApiObject } from './object.ts'
import { isOfRemovedKind } from './removed-kind.ts'
import type { Touched } from './stored-object.ts'

/** DynamoDB takes 400 KB. */
export const bytesMax = 350 * 1_024
/**
 * With what the engine writes for itself: why an object waits can be said of one that is full, too, and its last state
 * can be kept when it is removed.
 */
const bytesMaxOfEngine = 390 * 1_024

/**
 * Throws TOO_LARGE for a write by which an object, as text with what the engine remembers of it, would take too many
 * bytes.
 */
export function checkSize(object: ApiObject, bytes: number, touched: Touched): void {
  const { kind, metadata } = object
  const isOfEngine = touched.every((part) => part === 'engine' || part === 'timer') || isOfRemovedKind(object)
  const limit = isOfEngine ? bytesMaxOfEngine : bytesMax
  if (bytes <= limit) return
  throw new OperatingError('TOO_LARGE', `${kind} ${metadata.name} would take ${bytes} bytes, the limit is ${limit}`)
}
