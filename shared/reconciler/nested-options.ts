import { DefinitionError } from '../model/errors.ts'
import type { DeletionPolicy } from './controller.ts'
import { refuseUnknownOptions } from './known-options.ts'
import type { RateLimit } from './rate-limit.ts'
import type { Grant } from './rights.ts'
import type { VaultGrants } from './vault-grants.ts'

/** What of a definition has parts of its own. */
interface Nested {
  readonly watches?: readonly object[]
  readonly grants?: readonly Grant[]
  readonly rateLimit?: RateLimit
  readonly vault?: VaultGrants
  readonly deletionPolicy?: DeletionPolicy
}

/** Refuses parts of options that would do nothing, or something else than they say. */
export function checkNestedOptions(name: string, options: Nested): void {
  const { watches = [], grants = [], rateLimit = {}, vault = {}, deletionPolicy = 'Delete' } = options
  refuseUnknownOptions(`${name}: rateLimit`, rateLimit, { object: true, controller: true })
  refuseUnknownOptions(`${name}: rateLimit.object`, rateLimit.object ?? {}, { runs: true, within: true })
  refuseUnknownOptions(`${name}: rateLimit.controller`, rateLimit.controller ?? {}, { perSecond: true, burst: true })
  refuseUnknownOptions(`${name}: vault`, vault, { reads: true, writes: true })
  requireOneOf(`${name}: deletionPolicy`, deletionPolicy, ['Delete', 'Retain'])
  for (const { access } of grants) requireOneOf(`${name}: grants: access`, access, ['read', 'write'])
  const isWatch = (watch: object): boolean => 'references' in watch || 'primaries' in watch
  if (!watches.every(isWatch))
    throw new DefinitionError(`${name}: watches: give what reference(…) or mapped(…) returns; children go into owns`)
}

function requireOneOf(what: string, given: string, values: readonly string[]): void {
  if (!values.includes(given)) throw new DefinitionError(`${what} is ${given}: give ${values.join(' or ')}`)
}
