import { posix } from 'node:path'

/** Tests that start processes or deploy: they reach nearly every file, from far away, and take minutes. */
const tooFar = /^test\/(aws|wire|kubectl|e2e|chaos|command|demo|acceptance-table|infra|bench|clients)\//

/**
 * The test files that reach a file by their imports, the nearest first: the fewer imports lie between, the more likely
 * is a test about that file. Of equally near ones the first is the one whose folders have the most names in common,
 * and then a unit test.
 */
export function nearestTests(path: string, graph: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const importers = importersIn(graph)
  const distances = new Map([[path, 0]])
  for (const [reached, distance] of distances)
    for (const importer of importers.get(reached) ?? [])
      if (!distances.has(importer)) distances.set(importer, distance + 1)
  const names = new Set(namesOf(path))
  return [...distances]
    .filter(([reached]) => reached.endsWith('.test.ts') && !tooFar.test(reached))
    .map(([reached, distance]) => ({ reached, distance, alike: namesOf(reached).filter((n) => names.has(n)).length }))
    .toSorted((a, b) => a.distance - b.distance || b.alike - a.alike || (a.reached > b.reached ? -1 : 1))
    .map(({ reached }) => reached)
}

/** The names in a path: of its folders, and of the file without what follows a dot. */
function namesOf(path: string): readonly string[] {
  return [...posix.dirname(path).split('/'), ...(posix.basename(path).split('.')[0] ?? '').split('-')]
}

function importersIn(graph: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>()
  for (const [path, targets] of graph)
    for (const target of targets) {
      const known = importers.get(target)
      if (known) known.push(path)
      else importers.set(target, [path])
    }
  return importers
}
