/** What is the same for all clusters of an installation. */
export interface RdsSettings {
  /** Names this control plane: what another one has made is not ours, though its objects have the same names. */
  readonly controlPlane: string
  /** Where servers are unless their object says otherwise; left out, the account's default. */
  readonly subnetGroup?: string
  readonly securityGroups?: readonly string[]
}

/**
 * From `SETPOINT_PLANE`, which is the same for good, though a restored table takes the place of the first one, and from
 * `RDS_SUBNET_GROUP` and `RDS_SECURITY_GROUPS` (ids with commas between them). Where the first is not told, the table
 * stands for it (`SETPOINT_TABLE`). Throws a TypeError without both.
 */
export function rdsSettingsFrom(environment: Readonly<Record<string, string | undefined>>): RdsSettings {
  const controlPlane = environment['SETPOINT_PLANE'] || (environment['SETPOINT_TABLE'] ?? '')
  const subnetGroup = environment['RDS_SUBNET_GROUP'] ?? ''
  const securityGroups = (environment['RDS_SECURITY_GROUPS'] ?? '').split(',').filter((id) => id !== '')
  if (controlPlane === '') throw new TypeError('SETPOINT_TABLE is not set')
  return {
    controlPlane,
    ...(subnetGroup === '' ? {} : { subnetGroup }),
    ...(securityGroups.length === 0 ? {} : { securityGroups }),
  }
}
