import { createHash } from 'node:crypto'
import type { JsonObject } from '../../../../shared/index.ts'
import type { WantedCluster } from '../provider.ts'
import { tagsOf, type Tag, identifierOf } from './ownership.ts'
import type { RdsSettings } from './settings.ts'

/**
 * `AWS::RDS::DBParameterGroup`: how RDS takes the parameters of a cluster. A cluster that declares some has a group of
 * its own, of the instance's name, and keeps it from then on, if need be empty, until it names another.
 */
export const groupTypeName = 'AWS::RDS::DBParameterGroup'

export interface ParameterGroup {
  /** Those that are not as the family has them. */
  readonly Parameters?: JsonObject
  readonly Tags?: readonly Tag[]
}

export function composeGroup(wanted: WantedCluster, major: string, settings: RdsSettings): JsonObject {
  return {
    DBParameterGroupName: identifierOf(wanted, settings),
    Description: `PostgresCluster ${wanted.namespace}/${wanted.name}`,
    Family: `postgres${major}`,
    Parameters: { ...wanted.parameters },
    Tags: tagsOf(wanted, settings),
  }
}

export function hasParameters({ Parameters = {} }: ParameterGroup, wanted: WantedCluster['parameters']): boolean {
  return sortParameters(Parameters) === sortParameters(wanted)
}

/** For notes. */
export function digestOfParameters(parameters: WantedCluster['parameters']): string {
  return createHash('sha256').update(sortParameters(parameters)).digest('base64url').slice(0, 16)
}

function sortParameters(parameters: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(Object.entries(parameters).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
