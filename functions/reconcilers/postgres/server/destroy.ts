import { randomUUID } from 'node:crypto'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { exists, removeTree } from './files.ts'
import { findHome, type Home, linkTarget, type Server } from './home.ts'
import { start, stopServer } from './lifecycle.ts'
import { hasCrashed } from './postmaster.ts'
import { clearRemains } from './remains.ts'

/**
 * Stops the server and removes everything it had, for good. Killed in the middle, it leaves either a whole data
 * directory or none, and the next call removes the rest.
 */
export async function destroy(server: Server, signal: AbortSignal): Promise<void> {
  const home = await findHome(server)
  if (home !== undefined) {
    await freeMemory(server, home, signal)
    await stopServer(server, signal, 'immediate')
    if (await exists(home.data)) await rename(home.data, join(home.path, `removed-${randomUUID()}`))
    await clearRemains(home, signal)
    await removeTree(home.path)
  }
  if ((await linkTarget(server.directory)) !== undefined) await rm(server.directory)
}

// Shared memory of a server that was killed is found and freed by its next start, and by nothing else.
async function freeMemory(server: Server, home: Home, signal: AbortSignal): Promise<void> {
  if (!(await hasCrashed(home, signal))) return
  try {
    await start(server, AbortSignal.any([signal, AbortSignal.timeout(5_000)]))
  } catch {
    // It may be what cannot start that is to be destroyed; a megabyte of memory must not keep its files.
    signal.throwIfAborted()
  }
}
