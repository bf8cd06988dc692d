import type { Peer } from './peer.ts'

/** For suites that need the peer: skipped, with the reason, unless its endpoint is known. */
export function onPeer({ variable }: Peer): {
  readonly skip: boolean
  readonly meta: { readonly skipped: string }
  readonly endpoint: string
} {
  const endpoint = process.env[variable] ?? ''
  return { skip: endpoint === '', meta: { skipped: `needs a server: npm run test:wire, or ${variable}` }, endpoint }
}
