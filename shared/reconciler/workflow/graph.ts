import { DefinitionError } from '../../model/errors.ts'

/** Which node of a workflow comes after which. */
export interface Graph {
  /** In an order in which every node comes after those it depends on. */
  readonly names: readonly string[]
  dependenciesOf(name: string): readonly string[]
  dependentsOf(name: string): readonly string[]
}

/**
 * The graph of what depends on what. Throws a TypeError that names a node which is not there, or the way round a
 * circle, and whose it is.
 */
export function createGraph(dependsOn: Readonly<Record<string, readonly string[]>>, whose = 'a workflow'): Graph {
  const names: string[] = []
  const visit = (name: string, path: readonly string[]): void => {
    if (names.includes(name)) return
    const dependencies = Object.hasOwn(dependsOn, name) ? dependsOn[name] : undefined
    if (dependencies === undefined)
      throw new DefinitionError(`${whose}: ${path.at(-1)} depends on ${name}, which is not there`)
    if (path.includes(name))
      throw new DefinitionError(`${whose}: a circle: ${[...path.slice(path.indexOf(name)), name].join(' → ')}`)
    for (const dependency of dependencies) visit(dependency, [...path, name])
    names.push(name)
  }
  for (const name in dependsOn) visit(name, [])
  return {
    names,
    dependenciesOf: (name) => dependsOn[name] ?? [],
    dependentsOf: (name) => names.filter((other) => dependsOn[other]?.includes(name)),
  }
}
