/** What is the same for all clusters of an installation. */
export interface RdsSettings {
  /** Names this control plane: what another one has made is not ours, though its objects have the same names. */
  readonly clusterId: string
  /** Where servers are unless their object says otherwise; left out, the account's default. */
  readonly subnetGroup?: string
  readonly securityGroups?: readonly string[]
}

/**
 * From `SETPOINT_CLUSTER_ID`, `SETPOINT_RDS_SUBNET_GROUP` and `SETPOINT_RDS_SECURITY_GROUPS` (ids with commas between them). Throws a
 * TypeError without the first.
 */
export function rdsSettingsFrom(environment: Readonly<Record<string, string | undefined>>): RdsSettings {
  const clusterId = environment['SETPOINT_CLUSTER_ID']
  const subnetGroup = environment['SETPOINT_RDS_SUBNET_GROUP']
  const securityGroups = (environment['SETPOINT_RDS_SECURITY_GROUPS'] ?? '').split(',').filter((id) => id !== '')
  if (clusterId === undefined || clusterId === '') throw new TypeError('SETPOINT_CLUSTER_ID is not set')
  return {
    clusterId,
    ...(subnetGroup === undefined || subnetGroup === '' ? {} : { subnetGroup }),
    ...(securityGroups.length === 0 ? {} : { securityGroups }),
  }
}
