import { installRoles } from '../../resources/bootstrap-roles.ts'
import { startLocalCore, type FollowedCore, type LocalCoreOptions } from './core.ts'

/** The core, with the roles that are there from the first start. If they cannot be written, nothing runs on. */
export async function startCoreWithRoles(options: LocalCoreOptions): Promise<FollowedCore> {
  const core = await startLocalCore(options)
  try {
    await installRoles(core.resources, options.controllers)
    return core
  } catch (error) {
    await core.stop(0)
    throw error
  }
}
