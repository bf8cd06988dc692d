import type { SyncPeriods } from './konnect.ts'

/**
 * The sync periods of `KONNECT_SYNC_PERIOD`: one for all kinds, such as `5m`, or `5m,KonnectService=30s`. Undefined if
 * nothing is said. Throws a TypeError that names the variable for a kind that is none.
 */
export function parseSyncPeriods(text: string | undefined): SyncPeriods | undefined {
  if (text === undefined || text === '') return undefined
  const entries = text.split(',').map((part): readonly [string, string] => {
    const [name = '', period] = part.split('=', 2).map((word) => word.trim())
    return period === undefined ? ['default', name] : [name, period]
  })
  const unknown = entries.find(([name]) => name !== 'default' && !kinds.includes(name))
  if (unknown !== undefined)
    throw new TypeError(`KONNECT_SYNC_PERIOD: ${unknown[0]} is no kind; give one of ${kinds.join(', ')}`)
  return Object.fromEntries(entries)
}

const kinds = ['KonnectControlPlane', 'KonnectService', 'KonnectRoute', 'KonnectConsumer']
