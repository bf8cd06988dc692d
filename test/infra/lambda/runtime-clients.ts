import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cached, fetchOnce, mustRun } from '../../wire/cache.ts'
import { mkdirSync } from 'node:fs'

const version = '4.0.2'
const home = `aws-lambda-ric-${version}`

/** Ours: always there. */
export const plainClient = [fileURLToPath(new URL('plain-client.ts', import.meta.url))]

/**
 * AWS's own runtime interface client, from npm, in a cache outside the tree, because it compiles a library for most of
 * a minute. Rejects, with what was tried, without cmake, a C++ compiler or npm.
 */
export async function awsClient(): Promise<readonly string[]> {
  await mustRun('cmake', ['--version'])
  await fetchOnce(home, async (directory) => {
    mkdirSync(directory, { recursive: true })
    await mustRun('npm', ['install', '--prefix', directory, '--no-save', `aws-lambda-ric@${version}`])
  })
  return [join(cached(home), 'node_modules', 'aws-lambda-ric', 'index.mjs')]
}
