import { createHash } from 'node:crypto'
import type { JsonObject } from '../../../../shared/index.ts'
import type { ProviderRun, WantedCluster } from '../provider.ts'
import { digestOfParameters } from './parameter-group.ts'

/**
 * What an instance was last told and RDS does not show, as the cluster's notes have it: its password, and the
 * parameters of its own group. A change of the group alone is not enough for those that need a restart, which comes
 * with the next change of the instance.
 */
export interface AppliedNotes {
  /** Whether the cluster has a group of its own: it declares parameters, or did and names no other. */
  hasGroup(wanted: WantedCluster): boolean
  note(wanted: WantedCluster): void
  /** The properties to tell the instance once more. */
  findMissing(wanted: WantedCluster, groupName: string): JsonObject
  /** A request failed: who knows what it has applied. */
  forget(): void
}

export function createAppliedNotes({ notes }: ProviderRun): AppliedNotes {
  const hasGroup: AppliedNotes['hasGroup'] = ({ parameters, machine }) =>
    Object.keys(parameters).length > 0 || (notes.get(parametersKey) !== undefined && !machine.aws?.parameterGroup)
  const isGroupApplied = ({ parameters }: WantedCluster): boolean =>
    notes.get(parametersKey) === digestOfParameters(parameters)

  return {
    hasGroup,
    note: (wanted) => {
      notes.set(passwordKey, digestOfPassword(wanted))
      if (hasGroup(wanted)) notes.set(parametersKey, digestOfParameters(wanted.parameters))
    },
    findMissing: (wanted, groupName) => ({
      ...(notes.get(passwordKey) === digestOfPassword(wanted) ? {} : { MasterUserPassword: wanted.superuser.password }),
      ...(!hasGroup(wanted) || isGroupApplied(wanted) ? {} : { DBParameterGroupName: groupName }),
    }),
    forget: () => {
      notes.set(passwordKey, undefined)
      if (notes.get(parametersKey) !== undefined) notes.set(parametersKey, '')
    },
  }
}

const passwordKey = 'rds-password'
const parametersKey = 'rds-parameters'

/** Passwords are of chance and long: who has the digest has nothing. */
function digestOfPassword({ superuser }: WantedCluster): string {
  return createHash('sha256').update(superuser.password).digest('base64url')
}
