import { findInstallations, type Installation } from '../../../functions/reconcilers/postgres/server/installations.ts'

/** The installations of PostgreSQL that a search of this PATH finds, in order; the usual directories are left out. */
export async function findAll(path: string): Promise<readonly Installation[]> {
  const found: Installation[] = []
  const search = findInstallations({ path, shelves: [] }, AbortSignal.timeout(60_000))
  for await (const installation of search) found.push(installation)
  return found
}
