import { OperatingError } from '../model/errors.ts'
import { storedAs, type ServedKind } from '../model/served-kind.ts'
import type { ApiServices } from './call.ts'

/**
 * As long as an API server of Kubernetes waits for its cache. A client may have its version from a clock ahead of ours.
 */
const waitMs = 3_000
const lookMs = 100

/**
 * Resolves once the store has reached a resourceVersion. Throws VERSION_TOO_NEW after three seconds, which tells
 * clients to begin anew: the version is of a store that was lost, or of another one.
 */
export async function reachVersion(
  version: string | undefined,
  { feed, clock }: Pick<ApiServices, 'feed' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  if (version === undefined) return
  const untilMs = clock.nowMs() + waitMs
  for (;;) {
    const latest = await feed.latest()
    if (BigInt(version) <= BigInt(latest)) return
    if (clock.nowMs() >= untilMs || signal.aborted) throw tooNew(version, latest)
    await clock.sleep(lookMs, signal)
  }
}

/** In the words that client-go knows it by, `IsTooLargeResourceVersion` in k8s.io/apimachinery/pkg/api/errors. */
function tooNew(version: string, latest: string): OperatingError {
  return new OperatingError('VERSION_TOO_NEW', `Timeout: Too large resource version: ${version}, current: ${latest}`, {
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  })
}

/**
 * Lists tell the present, which is also how it was at a version if nothing of the kind has changed since. Throws
 * EXPIRED where that is not known: where clocks number the writes, it never is.
 */
export async function requireUnchanged(
  kind: ServedKind,
  { since, until }: { readonly since: string; readonly until: string },
  { feed }: Pick<ApiServices, 'feed'>,
  signal: AbortSignal,
): Promise<void> {
  if (feed.reachBack === undefined) {
    const changes = feed.follow({ after: since, of: storedAs(kind), signal })[Symbol.asyncIterator]()
    const { value } = await changes.next()
    await changes.return?.()
    if (value?.changes.length === 0 && BigInt(value.resourceVersion) >= BigInt(until)) return
  }
  const why = `lists tell the present, and there may have been changes: resourceVersion ${since} is not served exactly`
  throw new OperatingError('EXPIRED', why)
}
