import { keyText } from '../../../shared/model/object-key.ts'
import { parseApiVersion } from '../../../shared/model/object.ts'
import type { Outside } from '../gadget.ts'
import type { Plane } from '../plane.ts'
import type { Expectation } from '../simulate.ts'

export interface EndOptions {
  readonly expectations: ReadonlyMap<string, Expectation>
  readonly plane: Plane
  readonly outside: Outside
  readonly report: (violation: string) => void
}

/**
 * After the calm. Promise 1: what was acknowledged is there, and was reconciled. Promise 8: what was deleted is gone, its entity
 * outside and its children with it. Promise 6: what waits says until when.
 */
export function checkEnd({ expectations, plane, outside, report }: EndOptions): void {
  const uids = new Set<string>()
  for (const [name, expectation] of expectations) checkOne(name, expectation)
  for (const uid of outside.entities.keys())
    if (!uids.has(uid)) report(`promise 8: an entity outside is left of ${uid}`)
  for (const [text, { object }] of plane.table.items) {
    const owner = object.metadata.ownerReferences?.[0]
    if (owner !== undefined && !uids.has(owner.uid)) report(`promise 8: ${text} outlived its owner`)
  }

  function checkOne(name: string, { values, mayExist, mustExist }: Expectation): void {
    const stored = plane.table.items.get(
      keyText({ group: 'simulation.setpoint.dev', kind: 'Gadget', namespace: 'default', name }),
    )
    if (stored === undefined) {
      if (mustExist) report(`promise 1: ${name} was acknowledged and is not there`)
      return
    }
    const { object, engine } = stored
    uids.add(object.metadata.uid)
    if (!mayExist) report(`promise 8: ${name} was deleted and is still there`)
    const value = Number(object.spec?.['value'])
    if (!values.has(value)) report(`promise 1: ${name} has value ${value}, not one of ${[...values].join(', ')}`)
    if (object.status?.['observedGeneration'] !== object.metadata.generation)
      report(
        `promise 1: ${name} is at generation ${object.metadata.generation}, observed ${String(object.status?.['observedGeneration'])}`,
      )
    if (outside.entities.get(object.metadata.uid) !== value)
      report(`promise 1: outside ${name} is ${String(outside.entities.get(object.metadata.uid))}, not ${value}`)
    const child = plane.table.items.get(
      keyText({ group: parseApiVersion('v1').group, kind: 'ConfigMap', namespace: 'default', name }),
    )
    if ((child?.object['data'] as { value?: string } | undefined)?.value !== String(value))
      report(`promise 1: the child of ${name} is not as declared`)
    if (engine.waiting === 'Backoff') report(`promise 1: ${name} still backs off: ${engine.lastError}`)
    if ((object.spec?.['mood'] === 'poll' || object.spec?.['mood'] === 'nap') && engine.nextRunAtMs === undefined)
      report(`promise 6: ${name} wants to run again and has no timer`)
  }
}
