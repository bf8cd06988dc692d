import { readIfThere, writeAtomically } from '../../node/atomic-file.ts'

export interface KubeconfigAccess {
  /** PEM of what the client is to trust; undefined for what it trusts already. */
  readonly authority: string | undefined
  readonly token: string
  /** The name in the server's certificate, where the URL has another. */
  readonly name?: string | undefined
}

/**
 * Writes what kubectl needs to reach a server: cluster, user and context `setpoint`. Leaves a file alone that says so
 * already.
 */
export function writeKubeconfig(file: string, url: string, { authority, token, name }: KubeconfigAccess): void {
  const trust =
    authority === undefined ? [] : [`certificate-authority-data: ${Buffer.from(authority).toString('base64')}`]
  const called = name === undefined ? [] : [`tls-server-name: ${name.replace(/[[\]]/g, '')}`]
  const content = `${kubeconfigHead}    cluster:
      server: ${url}
${[...trust, ...called].map((line) => `      ${line}\n`).join('')}users:
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

/** How each begins that is written here. */
export const kubeconfigHead = `apiVersion: v1
kind: Config
clusters:
  - name: setpoint
`

/** Whether a file may be written over: it is not there, or was written here. */
export function isOwnKubeconfig(file: string): boolean {
  return (readIfThere(file) ?? kubeconfigHead).startsWith(kubeconfigHead)
}
