import type { EngineState } from './engine-state.ts'
import { OperatingError } from './errors.ts'
import { objectText } from './object-text.ts'
import { isDeleting, type ApiObject } from './object.ts'
import { isOfRemovedKind } from './removed-kind.ts'
import type { StoredObject, Touched } from './stored-object.ts'

/** What an object may take by itself. */
export const bytesMax = 350 * 1_024
/**
 * With what the engine keeps for it, of the 400 KB that DynamoDB takes: why an object waits can be said of one that is
 * full, too, and its last state kept.
 */
const bytesMaxInAll = 390 * 1_024
/** With that, while it is being deleted: nothing that the engine has kept stands in the way. */
const bytesMaxAtEnd = 394 * 1_024

/** For the engine to say why an object waits. */
const bytesOfWait = 4 * 1_024
/** The same while it is being deleted, where a clean-up may keep more than runs may. */
const bytesOfLastWait = 1_024

/** A page of a store that is asked for with a limit ends with the object that makes it so long. */
export const pageCharactersMax = 2_000_000

/** Of an object as text, and of what the engine remembers of it. */
export interface StateBytes {
  readonly object: number
  readonly engine: number
}

/** Throws TOO_LARGE for a write by which an object would take too many bytes. */
export function checkSize(object: ApiObject, bytes: StateBytes, touched: Touched): void {
  const isOfEngine = touched.every((part) => part === 'engine' || part === 'timer')
  const mayBeFull = isOfEngine || isDeleting(object) || isOfRemovedKind(object)
  if (!mayBeFull && bytes.object > bytesMax) throw tooLarge(object, bytes.object, bytesMax)
  const inAll = bytes.object + bytes.engine
  const mostInAll = isDeleting(object) ? bytesMaxAtEnd : bytesMaxInAll
  if (inAll > mostInAll) throw tooLarge(object, inAll, mostInAll)
}

/** The same of a whole state, whose texts are measured here. */
export function checkStateSize({ object, engine }: StoredObject, touched: Touched): void {
  const texts = { object: objectText(object), engine: JSON.stringify(engine) }
  // A character is three bytes at the most.
  if (3 * (texts.object.length + texts.engine.length) <= bytesMax) return
  checkSize(object, { object: bytesOf(texts.object), engine: bytesOf(texts.engine) }, touched)
}

/** Throws TOO_LARGE if what runs remember with an object would leave no room to say why the object waits. */
export function checkMemory(object: ApiObject, engine: EngineState): void {
  const texts = [objectText(object), JSON.stringify(engine)]
  const limit = isDeleting(object) ? bytesMaxAtEnd - bytesOfLastWait : bytesMaxInAll - bytesOfWait
  // A character is three bytes at the most.
  if (texts.reduce((sum, { length }) => sum + 3 * length, 0) <= limit) return
  const bytes = texts.reduce((sum, text) => sum + bytesOf(text), 0)
  if (bytes > limit) throw tooLarge(object, bytes, limit)
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length
}

function tooLarge({ kind, metadata }: ApiObject, bytes: number, limit: number): OperatingError {
  return new OperatingError('TOO_LARGE', `${kind} ${metadata.name} would take ${bytes} bytes, the limit is ${limit}`)
}
