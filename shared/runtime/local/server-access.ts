import { join } from 'node:path'
import { readIfThere } from '../../adapters/node/atomic-file.ts'

/** How a control plane on one machine is reached. */
export interface ServerAccess {
  readonly server: string
  /** PEM of the authority that signed its certificate; undefined for one that everybody knows. */
  readonly authority: string | undefined
  /** The name in its certificate, where the server is called by its address. */
  readonly name: string | undefined
  /** The administrator's. */
  readonly token: string
}

/**
 * What the kubeconfig in a data directory says, as the start writes it; undefined before the first start. Throws
 * UNAVAILABLE if it cannot be read, as by another account.
 */
export function findServerAccess(directory: string): ServerAccess | undefined {
  const text = readIfThere(join(directory, 'kubeconfig'))
  if (text === undefined) return undefined
  const find = (field: string): string | undefined => new RegExp(`^ *${field}: (\\S+)$`, 'm').exec(text)?.[1]
  const data = find('certificate-authority-data')
  const authority = data === undefined ? undefined : Buffer.from(data, 'base64').toString()
  return { server: find('server') ?? '', authority, name: find('tls-server-name'), token: find('token') ?? '' }
}
