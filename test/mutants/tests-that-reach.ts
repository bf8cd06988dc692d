/** Tests that start processes or deploy: they reach nearly every file, from far away, and take minutes. */
const tooFar =
  /^test\/(aws|wire|kubectl|e2e|chaos|command|demo|acceptance-table|infra|bench|clients|deployed|cost|fuzz|docs|types|architecture|mutants)\//

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

/** The test files that reach any of these files by their imports. */
export function testsThatReach(
  paths: Iterable<string>,
  graph: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const importers = importersIn(graph)
  const reached = new Set(paths)
  for (const one of reached) for (const importer of importers.get(one) ?? []) reached.add(importer)
  return [...reached].filter((one) => one.endsWith('.test.ts') && !one.endsWith('.long.test.ts') && !tooFar.test(one))
}
