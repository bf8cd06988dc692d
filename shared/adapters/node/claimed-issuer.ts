import { parseJson } from '../../model/parse-json.ts'

/** What a token says of its issuer, unproven, so that others' are not looked at more closely. */
export function claimedIssuer(token: string): unknown {
  const [, claims] = /^[\w-]+\.([\w-]+)\.[\w-]+$/.exec(token) ?? []
  if (claims === undefined) return undefined
  try {
    return (parseJson(Buffer.from(claims, 'base64url').toString()) as { readonly iss?: unknown } | null)?.iss
  } catch {
    // It is no JWT.
    return undefined
  }
}
