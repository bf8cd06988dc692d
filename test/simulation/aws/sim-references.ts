import { OperatingError } from '../../../shared/model/errors.ts'
import { keyText, parseKeyText } from '../../../shared/model/object-key.ts'
import type { Clock } from '../../../shared/ports/clock.ts'
import type { ObjectIndex } from '../../../shared/ports/object-index.ts'

/**
 * Who refers to whom, in the single requests that the adapter for DynamoDB makes of it: each may be lost, or be made
 * late. An entry per referrer and target, and a record per referrer with a version that only grows, written over what
 * was read, after the entries that are added and ahead of those that go.
 * Source: shared/adapters/aws/dynamodb/dynamodb-references.ts.
 */
export interface SimReferences {
  read(referrer: string): Promise<Recorded>
  add(referrer: string, targets: readonly string[], version: number): Promise<void>
  /** Only what was written under this version or an earlier one. */
  forget(referrer: string, target: string, version: number): Promise<void>
  /** On condition that the version is still the one before. */
  record(referrer: string, before: number, next: Recorded): Promise<void>
  referrers(target: string): Promise<readonly string[]>
}

export interface Recorded {
  readonly version: number
  readonly targets: readonly string[]
  /** What it referred to before: their entries may be there, or be gone. */
  readonly leaving: readonly string[]
}

export function createSimReferences(): SimReferences {
  const records = new Map<string, Recorded>()
  /** By target, and then by referrer: the version. */
  const entries = new Map<string, Map<string, number>>()
  return {
    read: async (referrer) => records.get(referrer) ?? { version: 0, targets: [], leaving: [] },
    add: async (referrer, targets, version) => {
      for (const target of targets) entries.set(target, (entries.get(target) ?? new Map()).set(referrer, version))
    },
    forget: async (referrer, target, version) => {
      const some = entries.get(target)
      if ((some?.get(referrer) ?? Infinity) <= version) some?.delete(referrer)
    },
    record: async (referrer, before, next) => {
      if ((records.get(referrer)?.version ?? 0) !== before)
        throw new OperatingError('UNAVAILABLE', 'somebody else noted the references meanwhile')
      records.set(referrer, next)
    },
    referrers: async (target) => [...(entries.get(target)?.keys() ?? [])],
  }
}

/** The part of the index that is kept in these requests. */
export type ReferenceIndex = Pick<ObjectIndex, 'referrers' | 'references' | 'setReferences'>

export function referenceIndex(table: SimReferences, clock: Pick<Clock, 'nowMs'>): ReferenceIndex {
  return {
    referrers: async (target) => (await table.referrers(keyText(target))).map(parseKeyText),
    references: async (referrer) => (await table.read(keyText(referrer))).targets.map(parseKeyText),
    setReferences: async (referrer, targets) => {
      const key = keyText(referrer)
      const wanted = [...new Set(targets.map(keyText))]
      const before = await table.read(key)
      const added = wanted.filter((target) => !before.targets.includes(target))
      const gone = [...before.targets, ...before.leaving].filter((target) => !wanted.includes(target))
      if (added.length + gone.length === 0) return
      const version = Math.max(clock.nowMs() * 1_000, before.version + 1)
      if (added.length > 0) await table.add(key, added, version)
      await table.record(key, before.version, { version, targets: wanted, leaving: gone })
      if (gone.length === 0) return
      await Promise.all(gone.map((target) => table.forget(key, target, before.version)))
      await table.record(key, version, { version: version + 1, targets: wanted, leaving: [] })
    },
  }
}
