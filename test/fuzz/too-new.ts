/**
 * Whether an answer with 504 is the one that there may be, as on Kubernetes: a list or a watch names a resourceVersion
 * that is newer than all there is, and the answer says so.
 */
export function isTooNew(line: string, body: string): boolean {
  // A query may hold spaces.
  const [method, ...target] = line.split(' ')
  const asked = new URLSearchParams(target.join(' ').split('?', 2)[1]).get('resourceVersion') ?? ''
  const [, version = '', latest = ''] = /Too large resource version: (\d+), current: (\d+)/.exec(body) ?? []
  return (
    (method === 'GET' || method === 'HEAD') &&
    body.includes('ResourceVersionTooLarge') &&
    version !== '' &&
    version === asked &&
    BigInt(version) > BigInt(latest)
  )
}
