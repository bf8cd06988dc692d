import { waiting } from '../../../shared/index.ts'
import { PostgresFailure } from './failure.ts'
import type {
  ClusterIdentity,
  PostgresProvider,
  ProviderRun,
  Stage,
  StageResult,
  ProviderWait,
  WantedCluster,
} from './provider.ts'
import { createAppliedNotes } from './rds/applied-notes.ts'
import {
  changesOf,
  composeInstance,
  isServing,
  majorOf,
  typeName,
  unchangeable,
  type Instance,
} from './rds/instance.ts'
import { identifierOf, isOwnedBy, notOurs, ownerTagOf, type Tag } from './rds/ownership.ts'
import { composeGroup, groupTypeName, hasParameters, type ParameterGroup } from './rds/parameter-group.ts'
import { createRdsRequests, type Connect, type FailedLook, type RdsRequests } from './rds/requests.ts'
import { resourcesOf, type RdsResources } from './rds/resource.ts'
import type { RdsSettings } from './rds/settings.ts'

export interface AwsProviderOptions {
  readonly connect: Connect
  readonly settings: () => RdsSettings
}

/**
 * Servers as DB instances of RDS, by the Cloud Control API: encrypted, not public, with a week of backups, protected
 * against deletion until their object is deleted. An instance of the right name is ours if its tag says so; others are
 * not touched. When its object is deleted, RDS keeps a final snapshot: Cloud Control always asks for one.
 */
export function awsProvider({ connect, settings }: AwsProviderOptions): PostgresProvider {
  const instances = resourcesOf<Instance>(typeName, connect)
  const groups = resourcesOf<ParameterGroup>(groupTypeName, connect)
  const requestsOf = ({ uid }: ClusterIdentity, run: ProviderRun): RdsRequests => createRdsRequests(connect, uid, run)
  const nameOf = (cluster: ClusterIdentity): string => identifierOf(cluster, settings())
  const isOurs = (cluster: ClusterIdentity, found: Tagged): boolean => isOwnedBy(found, ownerTagOf(cluster, settings()))

  /** What there is of that type for the cluster; `undefined` if there is none. Throws for what is another's. */
  async function findOurs<Found extends Tagged>(
    resources: RdsResources<Found>,
    cluster: ClusterIdentity,
  ): Promise<Found | undefined> {
    const found = await resources.find(nameOf(cluster))
    if (found === undefined || isOurs(cluster, found)) return found
    throw notOurs(`${resources.typeName} ${nameOf(cluster)}`)
  }

  /** First, since it looks how the request goes on that is under way. */
  const parametersStage: Stage['run'] = async (wanted, run) => {
    const requests = requestsOf(wanted, run)
    const applied = createAppliedNotes(run)
    const look = await requests.look()
    if (look.state === 'waiting') return { waiting: look.wait }
    if (look.state === 'failed') {
      applied.forget()
      // Of what exists already we find out below whether it is ours.
      if (look.code !== 'AlreadyExists') throw look.error
    }
    if (!applied.hasGroup(wanted)) return {}
    if (wanted.machine.aws?.parameterGroup !== undefined) throw twoGroups()
    const group = await findOurs(groups, wanted)
    if (group === undefined) {
      const major = majorOf(await findOurs(instances, wanted), wanted)
      return { waiting: await groups.create(composeGroup(wanted, major, settings()), requests) }
    }
    if (hasParameters(group, wanted.parameters)) return {}
    const waits = await groups.update(nameOf(wanted), { Parameters: { ...wanted.parameters } }, requests)
    return { waiting: waits, changes: ['asked RDS to change parameters'] }
  }

  const createStage: Stage['run'] = async (wanted, run) => {
    if ((await findOurs(instances, wanted)) !== undefined) return {}
    const desired = composeInstance(withGroup(wanted, run), settings())
    createAppliedNotes(run).note(wanted)
    const waits = await instances.create(desired, requestsOf(wanted, run))
    return { waiting: waits, changes: [`asked RDS for DB instance ${nameOf(wanted)}`] }
  }

  const configureStage: Stage['run'] = async (cluster, run) => {
    const wanted = withGroup(cluster, run)
    const instance = await mustFind(wanted)
    const fixed = unchangeable(instance, wanted, settings())
    if (fixed.length > 0)
      throw new PostgresFailure('terminal', 'NotUpdatable', `RDS does not change ${fixed.join(', ')} of a DB instance`)
    const applied = createAppliedNotes(run)
    const changes = { ...changesOf(instance, wanted, settings()), ...applied.findMissing(cluster, nameOf(cluster)) }
    if (Object.keys(changes).length === 0) return {}
    if (!isServing(instance)) return { waiting: notServing(instance) }
    const waits = await instances.update(
      nameOf(wanted),
      { ...changes, ApplyImmediately: true },
      requestsOf(wanted, run),
    )
    // Only now: if the call fails, they are still the old ones.
    applied.note(cluster)
    return { waiting: waits, changes: [`asked RDS to change ${Object.keys(changes).join(', ')}`] }
  }

  function withGroup(wanted: WantedCluster, run: ProviderRun): WantedCluster {
    if (!createAppliedNotes(run).hasGroup(wanted)) return wanted
    const aws = { ...wanted.machine.aws, parameterGroup: nameOf(wanted) }
    return { ...wanted, machine: { ...wanted.machine, aws } }
  }

  const runStage: Stage['run'] = async (wanted): Promise<StageResult> => {
    const instance = await mustFind(wanted)
    const { Endpoint: { Address: host, Port: port } = {}, EngineVersion: version = '' } = instance
    if (!isServing(instance) || host === undefined || port === undefined) return { waiting: notServing(instance) }
    return { endpoint: { host, port: Number(port), version } }
  }

  /** It was there a moment ago. */
  async function mustFind(wanted: WantedCluster): Promise<Instance> {
    const instance = await findOurs(instances, wanted)
    if (instance !== undefined) return instance
    throw new PostgresFailure('retryable', 'InstanceNotFound', 'the DB instance has just gone')
  }

  const remove: PostgresProvider['remove'] = async (cluster, run) => {
    const requests = requestsOf(cluster, run)
    const look = await requests.look()
    if (look.state === 'waiting') return look.wait
    if (look.state === 'failed' && look.operation !== 'CREATE' && look.code !== 'NotFound') throw again(look)
    const instance = await instances.find(nameOf(cluster))
    if (instance !== undefined && isOurs(cluster, instance)) return removeInstance(cluster, instance, requests)
    if (await requests.mayBeCreated(nameOf(cluster))) return later('Creating', 'an earlier request is under way')
    const group = await groups.find(nameOf(cluster))
    return group === undefined || !isOurs(cluster, group) ? 'gone' : groups.remove(nameOf(cluster), requests)
  }

  async function removeInstance(
    cluster: ClusterIdentity,
    instance: Instance,
    requests: RdsRequests,
  ): Promise<ProviderWait> {
    const { DBInstanceStatus: status, DeletionProtection: isProtected } = instance
    if (status === 'deleting') return later('Deleting', 'RDS deletes the DB instance')
    return isProtected === true
      ? instances.update(nameOf(cluster), { DeletionProtection: false, ApplyImmediately: true }, requests)
      : instances.remove(nameOf(cluster), requests)
  }

  return {
    // A look costs a call of an API that allows few, and RDS puts most things back by itself.
    resync: '10m',
    stages: [
      { condition: 'ParametersReady', run: parametersStage },
      { condition: 'Created', run: createStage },
      { condition: 'Configured', run: configureStage },
      { condition: 'Running', run: runStage },
    ],
    remove,
    retain: async (cluster) => `DB instance ${nameOf(cluster)} goes on running, and costing`,
  }
}

interface Tagged {
  readonly Tags?: readonly Tag[]
}

function notServing({ DBInstanceStatus: status = 'unknown' }: Instance): ProviderWait {
  return later('NotAvailable', `the DB instance is ${status}`)
}

/** Clean-up goes on whatever it was: the next try may be of another request. */
function again({ code, error }: FailedLook): Error {
  return error instanceof PostgresFailure
    ? new PostgresFailure('retryable', code, error.message, { cause: error })
    : error
}

function later(reason: string, message: string): ProviderWait {
  return { ...waiting(reason, message), after: '30s' }
}

function twoGroups(): PostgresFailure {
  const message = 'spec.parameters and spec.aws.parameterGroup exclude each other: an instance has one group'
  return new PostgresFailure('terminal', 'TwoParameterGroups', message)
}
