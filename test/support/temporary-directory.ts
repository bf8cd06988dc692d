import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new directory, mode 0700, which goes with the test that disposes of it. */
export interface TemporaryDirectory extends Disposable {
  readonly path: string
}

/**
 * It goes with this process at the latest: hooks of a file whose tests are all skipped are not called, nor is anything
 * after Ctrl-C.
 */
export function temporaryDirectory(name = 'test', parent = tmpdir()): TemporaryDirectory {
  const path = mkdtempSync(join(parent, `setpoint-${name}-`))
  left.add(path)
  return {
    path,
    [Symbol.dispose]: () => {
      rmSync(path, { recursive: true, force: true, maxRetries: 10 })
      left.delete(path)
    },
  }
}

const left = new Set<string>()

function removeAll(): void {
  for (const path of left) rmSync(path, { recursive: true, force: true, maxRetries: 10 })
}

process.once('exit', removeAll)
// A signal ends a process without that event, and by a signal vitest ends its workers.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.once(signal, () => {
    removeAll()
    process.kill(process.pid, signal)
  })
}
