import type { Json, JsonObject } from '../../../../shared/index.ts'
import type { Machine, WantedCluster } from '../provider.ts'
import { identifierOf, tagsOf, type Tag } from './ownership.ts'
import type { RdsSettings } from './settings.ts'

/**
 * `AWS::RDS::DBInstance`: what we want of one, whose it is, and what differs. Property names are those of its resource
 * schema.
 */
export const typeName = 'AWS::RDS::DBInstance'

/** The properties of an instance as Cloud Control gives them; what is write-only is not among them. */
export interface Instance {
  readonly DBInstanceIdentifier?: string
  readonly DBInstanceStatus?: string
  readonly DeletionProtection?: boolean
  readonly Endpoint?: { readonly Address?: string; readonly Port?: string }
  readonly EngineVersion?: string
  readonly Tags?: readonly Tag[]
  readonly [property: string]: unknown
}

const classes = { small: 'db.t4g.small', medium: 'db.m7g.large', large: 'db.r7g.xlarge' } as const
const defaultVersion = '17'

/** All that a new instance is made with, the password included. */
export function composeInstance(wanted: WantedCluster, settings: RdsSettings): JsonObject {
  const { machine, superuser } = wanted
  return {
    ...composeKept(wanted, settings),
    ...composeChosenOnce(wanted, settings),
    AllocatedStorage: String(storageGiB(machine)),
    EngineVersion: majorOf(undefined, wanted),
    MasterUserPassword: superuser.password,
    StorageType: 'gp3',
    Tags: tagsOf(wanted, settings),
  }
}

/** Properties that are put back when somebody changes them. */
function composeKept({ machine, port }: WantedCluster, settings: RdsSettings): JsonObject {
  const { aws = {}, class: size = 'small' } = machine
  const securityGroups = aws.securityGroups ?? settings.securityGroups
  return {
    BackupRetentionPeriod: 7,
    CopyTagsToSnapshot: true,
    DBInstanceClass: aws.instanceClass ?? classes[size],
    DeletionProtection: true,
    Port: String(port ?? 5432),
    PubliclyAccessible: false,
    ...(aws.parameterGroup === undefined ? {} : { DBParameterGroupName: aws.parameterGroup.toLowerCase() }),
    ...(securityGroups === undefined ? {} : { VPCSecurityGroups: [...securityGroups] }),
  }
}

/** Properties that RDS does not change (`createOnlyProperties`). */
function composeChosenOnce(wanted: WantedCluster, settings: RdsSettings): JsonObject {
  const subnetGroup = wanted.machine.aws?.subnetGroup ?? settings.subnetGroup
  return {
    DBInstanceIdentifier: identifierOf(wanted, settings),
    Engine: 'postgres',
    MasterUsername: wanted.superuser.user,
    StorageEncrypted: true,
    ...(subnetGroup === undefined ? {} : { DBSubnetGroupName: subnetGroup.toLowerCase() }),
  }
}

/** The names of properties that are otherwise than declared, and cannot be changed. */
export function unchangeable(instance: Instance, wanted: WantedCluster, settings: RdsSettings): readonly string[] {
  return [
    ...Object.keys(different(instance, composeChosenOnce(wanted, settings))),
    ...(isVersion(instance, wanted.machine.version) ? [] : ['EngineVersion']),
  ]
}

/** What has to be changed: the properties that differ, with the values they are to have. */
export function changesOf(instance: Instance, wanted: WantedCluster, settings: RdsSettings): JsonObject {
  const allocated = Number(instance['AllocatedStorage'])
  const grows = storageGiB(wanted.machine) > allocated
  return {
    ...different(instance, composeKept(wanted, settings)),
    // Storage never shrinks, and RDS may have grown it by itself.
    ...(grows ? { AllocatedStorage: String(storageGiB(wanted.machine)) } : {}),
  }
}

function storageGiB({ storageGiB: wanted = 20 }: Machine): number {
  return wanted
}

/** The major version that an instance has, or a new one is to have. */
export function majorOf(instance: Instance | undefined, { machine }: WantedCluster): string {
  return instance?.EngineVersion?.split('.')[0] ?? machine.version ?? defaultVersion
}

function isVersion({ EngineVersion = '' }: Instance, major: string | undefined): boolean {
  return major === undefined || EngineVersion.split('.')[0] === major
}

function different(instance: Instance, wanted: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(wanted).filter(([name, value]) => !isSame(instance[name], value ?? null)))
}

/** Lists of this type are sets. */
function isSame(is: unknown, wanted: Json): boolean {
  if (!Array.isArray(is) || !Array.isArray(wanted)) return is === wanted
  return is.length === wanted.length && wanted.every((one) => is.includes(one))
}

/** States in which an instance takes connections (RDS User Guide, "Viewing Amazon RDS DB instance status"). */
const serving = new Set([
  'available',
  'backing-up',
  'configuring-enhanced-monitoring',
  'configuring-log-exports',
  'maintenance',
  'storage-config-upgrade',
  'storage-optimization',
])

export function isServing({ DBInstanceStatus: status = '' }: Instance): boolean {
  return serving.has(status)
}
