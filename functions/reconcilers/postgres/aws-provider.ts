import { createHash } from 'node:crypto'
import { waiting, type JsonObject } from '../../../shared/index.ts'
import { PostgresFailure } from './failure.ts'
import type {
  ClusterIdentity,
  PostgresProvider,
  ProviderRun,
  Stage,
  StageResult,
  Wait,
  WantedCluster,
} from './provider.ts'
import {
  changesOf,
  desiredInstance,
  identifierOf,
  isOwnedBy,
  isServing,
  ownerOf,
  typeName,
  unchangeable,
  type Instance,
} from './rds/instance.ts'
import { createRequests, findInstance, type Connect, type FailedLook, type Requests } from './rds/requests.ts'
import type { RdsSettings } from './rds/settings.ts'

export interface AwsProviderOptions {
  readonly connect: Connect
  readonly settings: () => RdsSettings
}

/**
 * Servers as DB instances of RDS, by the Cloud Control API: encrypted, not public, with a week of backups, protected against deletion
 * until their object is deleted. An instance of the right name is ours if its tag says so; others are not touched. When its
 * object is deleted, RDS keeps a final snapshot: Cloud Control always asks for one.
 */
export function awsProvider({ connect, settings }: AwsProviderOptions): PostgresProvider {
  const requestsOf = ({ uid }: ClusterIdentity, run: ProviderRun): Requests => createRequests(connect, uid, run)

  async function create(wanted: WantedCluster, run: ProviderRun, requests: Requests): Promise<Wait> {
    const desired = desiredInstance(wanted, settings())
    run.notes.set(passwordKey, digestOf(wanted.superuser.password))
    return requests.begin('CREATE', desired, (cloudControl, ClientToken) =>
      cloudControl.createResource({ TypeName: typeName, ClientToken, DesiredState: JSON.stringify(desired) }),
    )
  }

  async function update(identifier: string, changes: JsonObject, requests: Requests): Promise<Wait> {
    const values = { ...changes, ApplyImmediately: true }
    const patch = Object.entries(values).map(([name, value]) => ({ op: 'add', path: `/${name}`, value }))
    return requests.begin('UPDATE', values, (cloudControl, ClientToken) =>
      cloudControl.updateResource({ ...at(identifier), ClientToken, PatchDocument: JSON.stringify(patch) }),
    )
  }

  /** The instance, which is ours; `undefined` if there is none. */
  async function findOurs(cluster: ClusterIdentity): Promise<Instance | undefined> {
    const identifier = identifierOf(cluster, settings())
    const instance = await findInstance(connect, identifier)
    if (instance === undefined || isOwnedBy(instance, ownerOf(cluster, settings()))) return instance
    throw new PostgresFailure(
      'conflict',
      'NotOurs',
      `a DB instance ${identifier} exists, and its tags say it is not ours`,
    )
  }

  const createStage: Stage['run'] = async (wanted, run) => {
    if (Object.keys(wanted.parameters).length > 0) throw noParameters()
    const requests = requestsOf(wanted, run)
    const look = await requests.look()
    if (look.state === 'waiting') return { waiting: look.wait }
    if (look.state === 'failed') run.notes.set(passwordKey, undefined)
    // Of what exists already we find out below whether it is ours.
    if (look.state === 'failed' && look.code !== 'AlreadyExists') throw look.error
    if ((await findOurs(wanted)) !== undefined) return {}
    const waits = await create(wanted, run, requests)
    return { waiting: waits, changes: [`asked RDS for DB instance ${identifierOf(wanted, settings())}`] }
  }

  const configureStage: Stage['run'] = async (wanted, run) => {
    const instance = await mustFind(wanted)
    const fixed = unchangeable(instance, wanted, settings())
    if (fixed.length > 0)
      throw new PostgresFailure('terminal', 'NotUpdatable', `RDS does not change ${fixed.join(', ')} of a DB instance`)
    const changes = changesOf(instance, wanted, settings())
    const password = digestOf(wanted.superuser.password)
    const isOldPassword = run.notes.get(passwordKey) !== password
    if (Object.keys(changes).length === 0 && !isOldPassword) return {}
    if (!isServing(instance)) return { waiting: notServing(instance) }
    const all = isOldPassword ? { ...changes, MasterUserPassword: wanted.superuser.password } : changes
    const waits = await update(identifierOf(wanted, settings()), all, requestsOf(wanted, run))
    // Only now: if the call fails, the password is still the old one.
    run.notes.set(passwordKey, password)
    return { waiting: waits, changes: [`asked RDS to change ${Object.keys(all).join(', ')}`] }
  }

  const runStage: Stage['run'] = async (wanted): Promise<StageResult> => {
    const instance = await mustFind(wanted)
    const { Endpoint: { Address: host, Port: port } = {}, EngineVersion: version = '' } = instance
    if (!isServing(instance) || host === undefined || port === undefined) return { waiting: notServing(instance) }
    return { endpoint: { host, port: Number(port), version } }
  }

  /** It was there a moment ago. */
  async function mustFind(wanted: WantedCluster): Promise<Instance> {
    const instance = await findOurs(wanted)
    if (instance !== undefined) return instance
    throw new PostgresFailure('retryable', 'InstanceNotFound', 'the DB instance has just gone')
  }

  const remove: PostgresProvider['remove'] = async (cluster, run) => {
    const requests = requestsOf(cluster, run)
    const identifier = identifierOf(cluster, settings())
    const look = await requests.look()
    if (look.state === 'waiting') return look.wait
    if (look.state === 'failed' && look.operation !== 'CREATE' && look.code !== 'NotFound') throw again(look)
    const instance = await findInstance(connect, identifier)
    if (instance === undefined)
      return (await requests.mayBeCreated(identifier)) ? later('Creating', 'an earlier request is under way') : 'gone'
    if (!isOwnedBy(instance, ownerOf(cluster, settings()))) return 'gone'
    if (instance.DBInstanceStatus === 'deleting') return later('Deleting', 'RDS deletes the DB instance')
    if (instance.DeletionProtection === true) return update(identifier, { DeletionProtection: false }, requests)
    return requests.begin('DELETE', { identifier }, (cloudControl, ClientToken) =>
      cloudControl.deleteResource({ ...at(identifier), ClientToken }),
    )
  }

  return {
    // A look costs a call of an API that allows few, and RDS puts most things back by itself.
    resync: '10m',
    stages: [
      { condition: 'Created', run: createStage },
      { condition: 'Configured', run: configureStage },
      { condition: 'Running', run: runStage },
    ],
    remove,
    retain: async (cluster) => `DB instance ${identifierOf(cluster, settings())} goes on running, and costing`,
  }
}

const passwordKey = 'rds-password'

function at(identifier: string): { readonly TypeName: string; readonly Identifier: string } {
  return { TypeName: typeName, Identifier: identifier }
}

/** Passwords are of chance and long: who has the digest has nothing. */
function digestOf(password: string): string {
  return createHash('sha256').update(password).digest('base64url')
}

function notServing({ DBInstanceStatus: status = 'unknown' }: Instance): Wait {
  return later('NotAvailable', `the DB instance is ${status}`)
}

/** Clean-up goes on whatever it was: the next try may be of another request. */
function again({ code, error }: FailedLook): Error {
  return error instanceof PostgresFailure
    ? new PostgresFailure('retryable', code, error.message, { cause: error })
    : error
}

function later(reason: string, message: string): Wait {
  return { ...waiting(reason, message), after: '30s' }
}

function noParameters(): PostgresFailure {
  const message = 'RDS takes parameters by a parameter group: name one in spec.aws.parameterGroup'
  return new PostgresFailure('terminal', 'ParametersNotSupported', message)
}
