import { cpSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { root } from '../architecture/source.ts'
import { temporaryDirectory, type TemporaryDirectory } from './temporary-directory.ts'

const leftAlone: ReadonlySet<string> = new Set(['node_modules', '.git', '.setpoint', 'cdk.out'])

/** The sources in a directory of their own, which may be changed; they share the packages. */
export function copySources(name: string): TemporaryDirectory {
  const directory = temporaryDirectory(name)
  const path = join(directory.path, 'setpoint')
  cpSync(root, path, { recursive: true, filter: (source) => !leftAlone.has(basename(source)) })
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'))
  return { path, [Symbol.dispose]: () => directory[Symbol.dispose]() }
}
