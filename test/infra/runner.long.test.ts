import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { askCloudFormation, lampController, shelfController } from './lambda/cloudformation.ts'
import { plainClient } from './lambda/runtime-clients.ts'
import { makeToken, shelf } from './lambda/script.ts'
import { openStage, type Stage } from './lambda/stage.ts'

/**
 * The script of `npm run deployed` on the runner that is made from the template: bundles in processes of their own,
 * with the variables, memory, queues, mappings, filters, redrive and schedules of the template. What only one of the
 * two does stands in `onlyDeployed` and `onlyHere`.
 */
let stage: Stage
beforeAll(async () => {
  stage = await openStage(plainClient)
})
afterAll(async () => stage?.[Symbol.asyncDispose]())

/** Steps of `test/deployed`, and why the runner has none of them. */
const onlyDeployed = {
  'cdk bootstrap, deploy, update, rollback, destroy': 'the runner reads a template; it has no CloudFormation',
  'signs in by `aws eks get-token`':
    'its token is proven by STS, and the runner has none; who proves nothing is refused here, too',
  'takes the role that a namespace names': 'the runner has no STS',
  'restores the table into a new one, and switches': 'dynalite restores no tables',
  'policies of the functions are enforced': 'test/infra/permissions.long.test.ts holds requests against them',
  'packed packages in an app': '`npm run deployed` installs them',
} as const

/** What MiniStack does not do. */
const onlyHere = {
  'a reader asks what he may do': 'the two people of its account are an administrator and nobody',
  'parts of a batch fail, and come again after the time that SQS hides them': 'MiniStack deletes a whole batch',
  'answers are streamed': 'MiniStack streams nothing',
  'a message that nobody can read becomes a dead letter':
    'MiniStack counts no receives (test/infra/bundles.long.test.ts)',
  'a filter keeps the relay from what it need not see': 'MiniStack hands on every record',
  'batches of one queue run side by side, as many as the template lets': 'MiniStack runs one after the other',
  'a function for which the account has no room is asked again later': 'MiniStack has room for all',
} as const

const objects = '/apis/example.dev/v1/namespaces/default'
const catalog = '/api/v1/namespaces/default/configmaps/first-catalog'

interface Seen {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- what is read is only compared
  readonly body: any
}

async function look(path: string): Promise<Seen> {
  const { status, text } = await stage.request('GET', path)
  return { status, body: JSON.parse(text) }
}

/** Time goes on: messages that were hidden come, and minutes tick. */
async function until(path: string, isThere: (seen: Seen) => boolean): Promise<Seen> {
  for (let rounds = 0; rounds < 240; rounds++) {
    await stage.settle()
    const seen = await look(path)
    if (isThere(seen)) return seen
    await sleep(500)
  }
  throw new Error(`${path} did not become so: ${JSON.stringify(await look(path))}`)
}

const isReady = ({ body }: Seen): boolean =>
  body.status?.conditions?.some(
    (one: { type: string; status: string }) => one.type === 'Ready' && one.status === 'True',
  )

const lamp = (broken: boolean): object => ({
  apiVersion: 'example.dev/v1',
  kind: 'Lamp',
  metadata: { name: 'desk' },
  spec: { broken },
})

describe('the script of `npm run deployed`, on the runner', () => {
  it('names what only one of the two does, with the reason', () => {
    for (const why of Object.values({ ...onlyDeployed, ...onlyHere })) expect(why.length).toBeGreaterThan(10)
  })

  it('refuses who proves nothing, as the gateway asks the authorizer of the template first', async () => {
    expect(await stage.requestAs('Bearer nothing', 'GET', `${objects}/shelves`)).toEqual({ status: 401, text: '' })
  })

  it('has namespace and kinds after the first tick of the schedule', async () => {
    await stage.minute()
    await until('/api/v1/namespaces/default', ({ status }) => status === 200)
    const { body } = await until(`${objects}/shelves`, ({ status }) => status === 200)
    expect(body.items).toEqual([])
  })

  it('lets a reader ask what he may do, which is to read', async () => {
    const mayDo = async (verb: string): Promise<unknown> => {
      const resourceAttributes = { verb, group: 'example.dev', resource: 'shelves', namespace: 'default' }
      const asking = ['POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'] as const
      const { status, text } = await stage.request(...asking, { spec: { resourceAttributes } }, 'setpoint:readers')
      return status === 201 ? JSON.parse(text).status.allowed : status
    }
    await expect.poll(() => mayDo('list')).toBe(true)
    expect(await mayDo('create')).toBe(false)
    expect(await stage.request('GET', `${objects}/shelves`, undefined, 'setpoint:readers')).toMatchObject({
      status: 200,
    })
    const refused = await stage.request('POST', `${objects}/shelves`, shelf('mine', { books: 1 }), 'setpoint:readers')
    expect(refused.status).toBe(403)
  })

  it('lets a token of a ServiceAccount do what a binding says, and nothing else', async () => {
    const token = await makeToken(stage)
    const list = () => stage.requestAs(`Bearer ${token}`, 'GET', `${objects}/shelves`)
    expect((await list()).status).toBe(403)
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings'
    const subjects = [{ kind: 'ServiceAccount', name: 'robot' }]
    const roleRef = { kind: 'ClusterRole', name: 'view' }
    await stage.request('POST', rbac, { metadata: { name: 'robot' }, roleRef, subjects })
    expect((await list()).status).toBe(200)
    const [head = '', payload = ''] = token.split('.')
    expect((await stage.requestAs(`Bearer ${head}.${payload}.AAAA`, 'GET', '/apis')).status).toBe(401)
    expect((await stage.requestAs(`Bearer ${token}`, 'POST', `${objects}/shelves`, shelf('x', {}))).status).toBe(403)
  })

  it('applies an object, which becomes Ready', async () => {
    await stage.request('POST', `${objects}/shelves`, shelf('first', { books: 3 }))
    const { body } = await until(`${objects}/shelves/first`, isReady)
    expect(body.status.books).toBe(3)
  })

  it('carries an edit out', async () => {
    await stage.request('PATCH', `${objects}/shelves/first`, { spec: { books: 4 } })
    await until(`${objects}/shelves/first`, ({ body }) => body.status?.books === 4)
    expect((await look(catalog)).body.data).toEqual({ books: '4' })
  })

  it('tries again with backoff while a run fails, and a change does not wait for that', async () => {
    await stage.request('POST', `${objects}/lamps`, lamp(true))
    await until(`${objects}/lamps/desk`, ({ body }) => body.status?.reconcile?.attempt >= 3)
    await stage.request('PATCH', `${objects}/lamps/desk`, { spec: { broken: false } })
    const { body: lit } = await until(`${objects}/lamps/desk`, ({ body }) => body.status?.lit === true)
    expect(lit.status.reconcile?.attempt ?? 0).toBe(0)
  })

  it('waits for most of a minute in a held message, and runs again by itself', async () => {
    await stage.request('POST', `${objects}/shelves`, shelf('empty', { books: 0 }))
    const runs = (): number => stage.functions.shelf.log.split('controller_runtime_reconcile_total').length
    await until(`${objects}/shelves/empty`, ({ body }) =>
      body.status?.conditions?.some((one: { reason: string }) => one.reason === 'Requeued'),
    )
    const before = runs()
    await until(`${objects}/shelves/empty`, () => runs() > before)
    expect(runs()).toBeGreaterThan(before)
  })

  const apply = async (names: readonly string[], spec: object): Promise<void> => {
    for (const name of names) await stage.request('POST', `${objects}/shelves`, shelf(name, spec))
  }
  const areReady = async (names: readonly string[]): Promise<void> => {
    for (const name of names) await until(`${objects}/shelves/${name}`, isReady)
  }
  const remove = async (names: readonly string[]): Promise<void> => {
    for (const name of names) await stage.request('DELETE', `${objects}/shelves/${name}`)
    for (const name of names) await until(`${objects}/shelves/${name}`, ({ status }) => status === 404)
  }

  it('runs as many batches of a queue at once as the template lets, and no more', async () => {
    const names = Array.from({ length: 45 }, (_, i) => `many-${i}`)
    await apply(names, { books: 1, ms: 3_000 })
    await areReady(names)
    const lets = stage.wiring.mappings.map(({ concurrency }) => concurrency)
    expect(lets).toContain(4)
    expect(stage.functions.shelf.most).toBe(4)
    await remove(names)
  })

  it('asks again for what the account had no room for, and gives no object up', async () => {
    const names = Array.from({ length: 12 }, (_, i) => `crowded-${i}`)
    await apply(names, { books: 1 })
    stage.room.limit = 1
    for (let round = 0; round < 3; round++) {
      await stage.settle()
      await stage.endHiding()
    }
    stage.room.limit = Infinity
    expect(stage.room.throttled).toBeGreaterThan(0)
    await areReady(names)
    expect(stage.functions.deadLetters.most).toBe(0)
    await remove(names)
  })

  it('puts back what somebody deletes', async () => {
    const { body: before } = await look(catalog)
    await stage.request('DELETE', catalog)
    const { body: after } = await until(catalog, ({ status }) => status === 200)
    expect(after.metadata.uid).not.toBe(before.metadata.uid)
  })

  it('refuses to take a Controller away that an object needs, and lets it go when the objects are gone', async () => {
    const question = {
      type: 'Update',
      before: [shelfController, lampController],
      after: [lampController],
    } as const
    const refused = await askCloudFormation(stage.functions.removal, question)
    expect(refused).toMatchObject({ Status: 'FAILED', Reason: expect.stringContaining('default/first') })
    for (const plural of ['shelves', 'lamps']) await stage.request('DELETE', `${objects}/${plural}`)
    await until(`${objects}/shelves`, ({ body }) => body.items.length === 0)
    await until(catalog, ({ status }) => status === 404)
    expect(await askCloudFormation(stage.functions.removal, question)).toMatchObject({ Status: 'SUCCESS' })
  })
})
