import type { Checker, Scene } from './checker.ts'
import type { JsonObject } from '../../../shared/index.ts'
import { presentSpecOf } from '../kinds/relic.ts'
import { presentTenantSpecOf } from '../kinds/tenant.ts'
import type { KindName } from '../scenario.ts'
import { isContainer, textOf } from '../addresses.ts'
import { livingHomeOf, type Expectation } from '../users.ts'

/** Promise 1: what was acknowledged is there in the end, as it was acknowledged. */
export function createAcknowledged({ table, users }: Scene): Checker {
  return {
    unmet: () =>
      [...users.expectations.values()].flatMap((expectation) => {
        const wrong = wrongWith(expectation)
        return wrong === undefined ? [] : [`promise 1, acknowledged: ${expectation.kind} ${expectation.name} ${wrong}`]
      }),
  }

  function wrongWith(expectation: Expectation): string | undefined {
    const { kind, name, namespace, specs, mayExist, mustExist, home } = expectation
    const stored = table.items.get(textOf(kind, name, namespace))
    // What was in a namespace that is gone has gone with it, and what had its definition.
    const isAtHome = livingHomeOf(table, expectation) === home
    if (stored === undefined) return mustExist && isAtHome ? 'is not there' : undefined
    // Promise 8 looks at what should be gone.
    if (!mayExist || isContainer(kind)) return undefined
    const { spec = {}, data } = stored.object
    const said = kind === 'ConfigMap' ? { data } : { spec: presentOf(kind, spec) }
    const is = JSON.stringify(said)
    return specs.has(is) ? undefined : `is ${is}, not one of ${[...specs].join(', ')}`
  }
}

/** A spec as the present version of its kind has it. */
function presentOf(kind: KindName, spec: JsonObject): JsonObject {
  if (kind === 'Relic') return presentSpecOf(spec)
  return kind === 'Tenant' ? { ...presentTenantSpecOf(spec) } : spec
}
