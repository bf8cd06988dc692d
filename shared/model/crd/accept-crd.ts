import type { Condition } from '../conditions.ts'
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionStatus,
  SentDefinition,
} from '../custom-resource-definition.ts'
import { equal } from '../json.ts'
import { timestamp } from '../time.ts'
import { acceptNames } from './accept-names.ts'
import { checkShape } from './check-crd.ts'

/**
 * The definition as it is served: left-out names filled in, and the status Kubernetes gives it: the names it gets among
 * the `others` of its group, the conditions NamesAccepted and Established, the versions objects were ever stored in.
 * The same reference if all that was so already, or if the object is not even shaped like a definition.
 */
export function acceptCrd<Definition extends SentDefinition>(
  object: Definition,
  nowMs: number,
  others: Iterable<CustomResourceDefinition> = [],
): Definition {
  if (checkShape(object).length > 0) return object
  const crd = object as CustomResourceDefinition
  const complete = { ...crd, spec: withDefaults(crd.spec) }
  const accepted = { ...complete, status: acceptStatus(complete, nowMs, others) }
  return equal(accepted, crd) ? object : (accepted as unknown as Definition)
}

function withDefaults(spec: CustomResourceDefinitionSpec): CustomResourceDefinitionSpec {
  const { kind, singular, listKind } = spec.names
  // A name may be said as the empty text, which is none.
  const names = { ...spec.names, singular: singular || kind.toLowerCase(), listKind: listKind || `${kind}List` }
  return { conversion: { strategy: 'None' }, ...spec, names }
}

function acceptStatus(
  crd: CustomResourceDefinition,
  nowMs: number,
  others: Iterable<CustomResourceDefinition>,
): CustomResourceDefinitionStatus {
  const { names, conflict } = acceptNames(crd, others)
  const { conditions = [], storedVersions = [] } = crd.status ?? {}
  const isAccepted = conflict === undefined
  const wasEstablished = conditions.some(({ type, status }) => type === 'Established' && status === 'True')
  // An earlier definition may turn out to have them.
  const hasNames = names.kind !== '' && names.plural !== ''
  const current: readonly Omit<Condition, 'lastTransitionTime'>[] = [
    { type: 'NamesAccepted', status: isAccepted ? 'True' : 'False', ...(conflict ?? noConflict) },
    { type: 'Established', ...(isAccepted || (wasEstablished && hasNames) ? established : notEstablished) },
  ]
  const storage = crd.spec.versions.find((version) => version.storage)
  const isStored = storage === undefined || storedVersions.includes(storage.name)
  return {
    conditions: current.reduce((all, condition) => withCondition(all, condition, nowMs), conditions),
    acceptedNames: names,
    storedVersions: isStored ? storedVersions : [...storedVersions, storage.name],
  }
}

const noConflict = { reason: 'NoConflicts', message: 'no conflicts found' }
const established = {
  status: 'True',
  reason: 'InitialNamesAccepted',
  message: 'the initial names have been accepted',
} as const
const notEstablished = { status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' } as const

/** In its place, with the time of its last change of status. */
function withCondition(
  conditions: readonly Condition[],
  condition: Omit<Condition, 'lastTransitionTime'>,
  nowMs: number,
): readonly Condition[] {
  const before = conditions.find(({ type }) => type === condition.type)
  const isSame = before?.status === condition.status && before.lastTransitionTime !== undefined
  const next = { ...condition, lastTransitionTime: isSame ? before.lastTransitionTime : timestamp(nowMs) }
  if (before === undefined) return [...conditions, next]
  return conditions.map((other) => (other === before ? next : other))
}
