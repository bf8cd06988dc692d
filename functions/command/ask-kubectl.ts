import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { OperatingError } from '../../shared/index.ts'

/** Without KUBECONFIG the control plane is asked whose data directory is here. */
const here = join('.setpoint', 'kubeconfig')

/**
 * What kubectl prints, which knows how to sign in to each control plane. Its own message is the error, since it says
 * what to do.
 */
export function askKubectl(args: readonly string[], input = ''): string {
  const isHere = !process.env['KUBECONFIG'] && existsSync(here)
  const env = isHere ? { ...process.env, KUBECONFIG: here } : process.env
  const { status, stdout, stderr, error } = spawnSync('kubectl', args, {
    env,
    input,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  if (error !== undefined)
    throw new OperatingError('UNAVAILABLE', `kubectl does not run (${error.message}): install it, or set PATH`)
  if (status === 0) return stdout
  // The last line is for people; those before it are kubectl's own log.
  throw new OperatingError('UNAVAILABLE', `kubectl ${args.slice(0, 2).join(' ')}: ${stderr.trim().split('\n').at(-1)}`)
}
