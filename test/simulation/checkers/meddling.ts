import { conditionOf } from '../../../shared/model/conditions.ts'
import { equal } from '../../../shared/model/json.ts'
import { isDeleting } from '../../../shared/model/object.ts'
import { simGroup } from '../addresses.ts'
import { auditType } from '../meddling-acts.ts'
import { runKinds } from '../scenario.ts'
import { isPoison, named, objectsOf, type Checker, type Scene } from './checker.ts'

/**
 * A status is nobody's desired state: who writes one changes nothing else, and a condition of their own stays beside
 * what the reconciler reports. Whoever takes the finalizer of a living object has it back with the next run.
 */
export function createMeddling({ table, outside, users, report }: Scene): Checker {
  const { audits } = users.meddled
  return {
    write: ({ type, before, after, touched }) => {
      if (type !== 'modified' || before === undefined || !dubbedKinds.includes(after.object.kind)) return
      const hasStatus = touched.includes('status')
      if (!hasStatus && before.object.status !== undefined && !equal(before.object.status, after.object.status))
        report(`statuses: a write of ${named(after)} that touches ${touched.join(', ')} changes its status`)
    },
    unmet: () =>
      objectsOf(table, ...runKinds).flatMap((stored) => {
        const { object } = stored
        const { uid, finalizers = [] } = object.metadata
        const audit = conditionOf(object, auditType)?.message
        const isLoose =
          object.kind === 'Gadget' && outside.entities.has(uid) && !finalizers.some((name) => name.startsWith(simGroup))
        return [
          ...(audits.get(uid)?.has(audit) === false
            ? [`statuses: ${named(stored)} has the condition of somebody else as ${audit}`]
            : []),
          ...(isLoose && !isDeleting(object) && !isPoison(stored)
            ? [`promise 8, holders: ${named(stored)} has an entity outside and no finalizer`]
            : []),
        ]
      }),
  }
}

const dubbedKinds: readonly string[] = ['Gadget', 'Errand', 'Ledger']
