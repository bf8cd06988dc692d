import { createRateBudgets, HttpError, type Duration, type RateBudget } from '../../../shared/index.ts'
import { requireAnswer, type KonnectFetch, type KonnectClient } from './client.ts'

/** What all Konnect reconcilers of a process share. */
export interface Konnect {
  readonly fetch: KonnectFetch
  /** One budget per account, whatever kinds of entities its objects are for. */
  budgetOf(client: KonnectClient): RateBudget
  /** Whose account it is; asked once per process. */
  organizationOf(client: KonnectClient): Promise<string>
  /** A region of an organization. Tokens come and go; an entity stays where it is. */
  placeOf(client: KonnectClient): Promise<string>
  /** How often what objects of a kind declare is asserted, unless an object says otherwise. */
  syncPeriodOf(kind: { readonly kind: string }): Duration
}

export interface KonnectOptions {
  /** Default: the global one. */
  readonly fetch?: KonnectFetch
  /**
   * What an account may call. Konnect publishes no number; this is what a person with a script would do. Default 20 a
   * second in bursts of 100.
   */
  readonly rate?: { readonly perSecond: number; readonly burst: number }
  /** Of all kinds, or of each by its name; `default` is for the others. Default 1 m. */
  readonly syncPeriod?: Duration | SyncPeriods
}

export type SyncPeriods = { readonly [kind: string]: Duration }

export function createKonnect({
  fetch = globalThis.fetch,
  rate = { perSecond: 20, burst: 100 },
  syncPeriod = '1m',
}: KonnectOptions = {}): Konnect {
  const budgets = createRateBudgets(rate)
  const organizations = new Map<string, string>()
  const organizationOf = async (client: KonnectClient): Promise<string> => {
    const id = organizations.get(client.account) ?? (await askOrganization(client))
    organizations.set(client.account, id)
    return id
  }
  return {
    fetch,
    budgetOf: ({ account }) => budgets(account),
    organizationOf,
    syncPeriodOf: ({ kind }) =>
      typeof syncPeriod === 'object' ? (syncPeriod[kind] ?? syncPeriod['default'] ?? '1m') : syncPeriod,
    placeOf: async (client) => `${client.serverURL} organization ${await organizationOf(client)}`,
  }
}

async function askOrganization(client: KonnectClient): Promise<string> {
  const url = `${globalServer(client.serverURL)}/v3/organizations/me`
  try {
    const { id } = await requireAnswer(client.call(`GET ${url}`))
    return id
  } catch (error) {
    // What is not there is the question, and never the entity that it was asked for.
    if (error instanceof HttpError && error.status === 404) throw new HttpError(502, error.message, { cause: error })
    throw error
  }
}

/**
 * Organizations are the same in all regions, and asked for at the global server. Any other server has everything
 * itself.
 */
function globalServer(serverURL: string): string {
  return serverURL.replace(/^https:\/\/[a-z]+\.api\.konghq\.com$/, 'https://global.api.konghq.com')
}
