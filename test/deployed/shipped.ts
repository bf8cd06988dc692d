import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/control-plane-process.ts'
import { runProgram } from '../support/program.ts'
import { startFakeKonnect, type FakeKonnect } from '../reconcilers/konnect/fake-konnect.ts'
import { aws, runCommand, runShell, type Account } from './account.ts'
import { endAllTokens, tokensHaveEnded, useAccounts } from './accounts.ts'
import { adaptAssembly } from './assembly.ts'
import {
  connect,
  deploy,
  destroy,
  isGone,
  remove,
  resourcesOf,
  statusOf,
  tryDeploy,
  untilTrue,
  type Plane,
} from './plane.ts'
import { expect, step, until } from './steps.ts'
import { checkAdaptations, type Template } from './adaptations.ts'

/** The stack of `cdk deploy`, with the reconcilers that come with the project, against a Konnect of our own. */
export async function runShipped(account: Account, directory: string): Promise<void> {
  console.log('The stack of the project')
  await using konnect = await startFakeKonnect()
  const synthesized = join(directory, 'shipped')
  await step('synthesizes the stack of the project', () => synthesize(account, synthesized, {}))
  const assembly = adaptAssembly(account, [synthesized, join(directory, 'shipped-adapted')])
  const outputs = await step('cdk deploy', () => deploy(account, assembly))
  const plane = await connect(account, { stack: 'Setpoint-deployed', outputs }, directory)
  const world: World = { account, directory, konnect, synthesized, ...plane }

  await signIn(world)
  await useAccounts(world)
  await endAllTokens(account, world)
  // On AWS functions do not reach the Konnect of ours.
  const restored = account.ministack === undefined ? await wait(world) : await useKonnect(world)
  await step('cdk destroy', () => destroy(account, assembly))
  // They are none of the stack's.
  for (const table of restored ?? []) await aws(account, ['dynamodb', 'delete-table', `--table-name=${table}`])
  await step('nothing is left of it that was to go', () => isGone(account, plane.stack))
}

/** The names of the tables that it restored. */
async function useKonnect(world: World): Promise<readonly string[]> {
  await create(world)
  await change(world)
  await tokensHaveEnded(world)
  await wait(world)
  await drift(world)
  await update(world)
  await rollBack(world)
  const restored = await restore(world)
  await clear(world)
  await checkAdaptations(world.account)
  return restored
}

interface World extends Plane {
  readonly account: Account
  readonly directory: string
  readonly konnect: FakeKonnect
  readonly synthesized: string
}

async function synthesize(
  { adminArn, region }: Account,
  outdir: string,
  context: Readonly<Record<string, string>>,
): Promise<void> {
  const all = { admins: adminArn, stage: 'deployed', disposable: 'true', ...context }
  const env = { CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: JSON.stringify(all), AWS_REGION: region }
  const { code, stderr } = await runProgram(process.execPath, [join(root, 'infra/app.ts')], { cwd: root, env })
  expect(code === 0, stderr)
}

async function signIn({ kubectl, account }: World): Promise<void> {
  await step('signs in by `aws eks get-token`', async () => {
    const said = await kubectl.ok('auth whoami')
    expect(said.includes(account.adminArn), said)
  })
  await step('refuses a role that is no administrator', async () => {
    const { code, stderr } = await kubectl.run('get namespaces --user=stranger')
    expect(code !== 0 && /Forbidden|not authorized|denied/i.test(stderr), stderr)
  })
  await step('has namespace and kinds after the first tick', async () => {
    await until(
      () => kubectl.run('get namespace default'),
      ({ code }) => code === 0,
    )
    // A process of the API knows a definition that another one wrote within ten seconds.
    await until(
      () => kubectl.ok('api-resources --api-group=konnect.setpoint.dev -o name'),
      (said) => said.includes('konnectconsumers'),
    )
  })
}

async function create(world: World): Promise<void> {
  const { kubectl, konnect } = world
  const manifests = readFileSync(join(root, 'examples/konnect.yaml'), 'utf8')
  await step('applies four objects, which wait for a Secret', async () => {
    await kubectl.apply(manifests.replace('https://us.api.konghq.com', konnect.url))
    await until(
      () => kubectl.ok('get konnectcontrolplane shop -o wide'),
      (said) => /False/.test(said),
    )
  })
  await step('makes them when the Secret is there', async () => {
    await kubectl.ok('create secret generic konnect --from-literal=token=kpat_test')
    for (const one of ['konnectroute/orders', 'konnectconsumer/warehouse']) await untilTrue(world, 'Programmed', one)
    expect(konnect.state.all('routes').length === 1, 'there is not one route')
  })
}

/** The messages of a killed function come again after `hiddenSeconds`, and may be behind another that was killed. */
async function hostBecomes({ konnect }: World, host: string): Promise<void> {
  await until(
    () => Promise.resolve(konnect.state.all('services')[0]?.['host']),
    (seen) => seen === host,
  )
}

function setHost({ kubectl }: World, host: string): Promise<string> {
  return kubectl.ok(`patch konnectservice orders --type=merge -p {"spec":{"host":"${host}"}}`)
}

async function change(world: World): Promise<void> {
  const { kubectl, konnect } = world
  await step('carries an edit out', async () => {
    await setHost(world, 'edited.example')
    await hostBecomes(world, 'edited.example')
    await untilTrue(world, 'Ready', 'konnectservice/orders')
  })
  await step('tries again with backoff while Konnect fails, and a change does not wait for that', async () => {
    konnect.fault({ call: 'PUT services', times: 1_000, answer: { status: 500, body: { message: 'no' } } })
    await setHost(world, 'failing.example')
    await until(
      () => kubectl.json('get konnectservice orders'),
      ({ status }) => status?.reconcile?.attempt >= 3,
    )
    konnect.calm()
    await setHost(world, 'mended.example')
    await hostBecomes(world, 'mended.example')
  })
}

async function wait(world: World): Promise<void> {
  await step('waits for a minute to come: a CronJob makes its Job', async () => {
    const { kubectl } = world
    await kubectl.apply(cronJob)
    await until(
      () => kubectl.ok('get jobs.batch.setpoint.dev -o name'),
      (said) => said.includes('job'),
    )
    await remove(world, 'cronjobs.batch.setpoint.dev --all')
    await until(
      () => kubectl.ok('get jobs.batch.setpoint.dev -o name'),
      (said) => said === '',
    )
  })
}

const cronJob = JSON.stringify({
  apiVersion: 'batch.setpoint.dev/v1alpha1',
  kind: 'CronJob',
  metadata: { name: 'every-minute' },
  spec: {
    schedule: '* * * * *',
    jobTemplate: { spec: { databases: [{ name: 'nowhere' }], folder: 'every-minute' } },
  },
})

async function drift({ kubectl, konnect }: World): Promise<void> {
  await step('puts back what somebody deletes outside', async () => {
    await kubectl.ok('annotate konnectroute orders setpoint.dev/resync=1m')
    const [route] = konnect.state.all('routes')
    await until(
      () => kubectl.json('get konnectroute orders'),
      ({ status }) => status?.observedGeneration !== undefined,
    )
    konnect.state.remove(route?.id ?? '')
    await until(
      () => Promise.resolve(konnect.state.all('routes')),
      ([again]) => again !== undefined && again.id !== route?.id,
    )
  })
}

async function update(world: World): Promise<void> {
  const { account, directory } = world
  await step('updates the stack under load, and loses no change', async () => {
    const wider = join(directory, 'wider')
    await synthesize(account, wider, {
      sharedConcurrency: '20',
      keepIndex: 'changes',
      vpc: 'vpc-1',
      subnets: 'subnet-1',
      rdsSecurityGroups: 'sg-1',
    })
    const deploying = deploy(account, adaptAssembly(account, [wider, join(directory, 'wider-adapted')]))
    let edits = 0
    const load = async (signal: AbortSignal): Promise<void> => {
      while (!signal.aborted) await setHost(world, `load-${edits++}.example`)
    }
    const over = new AbortController()
    const loading = load(over.signal)
    await deploying.finally(() => over.abort())
    await loading
    expect(edits > 1, 'nothing was edited meanwhile')
    await hostBecomes(world, `load-${edits - 1}.example`)
    const indexes = await indexesOf(account, world.outputs['Table'] ?? '')
    expect(indexes.includes('changes'), `the table has no second index for watches, only ${indexes.join(', ')}`)
  })
}

async function indexesOf(account: Account, table: string): Promise<readonly string[]> {
  const { Table } = (await aws(account, ['dynamodb', 'describe-table', `--table-name=${table}`])) as {
    readonly Table: { readonly GlobalSecondaryIndexes?: readonly { readonly IndexName: string }[] }
  }
  return (Table.GlobalSecondaryIndexes ?? []).map(({ IndexName }) => IndexName)
}

/** By the commands of docs/aws.md. The emulator restores what there is now, whatever second is asked for. */
async function restore(world: World): Promise<readonly string[]> {
  const { account, stack } = world
  const byHand = `${stack}-by-hand`
  await step('restores the table and switches to it by the AWS command line alone', () =>
    switchWith(world, byHand, async (at) => {
      const made = await runShell(account, `stack=${stack} at=${at} new=${byHand}\n${linesOf(/^stack=.* new=.*\n/m)}`)
      expect(made.code === 0, made.stdout + made.stderr)
      return async () => {
        const switched = await runShell(account, `stack=${stack} new=${byHand}\n${linesOf(/^(?=stream=)/m)}`)
        expect(switched.code === 0, switched.stdout + switched.stderr)
      }
    }),
  )
  const named: string[] = []
  await step('and by the command, which can be repeated', async () => {
    const restoring = (at: string, ...more: readonly string[]): Promise<string> =>
      runDayTwo(account, ['restore-table', `--stack=${stack}`, `--at=${at}`, ...more])
    await switchWith(world, byHand, async (at) => {
      const [, table = ''] = /^the table is ready: ([^,]+),/m.exec(await restoring(at)) ?? []
      named.push(table)
      return async () => {
        await restoring(at, '--switch')
      }
    })
  })
  await step('finds the dead letters by the AWS command line alone', () => findByHand(world))
  await step('has the relay pass on a change that it gave up, by the AWS command line alone', async () => {
    await giveUp(world)
    const { code, stdout, stderr } = await runShell(
      account,
      `cd ${world.directory}\nstack=${stack}\n${linesOf(/^stack=.*\n(?=find)/m)}`,
    )
    expect(code === 0 && /"batchItemFailures": *\[\]/.test(stdout), stdout + stderr)
  })
  await step('and by the command, which finds no dead letters', async () => {
    await giveUp(world)
    const said = await runDayTwo(account, ['redrive', `--stack=${stack}`])
    expect(/^1 changes were passed on$/m.test(said) && said.includes('there are no dead letters'), said)
  })
  return [byHand, ...named]
}

/** Of docs/aws.md, the lines for a shell that begin there. */
function linesOf(begin: RegExp): string {
  const docs = readFileSync(join(root, 'docs/aws.md'), 'utf8')
  return new RegExp(`${begin.source}([^]*?)^\`\`\`$`, 'm').exec(docs)?.[1] ?? ''
}

async function runDayTwo(account: Account, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(account, [join(root, 'infra/day-two.ts'), ...args], root)
  expect(code === 0, stdout + stderr)
  return stdout
}

/** What is written between the restore and the switch is not there afterwards, and the control plane goes on. */
async function switchWith(
  world: World,
  name: string,
  make: (at: string) => Promise<() => Promise<void>>,
): Promise<void> {
  const { account, kubectl } = world
  const before = await kubectl.json('get konnectservice orders')
  const turn = await make(new Date().toISOString().replace(/\.\d+Z$/, 'Z'))
  await kubectl.ok('create configmap after-the-restore')
  await turn()
  const used = await tableOf(world)
  expect(used.startsWith(name), `${used} is used, and not ${name}`)
  const { TimeToLiveDescription: lives } = (await aws(account, [
    'dynamodb',
    'describe-time-to-live',
    `--table-name=${used}`,
  ])) as { readonly TimeToLiveDescription: { readonly AttributeName?: string } }
  expect(lives.AttributeName === 'expires', `what is over in it is kept: ${JSON.stringify(lives)}`)
  const indexes = await indexesOf(account, used)
  expect(indexes.includes('feed'), `${used} has the indexes ${indexes.join(', ')}`)
  const after = await until(
    () => kubectl.run('get konnectservice orders -o json'),
    ({ code }) => code === 0,
  )
  const { metadata }: typeof before = JSON.parse(after.stdout)
  expect(metadata.uid === before.metadata.uid, 'another object is there')
  const { code } = await kubectl.run('get configmap after-the-restore')
  expect(code !== 0, 'what was written after the restore is there: the table is the old one')
  await setHost(world, `${used.toLowerCase()}.example`)
  await hostBecomes(world, `${used.toLowerCase()}.example`)
}

/** As the stack says which one it uses. */
async function tableOf({ account, stack }: World): Promise<string> {
  const { Stacks } = (await aws(account, ['cloudformation', 'describe-stacks', `--stack-name=${stack}`])) as {
    readonly Stacks: readonly { readonly Outputs: readonly { OutputKey: string; OutputValue: string }[] }[]
  }
  return Stacks[0]?.Outputs.find(({ OutputKey }) => OutputKey === 'Table')?.OutputValue ?? ''
}

/** By the lines of docs/aws.md; the emulator moves nothing. */
async function findByHand({ account, stack }: World): Promise<void> {
  const lines = linesOf(/^stack=.*\n(?=queue=)/m).replace(/^aws sqs start-message-move-task.*\n/m, '')
  const { code, stdout, stderr } = await runShell(account, `stack=${stack}\n${lines}echo $arn`)
  expect(code === 0 && /^arn:aws:sqs:\S+DeadLetters\S+\.fifo$/m.test(stdout), stdout + stderr)
}

/** As Lambda says it of a batch that it tried for a day: where in the stream the last change of an object is. */
async function giveUp(world: World): Promise<void> {
  const { account, stack } = world
  const { Table } = (await aws(account, ['dynamodb', 'describe-table', `--table-name=${await tableOf(world)}`])) as {
    readonly Table: { readonly LatestStreamArn: string }
  }
  const ofStream = `--stream-arn=${Table.LatestStreamArn}`
  const { StreamDescription } = (await aws(account, ['dynamodbstreams', 'describe-stream', ofStream])) as {
    readonly StreamDescription: { readonly Shards: readonly { readonly ShardId: string }[] }
  }
  const [{ ShardId: shardId } = { ShardId: '' }] = StreamDescription.Shards
  const place = [ofStream, `--shard-id=${shardId}`, '--shard-iterator-type=TRIM_HORIZON']
  const { ShardIterator } = (await aws(account, ['dynamodbstreams', 'get-shard-iterator', ...place])) as {
    readonly ShardIterator: string
  }
  const asking = ['dynamodbstreams', 'get-records', `--shard-iterator=${ShardIterator}`]
  const { Records } = (await aws(account, asking)) as {
    readonly Records: readonly { readonly dynamodb: { readonly SequenceNumber: string } }[]
  }
  const number = Records.at(-1)?.dynamodb.SequenceNumber
  const DDBStreamBatchInfo = {
    shardId,
    startSequenceNumber: number,
    endSequenceNumber: number,
    batchSize: 1,
    streamArn: Table.LatestStreamArn,
  }
  const all = await resourcesOf(account, stack)
  const failures = all.find(
    ({ LogicalResourceId: id, ResourceType: type }) => id.includes('RelayFailures') && type === 'AWS::SQS::Queue',
  )
  const queue = `--queue-url=${failures?.PhysicalResourceId}`
  await aws(account, ['sqs', 'send-message', queue, `--message-body=${JSON.stringify({ DDBStreamBatchInfo })}`])
}

async function rollBack(world: World): Promise<void> {
  const { account, directory, stack, synthesized } = world
  await step('rolls an update back that fails, and goes on', async () => {
    const broken = adaptAssembly(account, [synthesized, join(directory, 'broken')], withImpossible)
    const { refused } = await tryDeploy(account, broken)
    expect(refused !== undefined, 'the update did not fail')
    const status = await statusOf(account, stack)
    expect(status === 'UPDATE_ROLLBACK_COMPLETE', status)
    await setHost(world, 'rolled-back.example')
    await hostBecomes(world, 'rolled-back.example')
  })
}

/** With a resource that no deployment can make. */
function withImpossible(template: Template): Template {
  const Properties = { ServiceToken: 'arn:aws:lambda:us-east-1:123456789012:function:nobody' }
  return { ...template, Resources: { ...template.Resources, Impossible: { Type: 'Custom::Impossible', Properties } } }
}

async function clear(world: World): Promise<void> {
  const { konnect } = world
  await step('deletes the objects, and what they made with them', async () => {
    await remove(world, 'konnectroutes,konnectservices,konnectconsumers --all')
    await remove(world, 'konnectcontrolplanes --all')
    for (const collection of ['routes', 'services', 'consumers', 'control-planes'] as const)
      expect(konnect.state.all(collection).length === 0, `${collection} are left in Konnect`)
    expect(konnect.violations.length === 0, konnect.violations.join('\n'))
  })
}
