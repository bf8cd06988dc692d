import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadLocalCredentials } from '../../shared/adapters/local/https/local-credentials.ts'
import { root } from '../support/control-plane-process.ts'
import { startProgram, type Program } from '../support/program.ts'
import { freePort, type RunningPeer } from '../wire/peer.ts'
import { fetchPython, pythonOf } from '../wire/python.ts'

/**
 * MiniStack, from PyPI: CloudFormation, an API gateway with authorizers, functions in processes of their own, mappings,
 * schedules, and policies that are enforced. With it the AWS command line, which signs people in.
 */
const versions = { ministack: '1.5.33', awscli: '1.46.3' } as const
const home = `ministack-${versions.ministack}-awscli-${versions.awscli}`

export const ministackVersion = versions.ministack
export const accountId = '123456789012'
export const region = 'us-east-1'

/** Rejects, with what was tried, where there is no Python with venv or no PyPI. */
export function fetchMinistack(): Promise<void> {
  return fetchPython(
    home,
    Object.entries(versions).map(([name, version]) => `${name}==${version}`),
  )
}

/** What runs the AWS command line, with these arguments ahead of its own. */
export const awsCommand = [pythonOf(home), '-m', 'awscli'] as const

export interface Ministack extends RunningPeer {
  /** A file with the PEM of the authority that signed its certificate. */
  readonly authorityFile: string
  /** What it has said so far. */
  readonly log: () => string
}

/**
 * Over TLS, as AWS is, since policies of ours refuse anything else; and with every request held against the policies of
 * who makes it.
 */
export async function startMinistack(directory: string): Promise<Ministack> {
  const { tls, authority } = loadLocalCredentials(join(directory, 'tls'), Date.now())
  const write = (name: string, text: string): string => {
    const file = join(directory, name)
    writeFileSync(file, text, { mode: 0o600 })
    return file
  }
  const authorityFile = write('authority.pem', authority)
  const env = {
    AUTH: 'true',
    USE_SSL: '1',
    MINISTACK_SSL_CERT: write('server-cert.pem', tls.cert),
    MINISTACK_SSL_KEY: write('server-key.pem', tls.key),
    NODE_EXTRA_CA_CERTS: authorityFile,
    BIND_HOST: '127.0.0.1',
    MINISTACK_HOST: 'localhost',
    MINISTACK_ACCOUNT_ID: accountId,
    MINISTACK_REGION: region,
    LAMBDA_EXECUTOR: 'local',
    TMPDIR: directory,
    // It looks for `node` there, and the bundles are made for this one.
    PATH: `${join(root, 'node_modules', '.bin')}:${process.env['PATH'] ?? ''}`,
    NODE_OPTIONS: `--import=${join(import.meta.dirname, 'in-lambda.ts')}`,
    AWS_ENDPOINT_URL: undefined,
  }
  const { program, port } = await serve(env, directory)
  return {
    endpoint: `https://localhost:${port}`,
    authorityFile,
    log: () => program.stdout,
    // By SIGTERM it ends the functions' processes with itself, as a rule.
    [Symbol.asyncDispose]: async () => {
      await Promise.race([program.stop(), sleep(endSeconds * 1_000)])
      endAllIn(directory)
    },
  }
}

const endSeconds = 30

interface Serving {
  readonly program: Program
  readonly port: number
}

/** A port that was free may be somebody else's when it is taken: then it is another one. */
async function serve(env: Readonly<Record<string, string | undefined>>, cwd: string, tries = 3): Promise<Serving> {
  const port = await freePort()
  const command = ['-c', 'exec "$0" "$@" 2>&1', pythonOf(home), '-m', 'ministack']
  const program = await startProgram('sh', command, { env: { ...env, GATEWAY_PORT: String(port) }, cwd })
  try {
    await program.says(/Running on (https:\/\/127\.0\.0\.1:\d+)/, 300_000)
    return { program, port }
  } catch (error) {
    await program.stop('SIGKILL')
    if (tries === 1) throw error
    return serve(env, cwd, tries - 1)
  }
}

/** Where there is /proc: the functions' processes, and what else runs with a file of this directory. */
function endAllIn(directory: string): void {
  for (const pid of runningNow().filter((one) => commandOf(one).includes(directory)))
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended by itself.
    }
}

function runningNow(): readonly number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && pid !== process.pid)
  } catch {
    return []
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
