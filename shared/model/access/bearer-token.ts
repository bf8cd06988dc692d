/** The token of an Authorization header; empty for another scheme, or where there is none. */
export function bearerToken(authorization = ''): string {
  if (authorization.slice(0, scheme.length).toLowerCase() !== scheme) return ''
  const token = authorization.slice(scheme.length).trim()
  return token.includes(' ') ? '' : token
}

const scheme = 'bearer '
