import { chmodSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { createAskKubectl } from '../../functions/command/ask-kubectl.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** kubectl puts a raw path in the place of the one that the server's address has, as that of a stage on AWS. */

afterEach(() => vi.unstubAllEnvs())

/** A kubectl that knows this server, and prints how else it is called. */
function pretend(directory: string, server: string): void {
  const file = join(directory, 'kubectl')
  writeFileSync(file, `#!/bin/sh\n[ "$1" = config ] && { printf '%s' '${server}'; exit; }\necho "$@"\n`)
  chmodSync(file, 0o755)
  vi.stubEnv('PATH', [directory, process.env['PATH']].join(delimiter))
}

it.each([
  ['https://127.0.0.1:8443', '/doctor'],
  ['https://127.0.0.1:8443/', '/doctor'],
  ['https://abc.execute-api.eu-central-1.amazonaws.com/v1', '/v1/doctor'],
  ['https://abc.execute-api.eu-central-1.amazonaws.com/v1/', '/v1/doctor'],
  ['', '/doctor'],
])('of the server %s the page is %s', async (server, path) => {
  using directory = temporaryDirectory('kubectl')
  pretend(directory.path, server)
  const askKubectl = createAskKubectl()
  expect(await askKubectl(['get', '--raw', '/doctor'])).toBe(`get --raw ${path}\n`)
  expect(await askKubectl(['get', 'widgets', '-o', 'json'])).toBe('get widgets -o json\n')
})
