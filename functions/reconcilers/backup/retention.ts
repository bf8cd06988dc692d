import type { StoredDump } from './archive/archive.ts'

/**
 * The dumps that were stored before `sinceMs`; but never the newest of a database, so that failing backups do not end
 * with none.
 */
export function findExpired(dumps: readonly StoredDump[], sinceMs: number): readonly StoredDump[] {
  const newest = new Map<string, StoredDump>()
  for (const dump of dumps) {
    const best = newest.get(folderOf(dump))
    if (best === undefined || best.storedMs < dump.storedMs) newest.set(folderOf(dump), dump)
  }
  return dumps.filter((dump) => dump.storedMs < sinceMs && newest.get(folderOf(dump)) !== dump)
}

/** One for each database. */
function folderOf({ name }: StoredDump): string {
  return name.slice(0, name.lastIndexOf('/'))
}
