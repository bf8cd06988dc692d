import type { ObjectOf } from '../../../shared/index.ts'
import type { PostgresDatabase } from './kinds.ts'

/** What the database and its owner are called on the server. */
export function namesOf({ metadata, spec }: ObjectOf<typeof PostgresDatabase>): {
  readonly databaseName: string
  readonly roleName: string
} {
  const databaseName = spec.database ?? metadata.name.replaceAll(/[-.]/g, '_')
  return { databaseName, roleName: spec.role ?? databaseName }
}
