/**
 * Names that many remember, each kept once: who remembers one has a bit for it. A thousand watches of a hundred
 * thousand objects take some twenty megabytes together.
 */
export interface SharedNames {
  /** Somebody who remembers nothing yet. */
  open(): KnownNames
}

export interface KnownNames {
  has(name: string): boolean
  add(name: string): void
  /** Whether it was known. */
  delete(name: string): boolean
  /** Forgets all of them. */
  clear(): void
}

/** Where names stand, and how many know each. A place whose name nobody knows any more is given to another name. */
interface Shelf {
  readonly places: Map<string, number>
  readonly names: string[]
  readonly knowing: number[]
  readonly free: number[]
}

export function createSharedNames(): SharedNames {
  const shelf: Shelf = { places: new Map(), names: [], knowing: [], free: [] }
  return { open: () => openKnown(shelf) }
}

const bitsPerWord = 32

function openKnown(shelf: Shelf): KnownNames {
  let words = new Uint32Array(0)

  const isSet = (place: number): boolean => ((words[Math.floor(place / bitsPerWord)] ?? 0) & bitOf(place)) !== 0

  const flip = (place: number): void => {
    const word = Math.floor(place / bitsPerWord)
    if (word >= words.length) words = grown(words, word + 1)
    words[word] = (words[word] ?? 0) ^ bitOf(place)
  }

  return {
    has: (name) => {
      const place = shelf.places.get(name)
      return place !== undefined && isSet(place)
    },
    add: (name) => {
      const place = shelf.places.get(name) ?? takePlace(shelf, name)
      if (isSet(place)) return
      flip(place)
      shelf.knowing[place] = (shelf.knowing[place] ?? 0) + 1
    },
    delete: (name) => {
      const place = shelf.places.get(name)
      if (place === undefined || !isSet(place)) return false
      flip(place)
      leave(shelf, place)
      return true
    },
    clear: () => {
      for (let place = 0; place < words.length * bitsPerWord; place++) if (isSet(place)) leave(shelf, place)
      words = new Uint32Array(0)
    },
  }
}

function bitOf(place: number): number {
  return 1 << (place % bitsPerWord)
}

/** Half as much again, so that a watch that learns one name after the other copies little. */
function grown(words: Uint32Array, wanted: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(Math.max(wanted, Math.ceil(words.length * 1.5)))
  larger.set(words)
  return larger
}

function takePlace({ places, names, knowing, free }: Shelf, name: string): number {
  const place = free.pop() ?? names.length
  places.set(name, place)
  names[place] = name
  knowing[place] = 0
  return place
}

function leave({ places, names, knowing, free }: Shelf, place: number): void {
  const left = (knowing[place] ?? 0) - 1
  knowing[place] = left
  if (left > 0) return
  places.delete(names[place] ?? '')
  names[place] = ''
  free.push(place)
}
