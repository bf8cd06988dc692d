/** Circles among the files: who imports whom, in every form, types included. */
import { posix } from 'node:path'
import { importsOf, type SourceFile } from './source.ts'

/** The files that import themselves by way of others, each circle as its files in order of path. */
export function circlesIn(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const graph = coreOf(importGraphOf(files))
  const reachable = new Map([...graph.keys()].map((path) => [path, reach(path, graph)]))
  const circles = new Map<string, readonly string[]>()
  for (const [path, reached] of reachable) {
    if (!reached.has(path)) continue
    const circle = [...reached].filter((other) => reachable.get(other)?.has(path)).toSorted()
    circles.set(circle.join(), circle)
  }
  return [...circles.values()]
}

/** The files that each file imports, as far as they are named by their place. */
export function importGraphOf(files: readonly SourceFile[]): ReadonlyMap<string, readonly string[]> {
  return new Map(files.map((file) => [file.path, targetsOf(file)]))
}

/** Without the files that import none of the others, over and over: a circle stays. */
function coreOf(graph: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const core = new Map(graph)
  const isLeaf = (path: string): boolean => !core.get(path)?.some((target) => core.has(target))
  for (let size = Infinity; core.size < size;) {
    size = core.size
    for (const path of core.keys()) if (isLeaf(path)) core.delete(path)
  }
  return core
}

function targetsOf(file: SourceFile): readonly string[] {
  return importsOf(file).flatMap((specifier) =>
    specifier?.startsWith('.') ? [posix.join(posix.dirname(file.path), specifier)] : [],
  )
}

/** All files that a file imports, and those that they import. */
function reach(start: string, graph: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set<string>()
  const open = [...(graph.get(start) ?? [])]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (reached.has(path)) continue
    reached.add(path)
    open.push(...(graph.get(path) ?? []))
  }
  return reached
}
