import type { Clock } from '../../ports/clock.ts'
import type { JsonObject } from '../../model/json.ts'
import { createTextHash, textHash } from './text-hash.ts'

/** A document as it is sent, with the hash of its text. */
export interface HashedText {
  readonly text: string
  readonly hash: string
}

/** A small document as it is sent. */
export function hashContent(content: JsonObject): HashedText {
  const text = JSON.stringify(content)
  return { text, hash: textHash(text) }
}

/**
 * Waits until others had their turn, once so many characters were made since the last time: documents of all kinds
 * together have no bound.
 */
export type Rest = (characters: number) => Promise<void>

export function createRest({ nextTurn }: Pick<Clock, 'nextTurn'>): Rest {
  let made = 0
  return async (characters) => {
    made += characters
    if (made < charactersOfTurn) return
    made = 0
    await nextTurn?.()
  }
}

/** They take a few milliseconds to make. */
const charactersOfTurn = 200_000

/** Fields of an object in JSON, by their names: one that comes again takes the place of the first, as in an object. */
export type FieldTexts = Map<string, string>

/** Adds what a part of a document says. */
export async function addFields(fields: FieldTexts, content: JsonObject, rest: Rest): Promise<void> {
  for (const [name, value] of Object.entries(content)) {
    const text = JSON.stringify(value)
    fields.set(name, text)
    await rest(text.length)
  }
}

/** The pieces of an object that is told by them. */
export function* piecesOf(fields: FieldTexts): Iterable<string> {
  let before = '{'
  for (const [name, text] of fields) {
    yield `${before}${JSON.stringify(name)}:${text}`
    before = ','
  }
  yield fields.size === 0 ? '{}' : '}'
}

export async function hashPieces(pieces: Iterable<string>, rest: Rest): Promise<HashedText> {
  const hash = createTextHash()
  const all: string[] = []
  for (const piece of pieces) {
    hash.add(piece)
    all.push(piece)
    await rest(piece.length)
  }
  return { text: all.join(''), hash: hash.digest() }
}
