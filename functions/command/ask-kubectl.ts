import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { OperatingError } from '../../shared/index.ts'

/** What kubectl prints when it is called with these words, and given this input. */
export type AskKubectl = (args: readonly string[], input?: string) => Promise<string>

/** Without KUBECONFIG the control plane is asked whose data directory is here. */
const here = join('.setpoint', 'kubeconfig')

/**
 * Asks kubectl, which knows how to sign in to each control plane. Its own message is the error, since it says what to
 * do. The address of the server is looked up once.
 */
export function createAskKubectl(): AskKubectl {
  let server: Promise<string> | undefined
  return async (args, input = '') => {
    const at = args.indexOf('--raw') + 1
    if (at === 0) return runKubectl(args, input)
    server ??= serverPath()
    return runKubectl(args.with(at, `${await server}${args[at] ?? ''}`), input)
  }
}

/**
 * What the server's address has behind its host, such as the stage of an API Gateway: `/v1`. kubectl puts a raw path in
 * the place of it. Empty where there is none, and where nobody says which server it is: then the request tells what is
 * wrong.
 */
async function serverPath(): Promise<string> {
  const asking = ['config', 'view', '--minify', '-o', 'jsonpath={.clusters[0].cluster.server}']
  const address = await runKubectl(asking, '').catch(() => '')
  return URL.canParse(address) ? new URL(address).pathname.replace(/\/+$/, '') : ''
}

async function runKubectl(args: readonly string[], input: string): Promise<string> {
  const isHere = !process.env['KUBECONFIG'] && existsSync(here)
  const env = isHere ? { ...process.env, KUBECONFIG: here } : process.env
  const kubectl = spawn('kubectl', args, { env, stdio: 'pipe' })
  // It need not read all of its input.
  kubectl.stdin.on('error', () => {})
  kubectl.stdin.end(input)
  const closed = once(kubectl, 'close').catch((error: unknown) => {
    throw new OperatingError(
      'UNAVAILABLE',
      `kubectl does not run (${(error as Error).message}): install it, or set PATH`,
    )
  })
  const [[code], stdout, stderr] = await Promise.all([closed, text(kubectl.stdout), text(kubectl.stderr)])
  if (code === 0) return stdout
  // The last line is for people; those before it are kubectl's own log.
  throw new OperatingError('UNAVAILABLE', `kubectl ${args.slice(0, 2).join(' ')}: ${stderr.trim().split('\n').at(-1)}`)
}
