import { join } from 'node:path'
import { cached, fetchOnce, mustRun } from './cache.ts'

/**
 * A Python environment of its own, in the cache, with these packages of PyPI. Rejects, with what was tried and what it
 * said, where there is no Python with venv or no PyPI.
 */
export function fetchPython(name: string, packages: readonly string[]): Promise<void> {
  return fetchOnce(name, async (directory) => {
    await mustRun('python3', ['-m', 'venv', directory])
    await mustRun(join(directory, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', ...packages])
  })
}

/**
 * What runs a module of it. Its scripts do not: their first line names the directory that the environment was made in.
 */
export function pythonOf(name: string): string {
  return join(cached(name), 'bin', 'python')
}
