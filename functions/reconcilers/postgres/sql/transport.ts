import { isIP } from 'node:net'

/**
 * Whether the connection to a host is to be TLS, with a certificate that is verified: to all but this machine itself.
 * For RDS the process must know Amazon's authorities: NODE_EXTRA_CA_CERTS, which on Lambda is
 * `/var/runtime/ca-cert.pem` (AWS Lambda Developer Guide, "Building Lambda functions with Node.js", CA certificate
 * loading).
 */
export function needsTls(host: string): boolean {
  return !isLoopback(host)
}

function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true
  return isIP(host) === 4 && host.startsWith('127.')
}
