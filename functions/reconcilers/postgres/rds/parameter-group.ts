import { createHash } from 'node:crypto'
import type { JsonObject } from '../../../../shared/index.ts'
import type { ProviderRun, WantedCluster } from '../provider.ts'
import { tagsOf, type Tag, identifierOf } from './ownership.ts'
import type { RdsSettings } from './settings.ts'

/**
 * `AWS::RDS::DBParameterGroup`: how RDS takes the parameters of a cluster. A cluster that declares some has a group of its own, of
 * the instance's name, and keeps it from then on, if need be empty, until it names another.
 */
export const groupTypeName = 'AWS::RDS::DBParameterGroup'

export interface ParameterGroup {
  /** Those that are not as the family has them. */
  readonly Parameters?: JsonObject
  readonly Tags?: readonly Tag[]
}

export function desiredGroup(wanted: WantedCluster, major: string, settings: RdsSettings): JsonObject {
  return {
    DBParameterGroupName: identifierOf(wanted, settings),
    Description: `PostgresCluster ${wanted.namespace}/${wanted.name}`,
    Family: `postgres${major}`,
    Parameters: { ...wanted.parameters },
    Tags: tagsOf(wanted, settings),
  }
}

export function hasParameters({ Parameters = {} }: ParameterGroup, wanted: WantedCluster['parameters']): boolean {
  return sorted(Parameters) === sorted(wanted)
}

/**
 * Notes which parameters the instance was last told to take: a change of its group is not enough for those that need a restart, which
 * comes with the next change of the instance itself.
 */
export function appliedParameters({ notes }: ProviderRun) {
  return {
    /** Whether the cluster has a group of its own: it declares parameters, or did and names no other. */
    hasGroup: ({ parameters, machine }: WantedCluster): boolean =>
      Object.keys(parameters).length > 0 || (notes.get(noteKey) !== undefined && !machine.aws?.parameterGroup),
    areApplied: ({ parameters }: WantedCluster): boolean => notes.get(noteKey) === digestOf(parameters),
    note: ({ parameters }: WantedCluster): void => notes.set(noteKey, digestOf(parameters)),
    /** A request failed: who knows. */
    forget: (): void => {
      if (notes.get(noteKey) !== undefined) notes.set(noteKey, '')
    },
  }
}

const noteKey = 'rds-parameters'

function digestOf(parameters: WantedCluster['parameters']): string {
  return createHash('sha256').update(sorted(parameters)).digest('base64url').slice(0, 16)
}

function sorted(parameters: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(Object.entries(parameters).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
