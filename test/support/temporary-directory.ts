import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new directory, mode 0700, which goes with the test that disposes of it. */
export interface TemporaryDirectory extends Disposable {
  readonly path: string
}

export function temporaryDirectory(name = 'test'): TemporaryDirectory {
  const path = mkdtempSync(join(tmpdir(), `setpoint-${name}-`))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 10 }) }
}
