import { randomUUID } from 'node:crypto'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { exists, removeTree } from './files.ts'
import { findHome, linkTarget, type Server } from './home.ts'
import { stop } from './lifecycle.ts'

/**
 * Stops the server and removes everything it had, for good. Killed in the middle, it leaves either a whole data
 * directory or none, and the next call removes the rest.
 */
export async function destroy(server: Server, signal: AbortSignal): Promise<void> {
  const home = await findHome(server)
  if (home !== undefined) {
    await stop(server, signal, 'immediate')
    if (await exists(home.data)) await rename(home.data, join(home.path, `removed-${randomUUID()}`))
    await removeTree(home.path)
  }
  if ((await linkTarget(server.directory)) !== undefined) await rm(server.directory)
}
