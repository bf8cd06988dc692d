import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram } from '../support/program.ts'
import { cached, fetchOnce } from './cache.ts'
import type { Peer } from './peer.ts'

const version = 'v0.3.1'
const home = `konnect-openapi-${version}`
const file = 'openapi.yaml'

/**
 * Konnect's public OpenAPI document, from the Go module that Kong makes of it (Apache-2.0), by Go's module proxy. The
 * fake Konnect of the tests holds every request and every answer against it. Needs Go.
 */
export const konnectDocument: Peer = {
  name: "Konnect's OpenAPI document",
  version: `sdk-konnect-go ${version}`,
  variable: 'SETPOINT_KONNECT_OPENAPI',
  tests: ['test/reconcilers/konnect', 'test/acceptance/k-'],
  fetch: () =>
    fetchOnce(home, async (directory) => {
      const args = ['mod', 'download', '-json', `github.com/Kong/sdk-konnect-go@${version}`]
      const { code, stdout, stderr } = await runProgram('go', args)
      if (code !== 0) throw new Error(`go ${args.join(' ')} ended with ${code}: ${(stdout + stderr).slice(-300)}`)
      mkdirSync(directory, { recursive: true })
      copyFileSync(join((JSON.parse(stdout) as { readonly Dir: string }).Dir, file), join(directory, file))
    }),
  start: async () => ({ endpoint: join(cached(home), file), [Symbol.asyncDispose]: async () => {} }),
}
