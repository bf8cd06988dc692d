import { waiting } from '../../../shared/index.ts'
import { PostgresFailure } from './failure.ts'
import type {
  ClusterIdentity,
  PostgresProvider,
  ProviderRun,
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
export function awsProvider(options: AwsProviderOptions): PostgresProvider {
  const servers = new RdsServers(options)
  return {
    // A look costs a call of an API that allows few, and RDS puts most things back by itself.
    resync: '10m',
    stages: [
      // First, since it looks how the request goes on that is under way.
      { condition: 'ParametersReady', run: (wanted, run) => servers.applyParameters(wanted, run) },
      { condition: 'Created', run: (wanted, run) => servers.create(wanted, run) },
      { condition: 'Configured', run: (wanted, run) => servers.configure(wanted, run) },
      { condition: 'Running', run: (wanted) => servers.findEndpoint(wanted) },
    ],
    remove: (cluster, run) => servers.remove(cluster, run),
    retain: async (cluster) => `DB instance ${servers.nameOf(cluster)} goes on running, and costing`,
  }
}

class RdsServers {
  readonly #options: AwsProviderOptions
  readonly #instances: RdsResources<Instance>
  readonly #groups: RdsResources<ParameterGroup>

  constructor(options: AwsProviderOptions) {
    this.#options = options
    this.#instances = resourcesOf<Instance>(typeName, options.connect)
    this.#groups = resourcesOf<ParameterGroup>(groupTypeName, options.connect)
  }

  nameOf(cluster: ClusterIdentity): string {
    return identifierOf(cluster, this.#options.settings())
  }

  /** What there is of that type for the cluster; `undefined` if there is none. Throws for what is another's. */
  async #findOurs<Found extends Tagged>(
    resources: RdsResources<Found>,
    cluster: ClusterIdentity,
  ): Promise<Found | undefined> {
    const found = await resources.find(this.nameOf(cluster))
    if (found === undefined || this.#isOurs(cluster, found)) return found
    throw notOurs(`${resources.typeName} ${this.nameOf(cluster)}`)
  }

  async applyParameters(wanted: WantedCluster, run: ProviderRun): Promise<StageResult> {
    const requests = this.#requestsOf(wanted, run)
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
    const group = await this.#findOurs(this.#groups, wanted)
    if (group === undefined) {
      const major = majorOf(await this.#findOurs(this.#instances, wanted), wanted)
      return { waiting: await this.#groups.create(composeGroup(wanted, major, this.#options.settings()), requests) }
    }
    if (hasParameters(group, wanted.parameters)) return {}
    const waits = await this.#groups.update(this.nameOf(wanted), { Parameters: { ...wanted.parameters } }, requests)
    return { waiting: waits, changes: ['asked RDS to change parameters'] }
  }

  async create(wanted: WantedCluster, run: ProviderRun): Promise<StageResult> {
    if ((await this.#findOurs(this.#instances, wanted)) !== undefined) return {}
    const desired = composeInstance(this.#withGroup(wanted, run), this.#options.settings())
    createAppliedNotes(run).note(wanted)
    const waits = await this.#instances.create(desired, this.#requestsOf(wanted, run))
    return { waiting: waits, changes: [`asked RDS for DB instance ${this.nameOf(wanted)}`] }
  }

  async configure(cluster: WantedCluster, run: ProviderRun): Promise<StageResult> {
    const wanted = this.#withGroup(cluster, run)
    const instance = await this.#mustFind(wanted)
    const fixed = unchangeable(instance, wanted, this.#options.settings())
    if (fixed.length > 0)
      throw new PostgresFailure('terminal', 'NotUpdatable', `RDS does not change ${fixed.join(', ')} of a DB instance`)
    const applied = createAppliedNotes(run)
    const changes = {
      ...changesOf(instance, wanted, this.#options.settings()),
      ...applied.findMissing(cluster, this.nameOf(cluster)),
    }
    if (Object.keys(changes).length === 0) return {}
    if (!isServing(instance)) return { waiting: notServing(instance) }
    const waits = await this.#instances.update(
      this.nameOf(wanted),
      { ...changes, ApplyImmediately: true },
      this.#requestsOf(wanted, run),
    )
    // Only now: if the call fails, they are still the old ones.
    applied.note(cluster)
    return { waiting: waits, changes: [`asked RDS to change ${Object.keys(changes).join(', ')}`] }
  }

  #withGroup(wanted: WantedCluster, run: ProviderRun): WantedCluster {
    if (!createAppliedNotes(run).hasGroup(wanted)) return wanted
    const aws = { ...wanted.machine.aws, parameterGroup: this.nameOf(wanted) }
    return { ...wanted, machine: { ...wanted.machine, aws } }
  }

  async findEndpoint(wanted: WantedCluster): Promise<StageResult> {
    const instance = await this.#mustFind(wanted)
    const { Endpoint: { Address: host, Port: port } = {}, EngineVersion: version = '' } = instance
    if (!isServing(instance) || host === undefined || port === undefined) return { waiting: notServing(instance) }
    return { endpoint: { host, port: Number(port), version } }
  }

  /** It was there a moment ago. */
  async #mustFind(wanted: WantedCluster): Promise<Instance> {
    const instance = await this.#findOurs(this.#instances, wanted)
    if (instance !== undefined) return instance
    throw new PostgresFailure('retryable', 'InstanceNotFound', 'the DB instance has just gone')
  }

  async remove(cluster: ClusterIdentity, run: ProviderRun): Promise<ProviderWait | 'gone'> {
    const requests = this.#requestsOf(cluster, run)
    const look = await requests.look()
    if (look.state === 'waiting') return look.wait
    if (look.state === 'failed' && look.operation !== 'CREATE' && look.code !== 'NotFound') throw again(look)
    const instance = await this.#instances.find(this.nameOf(cluster))
    if (instance !== undefined && this.#isOurs(cluster, instance))
      return this.#removeInstance(cluster, instance, requests)
    if (await requests.mayBeCreated(this.nameOf(cluster))) return later('Creating', 'an earlier request is under way')
    const group = await this.#groups.find(this.nameOf(cluster))
    return group === undefined || !this.#isOurs(cluster, group)
      ? 'gone'
      : this.#groups.remove(this.nameOf(cluster), requests)
  }

  async #removeInstance(cluster: ClusterIdentity, instance: Instance, requests: RdsRequests): Promise<ProviderWait> {
    const { DBInstanceStatus: status, DeletionProtection: isProtected } = instance
    if (status === 'deleting') return later('Deleting', 'RDS deletes the DB instance')
    return isProtected === true
      ? this.#instances.update(this.nameOf(cluster), { DeletionProtection: false, ApplyImmediately: true }, requests)
      : this.#instances.remove(this.nameOf(cluster), requests)
  }

  #requestsOf({ uid }: ClusterIdentity, run: ProviderRun): RdsRequests {
    return createRdsRequests(this.#options.connect, uid, run)
  }

  #isOurs(cluster: ClusterIdentity, found: Tagged): boolean {
    return isOwnedBy(found, ownerTagOf(cluster, this.#options.settings()))
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
