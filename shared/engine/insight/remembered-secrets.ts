import type { Memory, MemoryPath } from '../../model/engine-state.ts'
import { equal, type Json, type JsonObject } from '../../model/json.ts'
import type { SecretValues } from './secret-values.ts'

/** What runs leave to later runs, and may hold values of Secrets. */
type Remembered = Pick<Memory, 'once' | 'notes' | 'secretPaths'>

/** Values of Secrets that earlier runs have left, as a Secret would hold them; undefined where they left none. */
export function secretInMemory(memory: Remembered | undefined): JsonObject | undefined {
  if (memory?.secretPaths === undefined) return undefined
  const stringData: JsonObject = {}
  for (const path of memory.secretPaths) {
    const value = path.reduce<unknown>((at, step) => (isParent(at) ? at[step] : undefined), memory)
    if (typeof value === 'string' || typeof value === 'number') stringData[path.join(' ')] = String(value)
  }
  return { stringData }
}

/** Where a run leaves values of the Secrets that it has met. As before if it met none. */
export function findSecretPaths(
  { once = {}, notes = {}, secretPaths }: Remembered,
  secrets: SecretValues | undefined,
): Memory['secretPaths'] {
  if (secrets === undefined) return secretPaths
  const results = Object.entries(once).flatMap(([key, { result }]) => placesIn(result, ['once', key, 'result']))
  const places = [...results, ...placesIn(notes, ['notes'])]
  return places.filter(({ value }) => secrets.tells(value)).map(({ path }) => path)
}

/** The places of both, each once. */
export function joinSecretPaths(some: readonly MemoryPath[] = [], others: readonly MemoryPath[] = []): MemoryPath[] {
  const isKnown = (path: MemoryPath): boolean => some.some((one) => equal([...one], [...path]))
  return [...some, ...others.filter((path) => !isKnown(path))]
}

interface Place {
  readonly path: MemoryPath
  readonly value: string | number
}

function placesIn(value: Json | undefined, path: MemoryPath): readonly Place[] {
  if (typeof value === 'string' || typeof value === 'number') return [{ path, value }]
  if (Array.isArray(value)) return value.flatMap((item, i) => placesIn(item, [...path, i]))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, field]) => placesIn(field, [...path, name]))
}

function isParent(value: unknown): value is Readonly<Record<string | number, unknown>> {
  return typeof value === 'object' && value !== null
}
