import { isObject, type Json, type JsonObject } from '../../../model/json.ts'

/** What still fits: whoever shows a part takes from it. */
interface Room {
  lines: number
  characters: number
}

const linesMax = 30
/** As many as fill these lines. */
const charactersMax = 80 * linesMax
/** A Deployment with affinities has thirteen. */
const levelsMax = 20

/**
 * A copy of what fits on about thirty lines of YAML, which says where it leaves out how much. A value of any size and
 * depth costs no more than its first lines: YAML of all of it would take seconds.
 */
export function beginningOf<Value extends Json>(value: Value): Value {
  return cut(value, { lines: linesMax, characters: charactersMax }, levelsMax) as Value
}

function cut(value: Json, room: Room, levels: number): Json {
  if (typeof value === 'string') return cutText(value, room)
  if (Array.isArray(value)) return cutList(value, room, levels)
  return isObject(value) ? cutFields(value, room, levels) : value
}

function cutText(text: string, room: Room): string {
  const lines = text.slice(0, room.characters).split('\n', room.lines + 1)
  const shown = lines.join('\n')
  room.lines -= lines.length - 1
  room.characters -= shown.length
  return shown.length === text.length ? text : `${shown}… and ${text.length - shown.length} more characters`
}

function cutList(items: readonly Json[], room: Room, levels: number): Json[] {
  const shown: Json[] = []
  for (const item of items) {
    if (levels === 0 || isFull(room)) return [...shown, `… ${andMore(items.length - shown.length, room)}`]
    // The first field of an object stands on the line of its item.
    if (isLeaf(item)) room.lines -= 1
    shown.push(cut(item, room, levels - 1))
  }
  return shown
}

function cutFields(fields: JsonObject, room: Room, levels: number): JsonObject {
  const entries = Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined)
  const shown: [string, Json][] = []
  for (const [name, value] of entries) {
    if (levels === 0 || isFull(room) || name.length > room.characters) {
      shown.push(['…', andMore(entries.length - shown.length, room)])
      break
    }
    room.lines -= 1
    room.characters -= name.length
    shown.push([name, cut(value, room, levels - 1)])
  }
  return Object.fromEntries(shown)
}

function andMore(count: number, room: Room): string {
  room.lines -= 1
  return `and ${count} more`
}

function isFull({ lines, characters }: Room): boolean {
  return lines <= 0 || characters <= 0
}

function isLeaf(value: Json): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0
}
