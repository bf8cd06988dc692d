import { isBarred, isLocked, tierOf } from '../kinds/pass.ts'
import type { TableWrite } from '../plane.ts'
import { named, specOf, type Checker, type Scene } from './checker.ts'

/**
 * Hooks: nothing is stored, changed or deleted that the author of the kind refuses, and all is as the author completes
 * it.
 */
export function createHooks({ report }: Scene): Checker {
  /** The greatest value that each has had. */
  const greatest = new Map<string, number>()

  const wrongWith = ({ type, before, after }: TableWrite): string | undefined => {
    const { value, tier } = specOf(after)
    const was = before && Number(specOf(before)['value'])
    const { deletionTimestamp, labels } = after.object.metadata
    const isDeleted = type === 'removed' || deletionTimestamp !== before?.object.metadata.deletionTimestamp
    if (isDeleted) return isLocked(Number(value)) ? 'is deleted, and is locked' : undefined
    if (isBarred(Number(value))) return 'is barred'
    if (was !== undefined && Number(value) < was) return `falls from ${was}`
    if (tier !== tierOf(Number(value)) || labels?.['tier'] !== tier)
      return `has the tier ${String(tier)} and the label ${labels?.['tier']}`
    return undefined
  }

  return {
    write: (write) => {
      const { object } = write.after
      if (object.kind !== 'Pass') return
      const { name } = object.metadata
      greatest.set(name, Math.max(greatest.get(name) ?? 0, Number(object.spec?.['value'])))
      const wrong = wrongWith(write)
      if (wrong !== undefined) report(`hooks: ${named(write.after)} ${JSON.stringify(specOf(write.after))} ${wrong}`)
    },
    answered: ({ step: { kind, act, name, value }, status }) => {
      if (kind !== 'Pass' || status !== 422 || act === 'delete') return
      if (!isBarred(value) && value >= (greatest.get(name) ?? 0))
        report(`hooks: Pass ${name} may have the value ${value}, and that is refused`)
    },
  }
}
