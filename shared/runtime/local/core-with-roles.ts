import { installRoles } from '../../resources/bootstrap-roles.ts'
import { startLocalCore, type LocalCore, type LocalCoreOptions } from './core.ts'

/** The core with the roles that are there from the first start. Where they cannot be written, nothing is left running. */
export async function startCoreWithRoles(options: LocalCoreOptions): Promise<LocalCore> {
  const core = await startLocalCore(options)
  try {
    await installRoles(core.resources, options.controllers)
    return core
  } catch (error) {
    await core.stop(0)
    throw error
  }
}
