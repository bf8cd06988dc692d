/**
 * A text in a text, in time by the length of both. JavaScript's own search takes the product of them where nearly all
 * fits: seconds for texts that an object may hold. It is the faster one for what is short.
 */
const longFrom = 32

/** Where a text is in another, from a place on; -1 if it is not. */
export function findText(text: string, sought: string, from = 0): number {
  if (sought.length < longFrom) return text.indexOf(sought, from)
  for (const place of placesIn(text, sought, { from, mayOverlap: true })) return place
  return -1
}

/** Where it last begins, up to a place; -1 if it does not. */
export function findLastText(text: string, sought: string, upTo: number): number {
  if (sought.length < longFrom) return text.lastIndexOf(sought, upTo)
  let last = -1
  const within = text.slice(0, upTo + sought.length)
  for (const place of placesIn(within, sought, { from: 0, mayOverlap: true })) last = place
  return last
}

/** What stands between the places where it is. */
export function splitText(text: string, by: string): readonly string[] {
  if (by.length < longFrom) return text.split(by)
  const pieces: string[] = []
  let from = 0
  for (const place of placesIn(text, by, { from, mayOverlap: false })) {
    pieces.push(text.slice(from, place))
    from = place + by.length
  }
  return [...pieces, text.slice(from)]
}

interface Search {
  readonly from: number
  /** A place may lie within the one before. */
  readonly mayOverlap: boolean
}

/** All places, in order (the algorithm of Knuth, Morris and Pratt): no character of the text is looked at again. */
function* placesIn(text: string, sought: string, { from, mayOverlap }: Search): Generator<number, void> {
  if (text.length - from < sought.length) return
  const borders = bordersOf(sought)
  let fitting = 0
  for (let i = from; i < text.length; i++) {
    fitting = fittingWith(text.charCodeAt(i), fitting, sought, borders)
    if (fitting < sought.length) continue
    yield i - sought.length + 1
    fitting = mayOverlap ? borderAt(borders, sought.length) : 0
  }
}

/** For so many characters of a text, how many at its beginning stand at their end, too. */
function bordersOf(text: string): Int32Array {
  const borders = new Int32Array(text.length)
  for (let i = 1; i < text.length; i++)
    borders[i] = fittingWith(text.charCodeAt(i), borderAt(borders, i), text, borders)
  return borders
}

function borderAt(borders: Int32Array, length: number): number {
  return borders[length - 1] ?? 0
}

/** How many characters of what is sought fit with one character more, where so many fitted before it. */
function fittingWith(character: number, before: number, sought: string, borders: Int32Array): number {
  let fitting = before
  while (fitting > 0 && sought.charCodeAt(fitting) !== character) fitting = borderAt(borders, fitting)
  return sought.charCodeAt(fitting) === character ? fitting + 1 : fitting
}
