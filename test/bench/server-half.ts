import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The server half of the benchmarks as it was at a commit: a work tree of its own, with our packages. */
export interface ServerHalf extends Disposable {
  readonly program: URL
}

const root = resolve(import.meta.dirname, '../..')

export function serverHalfOf(commit: string, directory: string): ServerHalf {
  const path = join(directory, 'against')
  git('worktree', 'add', '--detach', '--quiet', path, commit)
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'))
  return {
    program: pathToFileURL(join(path, 'test/bench/control-plane.ts')),
    [Symbol.dispose]: () => git('worktree', 'remove', '--force', path),
  }
}

function git(...args: readonly string[]): void {
  execFileSync('git', args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
}
