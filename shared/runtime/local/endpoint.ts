import { isIP, isIPv4 } from 'node:net'
import { listUsers } from '../../adapters/local/https/users-editor.ts'
import { loadLocalCredentials } from '../../adapters/local/https/local-credentials.ts'
import { loadOwnCertificate, type CertificateFiles } from '../../adapters/local/https/own-certificate.ts'
import type { ServerIdentity } from '../../adapters/local/https/listener.ts'
import { loadClientAuthority } from '../../adapters/local/https/client-certificates.ts'
import { OperatingError } from '../../model/errors.ts'
import { filesIn } from './files.ts'
import type { SignIn } from './sign-in.ts'

/** Where a control plane on one machine is reached, and what it proves itself with. */
export interface EndpointOptions {
  readonly directory: string
  /** An address of this machine. */
  readonly host: string
  /** Left out: one of our own authority, for this machine only. */
  readonly certificate: CertificateFiles | undefined
  readonly signIn: SignIn
}

export interface ServedEndpoint {
  readonly tls: ServerIdentity
  /** The administrator's. */
  readonly token: string
  /** PEM; undefined where clients know who signed. */
  readonly authority: string | undefined
  /** The name in the certificate, where that is not the address. */
  readonly name: string | undefined
}

/**
 * Beyond this machine a server needs a certificate that others can check, and people with tokens of their own: the
 * administrator's is for this machine. Throws BAD_REQUEST with what to do.
 */
export function loadEndpoint(options: EndpointOptions, nowMs: number): ServedEndpoint {
  if (!isLoopback(options.host)) requireReady(options)
  return readEndpoint(options, nowMs, readClients(options, nowMs))
}

/**
 * The same of a server that runs: who may sign in is none of the certificate's concern, and the administrator's token
 * is the one of the start, though another stands in the directory. The authorities of clients are those of before while
 * their file cannot be taken, as `report` is told.
 */
export function renewEndpoint(
  options: EndpointOptions,
  { token, tls: before }: Pick<ServedEndpoint, 'token' | 'tls'>,
  nowMs: number,
  report: (error: unknown) => void = () => {},
): ServedEndpoint {
  const renewClients = (): Clients => {
    try {
      return readClients(options, nowMs)
    } catch (error) {
      report(error)
      return before.clientAuthority === undefined ? {} : { clientAuthority: before.clientAuthority }
    }
  }
  return { ...readEndpoint(options, nowMs, renewClients()), token }
}

type Clients = Pick<ServerIdentity, 'clientAuthority'>

function readClients({ signIn: { clientAuthority: file } }: EndpointOptions, nowMs: number): Clients {
  return file === undefined ? {} : { clientAuthority: loadClientAuthority(file, nowMs) }
}

function readEndpoint({ directory, certificate }: EndpointOptions, nowMs: number, clients: Clients): ServedEndpoint {
  const { tls, authority, token } = loadLocalCredentials(directory, nowMs)
  if (certificate === undefined) return { tls: { ...tls, ...clients }, authority, token, name: undefined }
  const own = loadOwnCertificate(certificate, nowMs)
  return { tls: { ...own.tls, ...clients }, authority: own.authority, token, name: own.name }
}

function requireReady({ directory, host, certificate, signIn }: EndpointOptions): void {
  if (host !== 'localhost' && isIP(host) === 0)
    throw new OperatingError('BAD_REQUEST', `--listen: ${host} is no address; give one such as 0.0.0.0`)
  if (certificate === undefined)
    throw new OperatingError(
      'BAD_REQUEST',
      `--listen ${host} lets other machines in, who check the certificate: name yours (--certificate FILE --certificate-key FILE)`,
    )
  if (signIn.clientAuthority !== undefined || signIn.oidc !== undefined) return
  if (listUsers(filesIn(directory).usersFile).length > 0) return
  throw new OperatingError(
    'BAD_REQUEST',
    `--listen ${host} lets other machines in, and nobody has a token of their own: start without --listen, and type setpoint token add NAME`,
  )
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}

/** How this machine calls a server that may listen on all addresses. */
export function ownUrl(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}
