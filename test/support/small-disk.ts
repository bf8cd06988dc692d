import { spawnSync } from 'node:child_process'
import { temporaryDirectory } from './temporary-directory.ts'

/** A disk of its own that is soon full, in memory. */
export interface SmallDisk extends Disposable {
  readonly path: string
}

/** Throws where no disk can be mounted: see `canMount`. */
export function smallDisk(kibibytes: number): SmallDisk {
  const directory = temporaryDirectory('disk')
  const { status, stderr } = mount(directory.path, kibibytes)
  if (status !== 0) throw new Error(`mount: ${stderr}`)
  return {
    path: directory.path,
    [Symbol.dispose]: () => {
      spawnSync('umount', ['--lazy', directory.path])
      directory[Symbol.dispose]()
    },
  }
}

function mount(path: string, kibibytes: number): { readonly status: number | null; readonly stderr: string } {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${kibibytes}k`, 'tmpfs', path], { encoding: 'utf8' })
}

function triesToMount(): boolean {
  using directory = temporaryDirectory('disk')
  const { status } = mount(directory.path, 4)
  if (status === 0) spawnSync('umount', [directory.path])
  return status === 0
}

/** Only root may mount a disk, on Linux, and not in every container. */
export const canMount = triesToMount()
