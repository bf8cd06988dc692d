import type { Target } from './connection.ts'
import type { Ready } from './messages.ts'

/**
 * The life of a server under test: it gets its directory, says that it is ready, and ends when its parent wants it to
 * or is gone.
 */
export async function serve(
  start: (directory: string) => Promise<Target & { readonly stop: () => Promise<void> }>,
): Promise<void> {
  const { stop, ...target } = await start(process.argv[2] ?? '')
  process.once('disconnect', () => void stop().then(() => process.exit(0)))
  process.on('message', () => process.send?.(heapBytes()))
  const ready: Ready = { ...target, pid: process.pid }
  process.send?.(ready)
}

/** What is alive on the heap; with garbage, unless the process was started with --expose-gc. */
function heapBytes(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}
