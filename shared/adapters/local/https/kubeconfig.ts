import { readIfThere, writeAtomically } from '../../node/atomic-file.ts'
import type { LocalCredentials } from './local-credentials.ts'

/**
 * Writes what kubectl needs to reach a server: cluster, user and context `setpoint`. Leaves a file alone that says so
 * already.
 */
export function writeKubeconfig(
  file: string,
  url: string,
  { authority, token }: Pick<LocalCredentials, 'authority' | 'token'>,
): void {
  const content = `apiVersion: v1
kind: Config
clusters:
  - name: setpoint
    cluster:
      server: ${url}
      certificate-authority-data: ${Buffer.from(authority).toString('base64')}
users:
  - name: setpoint
    user:
      token: ${token}
contexts:
  - name: setpoint
    context:
      cluster: setpoint
      user: setpoint
current-context: setpoint
`
  if (readIfThere(file) !== content) writeAtomically(file, content)
}
