import type { Peer } from './peer.ts'

/** For suites that need the peer: skipped, with the reason, unless its endpoint is known. */
export function onPeer({ variable }: Peer): {
  readonly skip: boolean
  readonly meta: { readonly skipped: string }
  readonly timeout: number
  readonly endpoint: string
} {
  const endpoint = process.env[variable] ?? ''
  const meta = { skipped: `needs a server: npm run test:wire, or ${variable}` }
  return { skip: endpoint === '', meta, timeout: 120_000, endpoint }
}
