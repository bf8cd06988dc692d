import type { Checker, Scene } from './checker.ts'
import { textOf, type Expectation } from '../users.ts'

/** Promise 1: what was acknowledged is there in the end, as it was acknowledged. */
export function createAcknowledged({ table, users }: Scene): Checker {
  return {
    unmet: () =>
      [...users.expectations.values()].flatMap((expectation) => {
        const wrong = wrongWith(expectation)
        return wrong === undefined ? [] : [`promise 1, acknowledged: ${expectation.kind} ${expectation.name} ${wrong}`]
      }),
  }

  function wrongWith({ kind, name, specs, mayExist, mustExist }: Expectation): string | undefined {
    const stored = table.items.get(textOf(kind, name))
    if (stored === undefined) return mustExist ? 'is not there' : undefined
    // Promise 8 looks at what should be gone.
    if (!mayExist) return undefined
    const { spec, data } = stored.object
    const is = JSON.stringify(kind === 'ConfigMap' ? { data } : { spec })
    return specs.has(is) ? undefined : `is ${is}, not one of ${[...specs].join(', ')}`
  }
}
