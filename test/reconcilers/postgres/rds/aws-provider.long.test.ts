import { CloudControl } from '@aws-sdk/client-cloudcontrol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { awsProvider } from '../../../../functions/reconcilers/postgres/aws-provider.ts'
import { clusterReconciler } from '../../../../functions/reconcilers/postgres/cluster.ts'
import { PostgresCluster } from '../../../../functions/reconcilers/postgres/kinds.ts'
import type { RdsSettings } from '../../../../functions/reconcilers/postgres/rds/settings.ts'
import { conditionOf, Secret, type ObjectOf } from '../../../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../../../shared/testing/test-env.ts'
import { startFakeCloudControl, type FakeCloudControl, type Properties } from './fake-cloud-control.ts'

type Spec = ObjectOf<typeof PostgresCluster>['spec']

let rds: FakeCloudControl
let cloudControl: CloudControl
let settings: RdsSettings
let env: TestEnv

beforeEach(async () => {
  rds = await startFakeCloudControl()
  settings = { controlPlane: 'test' }
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  // One attempt: how often the client tries by itself is not ours to test.
  cloudControl = new CloudControl({ endpoint: rds.endpoint, region: 'eu-central-1', credentials, maxAttempts: 1 })
  // By this seed no resync of the cluster falls into the minutes of the tests.
  env = await createTestEnv({ seed: 5, reconcilers: [reconciler()], isBusy: rds.isBusy })
})
afterEach(async () => {
  if (rds.violations.length > 0) throw new Error(`requests broke rules: ${rds.violations.join(', ')}`)
  await env.close()
  cloudControl.destroy()
  await rds[Symbol.asyncDispose]()
})

function reconciler() {
  return clusterReconciler(awsProvider({ connect: async () => cloudControl, settings: () => settings }))
}

const apply = (spec: Partial<Spec> = {}) => env.apply(PostgresCluster, { metadata: { name: 'main' }, spec })

async function cluster() {
  return env.get(PostgresCluster, 'main')
}

async function condition(type: string) {
  const found = await cluster()
  return found && conditionOf(found, type)
}

const ready = () => env.eventually(async () => expect(await condition('Ready')).toMatchObject({ status: 'True' }))
const gone = () => env.eventually(async () => expect(await cluster()).toBeUndefined())

function instance(): Properties {
  const [only, ...others] = rds.instances.values()
  expect(others).toEqual([])
  return only as Properties
}

const callsOf = (name: string) => rds.calls.filter((call) => call.name === name)
const owner = { Key: 'setpoint.dev/owner', Value: 'test/default/main' }

async function password(): Promise<string> {
  const secret = await env.get(Secret, 'main-superuser')
  return Buffer.from(secret?.data?.['password'] ?? '', 'base64').toString()
}

/** An instance that is there before our object is: retained, or somebody else's. */
function existing(more: Properties = {}): Properties {
  const id = expectedId()
  const Endpoint = { Address: 'old.rds.amazonaws.com', Port: '5432' }
  const all = {
    DBInstanceIdentifier: id,
    DBInstanceStatus: 'available',
    Endpoint,
    Engine: 'postgres',
    EngineVersion: '17.2',
    MasterUsername: 'postgres',
    StorageEncrypted: true,
    AllocatedStorage: '100',
    BackupRetentionPeriod: 7,
    CopyTagsToSnapshot: true,
    DBInstanceClass: 'db.t4g.small',
    DeletionProtection: true,
    Port: '5432',
    PubliclyAccessible: false,
    Tags: [owner],
    ...more,
  }
  rds.instances.set(id, all)
  return all
}

function expectedId(): string {
  return 'sp-default-main-326bc599db61'
}

describe('a PostgresCluster on RDS', () => {
  it('is a DB instance: encrypted, protected, not public, with the password of the Secret', async () => {
    await apply()
    await ready()
    expect(instance()).toMatchObject({
      DBInstanceIdentifier: expect.stringMatching(/^sp-default-main-[0-9a-f]{12}$/) as string,
      Engine: 'postgres',
      EngineVersion: '17.4',
      DBInstanceClass: 'db.t4g.small',
      AllocatedStorage: '20',
      MasterUsername: 'postgres',
      MasterUserPassword: await password(),
      DeletionProtection: true,
      StorageEncrypted: true,
      PubliclyAccessible: false,
      Tags: [owner],
    })
    expect((await password()).length).toBeGreaterThan(20)
    expect((await cluster())?.status).toMatchObject({
      host: `${String(instance()['DBInstanceIdentifier'])}.abc.eu-central-1.rds.amazonaws.com`,
      port: 5432,
      version: '17.4',
    })
    expect(callsOf('CreateResource')).toHaveLength(1)
    expect(callsOf('UpdateResource')).toEqual([])
  })

  it('has its request noted before anything waits for it, and shows it', async () => {
    await apply()
    await env.settle()
    expect(await condition('Created')).toMatchObject({
      status: 'False',
      reason: 'Creating',
      message: expect.stringMatching(/^request 00000000-\S+ of RDS is in progress$/) as string,
    })
    expect(await condition('Ready')).toMatchObject({ status: 'False', reason: 'Creating' })
  })

  it('looks every thirty seconds, and later if the request says so', async () => {
    rds.looksUntilDone = 9
    await apply()
    await env.settle()
    const looks = callsOf('GetResourceRequestStatus').length
    await env.advance('29s')
    expect(callsOf('GetResourceRequestStatus')).toHaveLength(looks)
    rds.retryAfterSeconds = env.nowMs() / 1_000 + 200
    await env.advance('2s')
    expect(callsOf('GetResourceRequestStatus')).toHaveLength(looks + 1)
    await env.advance('190s')
    expect(callsOf('GetResourceRequestStatus')).toHaveLength(looks + 1)
    await env.advance('15s')
    expect(callsOf('GetResourceRequestStatus')).toHaveLength(looks + 2)
  })

  it('takes class, storage, version and place from the object', async () => {
    const aws = { subnetGroup: 'Private', securityGroups: ['sg-1', 'sg-2'], parameterGroup: 'tuned' }
    await apply({ class: 'large', storageGiB: 100, version: '16', port: 6000, aws })
    await ready()
    expect(instance()).toMatchObject({
      DBInstanceClass: 'db.r7g.xlarge',
      AllocatedStorage: '100',
      EngineVersion: '16.4',
      Port: '6000',
      DBSubnetGroupName: 'private',
      VPCSecurityGroups: ['sg-1', 'sg-2'],
      DBParameterGroupName: 'tuned',
    })
  })

  it('takes the place from the settings where the object says nothing', async () => {
    settings = { controlPlane: 'test', subnetGroup: 'db', securityGroups: ['sg-9'] }
    await apply({ aws: { instanceClass: 'db.m8g.large' } })
    await ready()
    expect(instance()).toMatchObject({
      DBSubnetGroupName: 'db',
      VPCSecurityGroups: ['sg-9'],
      DBInstanceClass: 'db.m8g.large',
    })
  })

  it('changes nothing of an instance that is as declared, and writes nothing', async () => {
    await apply()
    await ready()
    await env.settle()
    const before = await cluster()
    const calls = rds.calls.length
    await env.advance('1h')
    expect(rds.calls.slice(calls).every(({ name }) => name === 'GetResource')).toBe(true)
    expect(rds.calls.length).toBeGreaterThan(calls)
    expect((await cluster())?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion)
  })

  it('changes what is declared otherwise, by one patch', async () => {
    await apply()
    await ready()
    await apply({ class: 'medium', storageGiB: 50 })
    await ready()
    await env.eventually(() =>
      expect(instance()).toMatchObject({ DBInstanceClass: 'db.m7g.large', AllocatedStorage: '50' }),
    )
    await ready()
    expect(callsOf('UpdateResource')).toHaveLength(1)
  })

  it('puts back what somebody changes, and does it again when it is changed again', async () => {
    await apply()
    await ready()
    for (let i = 1; i <= 2; i++) {
      Object.assign(instance(), { PubliclyAccessible: true, DeletionProtection: false })
      await env.eventually(
        () => expect(instance()).toMatchObject({ PubliclyAccessible: false, DeletionProtection: true }),
        '30m',
      )
      await env.advance('2m')
      expect(callsOf('UpdateResource')).toHaveLength(i)
    }
  })

  it('leaves alone storage that RDS has grown, and a minor version it has put in', async () => {
    await apply()
    await ready()
    Object.assign(instance(), { AllocatedStorage: '200', EngineVersion: '17.9' })
    await env.advance('30m')
    expect(callsOf('UpdateResource')).toEqual([])
    expect(await condition('Ready')).toMatchObject({ status: 'True' })
    expect((await cluster())?.status).toMatchObject({ version: '17.9' })
  })

  it('gives the instance the new password when the Secret was deleted', async () => {
    await apply()
    await ready()
    const before = await password()
    await env.delete(Secret, 'main-superuser')
    await env.eventually(async () => expect(instance()['MasterUserPassword']).toBe(await password()), '30m')
    expect(await password()).not.toBe(before)
  })

  it('stops at what RDS does not change', async () => {
    await apply()
    await ready()
    await apply({ aws: { subnetGroup: 'other' }, version: '18' })
    await env.settle()
    expect(await condition('Stalled')).toMatchObject({
      reason: 'NotUpdatable',
      message: 'RDS does not change DBSubnetGroupName, EngineVersion of a DB instance',
    })
  })

  it('stops at a parameter group of its own and one that is named', async () => {
    await apply({ parameters: { max_connections: '50' }, aws: { parameterGroup: 'tuned' } })
    await env.settle()
    expect(await condition('Stalled')).toMatchObject({ reason: 'TwoParameterGroups' })
    expect(rds.calls).toEqual([])
  })
})

describe('parameters', () => {
  const group = () => {
    const [only] = rds.groups.values()
    return only
  }

  it('are in a group of the cluster’s own, which is there before the instance', async () => {
    await apply({ parameters: { max_connections: '50', work_mem: '65536' }, version: '16' })
    await ready()
    expect(group()).toMatchObject({
      DBParameterGroupName: expectedId(),
      Family: 'postgres16',
      Parameters: { max_connections: '50', work_mem: '65536' },
      Tags: [owner],
    })
    expect(instance()).toMatchObject({ DBParameterGroupName: expectedId() })
    expect(callsOf('UpdateResource')).toEqual([])
  })

  it('are changed in the group, and then the instance is told, which restarts it if need be', async () => {
    await apply({ parameters: { max_connections: '50' } })
    await ready()
    await apply({ parameters: { max_connections: '70' } })
    await env.eventually(() => expect(callsOf('UpdateResource')).toHaveLength(2))
    await ready()
    expect(group()).toMatchObject({ Parameters: { max_connections: '70' } })
    expect(callsOf('UpdateResource').map(({ input }) => JSON.parse(input['PatchDocument'] ?? '') as unknown)).toEqual([
      [{ op: 'add', path: '/Parameters', value: { max_connections: '70' } }],
      [
        { op: 'add', path: '/DBParameterGroupName', value: expectedId() },
        { op: 'add', path: '/ApplyImmediately', value: true },
      ],
    ])
  })

  it('are put back when somebody changes them, and the group stays when none is declared any more', async () => {
    await apply({ parameters: { max_connections: '50' } })
    await ready()
    Object.assign(group() as Properties, { Parameters: { max_connections: '9' } })
    await env.eventually(() => expect(group()).toMatchObject({ Parameters: { max_connections: '50' } }), '30m')
    await apply({ parameters: {} })
    await env.eventually(() => expect(group()?.['Parameters']).toEqual({}))
    const toldAgain = () => callsOf('UpdateResource').at(-1)?.input['PatchDocument']
    await env.eventually(() => expect(toldAgain()).toContain('DBParameterGroupName'))
    await ready()
    expect(instance()).toMatchObject({ DBParameterGroupName: expectedId() })
  })

  it('are told to the instance again when it has not taken them', async () => {
    await apply({ parameters: { max_connections: '50' } })
    await ready()
    rds.before('UpdateResource', () => rds.before('UpdateResource', () => rds.fail('UPDATE', 'ServiceInternalError')))
    await apply({ parameters: { max_connections: '70' } })
    await env.eventually(() => expect(callsOf('UpdateResource')).toHaveLength(3))
    await ready()
    const [, failed, again] = callsOf('UpdateResource').map(({ input }) => input)
    expect(again?.['PatchDocument']).toContain('DBParameterGroupName')
    expect(failed?.['PatchDocument']).toContain('DBParameterGroupName')
  })

  it('give way to a group that is named', async () => {
    await apply({ parameters: { max_connections: '50' } })
    await ready()
    await apply({ aws: { parameterGroup: 'tuned' } })
    await env.eventually(() => expect(instance()).toMatchObject({ DBParameterGroupName: 'tuned' }))
    await ready()
    await env.delete(PostgresCluster, 'main')
    await gone()
    expect(rds.groups.size).toBe(0)
  })

  it('come to an instance that had none', async () => {
    await apply()
    await ready()
    expect(rds.groups.size).toBe(0)
    await apply({ parameters: { max_connections: '50' } })
    await env.eventually(() => expect(instance()).toMatchObject({ DBParameterGroupName: expectedId() }))
    await ready()
    expect(group()).toMatchObject({ Family: 'postgres17' })
  })

  it('go with the cluster, after the instance', async () => {
    await apply({ parameters: { max_connections: '50' } })
    await ready()
    await env.delete(PostgresCluster, 'main')
    await gone()
    expect(rds.instances.size + rds.groups.size).toBe(0)
    expect(callsOf('DeleteResource')).toHaveLength(2)
  })

  it('leave alone a group that is another’s', async () => {
    rds.groups.set(expectedId(), { DBParameterGroupName: expectedId(), Parameters: {}, Tags: [] })
    await apply({ parameters: { max_connections: '50' } })
    await env.settle()
    expect(await condition('Stalled')).toMatchObject({ reason: 'NotOurs' })
    await env.delete(PostgresCluster, 'main')
    await gone()
    expect(rds.groups.size).toBe(1)
  })

  it('stop it when RDS does not take them', async () => {
    rds.looksUntilDone = 0
    await apply({ parameters: { max_connections: '50' } })
    await ready()
    rds.fail('UPDATE', 'InvalidRequest', 'Invalid parameter value: -1 for: max_connections')
    await apply({ parameters: { max_connections: '-1' } })
    await env.eventually(async () => expect(await condition('Stalled')).toMatchObject({ reason: 'InvalidRequest' }))
  })
})

describe('an instance of that name that is there already', () => {
  it('is the name we expect', async () => {
    await apply()
    await env.settle()
    expect([...rds.instances.keys()]).toEqual([expectedId()])
  })

  it('is taken over if its tag says that it is ours, and gets our password', async () => {
    existing()
    await apply()
    await ready()
    expect(callsOf('CreateResource')).toEqual([])
    expect(instance()['MasterUserPassword']).toBe(await password())
    expect((await cluster())?.status).toMatchObject({ host: 'old.rds.amazonaws.com', version: '17.2' })
  })

  it('is not touched if it is another’s', async () => {
    const theirs = existing({ Tags: [{ Key: 'setpoint.dev/owner', Value: 'other/default/main' }] })
    await apply()
    await env.advance('10m')
    expect(await condition('Stalled')).toMatchObject({ reason: 'NotOurs' })
    await env.delete(PostgresCluster, 'main')
    await gone()
    expect(instance()).toBe(theirs)
    expect(rds.calls.every(({ name }) => name === 'GetResource')).toBe(true)
  })

  it('is found out when it came between the look and the create', async () => {
    rds.before('CreateResource', () => existing({ MasterUserPassword: 'old' }))
    await apply()
    await ready()
    expect(instance()['MasterUserPassword']).toBe(await password())
    expect(callsOf('CreateResource')).toHaveLength(1)
  })
})

describe('a crash or a lost answer', () => {
  it('makes no second request', async () => {
    rds.loseAnswerOf('CreateResource')
    rds.looksUntilDone = 5
    await apply()
    await env.settle()
    await env.crash([reconciler()])
    await ready()
    const tokens = new Set(callsOf('CreateResource').map(({ input }) => input['ClientToken']))
    expect(tokens.size).toBe(1)
    expect(rds.instances.size).toBe(1)
  })

  it.each(['CreateResource', 'GetResourceRequestStatus', 'GetResource'] as const)(
    'at any call, %s, leaves one instance in the end',
    async (name) => {
      rds.loseAnswerOf(name)
      await apply()
      await env.crash([reconciler()])
      await env.advance('10s')
      await env.crash([reconciler()])
      await ready()
      expect(rds.instances.size).toBe(1)
    },
  )

  it.each([0, 250])(
    'of the create is waited for when the object is deleted meanwhile, behind %d others',
    async (others) => {
      rds.strangers = others
      rds.loseAnswerOf('CreateResource')
      rds.looksUntilDone = 4
      await apply()
      await env.settle()
      // It is not to be seen yet.
      rds.instances.clear()
      await env.delete(PostgresCluster, 'main')
      await env.settle()
      expect(await condition('Ready')).toMatchObject({ reason: 'Creating', message: 'an earlier request is under way' })
      await gone()
      expect(rds.instances.size).toBe(0)
      expect(callsOf('DeleteResource')).toHaveLength(1)
    },
  )
})

describe('a failure', () => {
  it('of the declaration stops it until that changes', async () => {
    rds.fail('CREATE', 'InvalidRequest', 'no such class (Service: Rds, Status Code: 400, Request ID: 1-2-3)')
    rds.looksUntilDone = 0
    await apply()
    await env.advance('1m')
    expect(await condition('Stalled')).toMatchObject({
      reason: 'InvalidRequest',
      message: 'cannot create AWS::RDS::DBInstance: InvalidRequest: no such class',
    })
    rds.instances.clear()
    await apply({ class: 'medium' })
    await ready()
    expect(callsOf('CreateResource')).toHaveLength(2)
  })

  it.each(['ThrottlingException', 'ConcurrentOperationException'])(
    'by %s waits half a minute and counts as none',
    async (name) => {
      await apply()
      await ready()
      await env.settle()
      rds.refuse('GetResource', name)
      await env.patch(PostgresCluster, 'main', {
        metadata: { annotations: { 'setpoint.dev/reconcile-requested-at': 'now' } },
      })
      await env.settle()
      const calls = rds.calls.length
      await env.advance('29s')
      const { reconcile } = ((await cluster()) as unknown as { readonly status: { readonly reconcile: object } }).status
      expect(reconcile).toMatchObject({ waiting: 'RetryAfter' })
      expect(reconcile).not.toHaveProperty('attempt')
      expect(rds.calls).toHaveLength(calls)
      await env.advance('2s')
      expect(rds.calls.length).toBeGreaterThan(calls)
      await ready()
    },
  )

  it.each(['HandlerInternalFailureException', 'NetworkFailureException', 'GeneralServiceException'])(
    'to read, %s, never counts as gone',
    async (name) => {
      await apply()
      await ready()
      await env.delete(PostgresCluster, 'main')
      rds.refuse('GetResource', name)
      await env.advance('1s')
      expect(await cluster()).toBeDefined()
      expect(rds.instances.size).toBe(1)
      await gone()
      expect(rds.instances.size).toBe(0)
    },
  )

  it('that passes is tried again with another client token', async () => {
    rds.fail('CREATE', 'ServiceInternalError')
    rds.looksUntilDone = 0
    await apply()
    await env.advance('31s')
    rds.instances.clear()
    await ready()
    const tokens = callsOf('CreateResource').map(({ input }) => input['ClientToken'])
    expect(new Set(tokens).size).toBe(2)
  })

  it('of the request to be known, after a week, is looked through to the instance', async () => {
    await apply()
    await env.settle()
    rds.refuse('GetResourceRequestStatus', 'RequestTokenNotFoundException')
    Object.assign(instance(), existing())
    await ready()
    expect(callsOf('CreateResource')).toHaveLength(1)
  })
})

describe('deletion', () => {
  it('lifts the protection, deletes, and waits until the instance is gone', async () => {
    await apply()
    await ready()
    await env.delete(PostgresCluster, 'main')
    await env.advance('5s')
    expect(await condition('Ready')).toMatchObject({ status: 'False', reason: 'Updating' })
    await gone()
    expect(rds.instances.size).toBe(0)
    expect(callsOf('UpdateResource')).toHaveLength(1)
    expect(callsOf('DeleteResource')).toHaveLength(1)
  })

  it('waits for the create first', async () => {
    await apply()
    await env.settle()
    await env.delete(PostgresCluster, 'main')
    await gone()
    expect(rds.instances.size).toBe(0)
    expect(callsOf('CreateResource')).toHaveLength(1)
  })

  it('goes on after a request of it has failed', async () => {
    await apply()
    await ready()
    rds.fail('DELETE', 'InvalidRequest', 'not now')
    await env.delete(PostgresCluster, 'main')
    await env.eventually(async () => expect(await condition('Ready')).toMatchObject({ reason: 'InvalidRequest' }))
    const [id] = rds.instances.keys()
    Object.assign(rds.instances.get(id ?? '') as Properties, { DBInstanceStatus: 'available' })
    await gone()
    expect(rds.instances.size).toBe(0)
  })

  it('keeps the instance if the object says so, and the next of its name finds it', async () => {
    await apply({ deletionPolicy: 'Retain' })
    await ready()
    await env.delete(PostgresCluster, 'main')
    await gone()
    expect(instance()).toMatchObject({ DeletionProtection: true, DBInstanceStatus: 'available' })
    await apply()
    await ready()
    expect(callsOf('CreateResource')).toHaveLength(1)
    expect(instance()['MasterUserPassword']).toBe(await password())
  })
})
