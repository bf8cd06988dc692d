import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { removeTree } from './files.ts'
import type { Home } from './home.ts'
import { untilUnlocked } from './postmaster.ts'

/**
 * Removes what an interrupted `initialise` or `destroy` left behind. When our process was killed, the server inside
 * initdb may still be ending; it gets the time to, since it frees its shared memory then.
 */
export async function clearRemains(home: Home, signal: AbortSignal): Promise<void> {
  for (const entry of await readdir(home.path)) {
    if (!/^(staging|removed)-/.test(entry)) continue
    const path = join(home.path, entry)
    await untilUnlocked(join(path, 'data'), signal)
    await removeTree(path)
  }
}
