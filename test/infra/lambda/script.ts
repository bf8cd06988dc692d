import { setTimeout } from 'node:timers/promises'
import { askCloudFormation, shelfController } from './cloudformation.ts'
import { tickEvent, type Stage } from './stage.ts'
import { queueNames } from './synthesized-code.ts'

const objects = '/apis/example.dev/v1/namespaces/default'
const configMaps = '/api/v1/namespaces/default/configmaps'
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** The first minute of a control plane, and somebody who applies a shelf. */
export async function applyFirstShelf({ functions, request, settle }: Stage): Promise<void> {
  await functions.resync.invoke(tickEvent())
  await settle()
  await request('POST', `${objects}/shelves`, shelf('first', { books: 3 }))
  await settle()
}

export function shelf(name: string, spec: object): object {
  return { apiVersion: 'example.dev/v1', kind: 'Shelf', metadata: { name }, spec }
}

function lamp(name: string, spec: object): object {
  return { apiVersion: 'example.dev/v1', kind: 'Lamp', metadata: { name }, spec }
}

/**
 * A day in the life of a control plane, told so that every function does everything of which it is capable: what this
 * provokes is what the permissions of each function are held against.
 */
export async function everything(stage: Stage): Promise<void> {
  await anOldDefinition(stage)
  await applyFirstShelf(stage)
  await watching(stage)
  await references(stage)
  await aLateWatch(stage)
  await failing(stage)
  await slowNeighbours(stage)
  await deletion(stage)
  await removals(stage)
  await aNamespace(stage)
  await deadMessages(stage)
  await timers(stage)
  await pages(stage)
  await accountToken(stage)
  await askCloudFormation(stage.functions.removal, { type: 'Delete', after: [shelfController] })
  await applyFirstShelf(stage)
  await askCloudFormation(stage.functions.removal, { type: 'Update', before: [shelfController], after: [] })
}

/** Of an earlier version of the code, so that the tick has one to bring up to date. */
async function anOldDefinition({ request }: Stage): Promise<void> {
  const names = { plural: 'lamps', singular: 'lamp', kind: 'Lamp', listKind: 'LampList' }
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  await request('POST', definitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'lamps.example.dev' },
    spec: {
      group: 'example.dev',
      scope: 'Namespaced',
      names,
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  })
}

/** What `setpoint get-queue` and its like ask for. */
async function pages({ request }: Stage): Promise<void> {
  for (const plural of ['queues', 'timers', 'budgets']) await request('GET', `/apis/setpoint.dev/v1/${plural}`)
  await request('GET', '/doctor')
}

/** The first token makes the key. The authorizer reads its public half, and the API shows that half to others. */
async function accountToken({ request, requestAs }: Stage): Promise<void> {
  const token = await makeToken({ request })
  const { status } = await requestAs(`Bearer ${token}`, 'GET', configMaps)
  if (status !== 403) throw new Error(`a ServiceAccount without rights is answered ${status}`)
  const { text } = await request('GET', '/openid/v1/jwks')
  if (!text.includes('"ES256"')) throw new Error(`no public key: ${text}`)
}

const accounts = '/api/v1/namespaces/default/serviceaccounts'

/** As `kubectl create token robot` asks for one. */
export async function makeToken({ request }: Pick<Stage, 'request'>): Promise<string> {
  await request('POST', accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } })
  const { status, text } = await request('POST', `${accounts}/robot/token`, { spec: {} })
  if (status !== 201) throw new Error(`no token: ${text}`)
  return (JSON.parse(text) as { readonly status: { readonly token: string } }).status.token
}

/** A write that comes after the list is in the watch, however slow the machine is. */
async function watching({ request }: Stage): Promise<void> {
  const list = await request('GET', `${objects}/shelves`)
  const { metadata } = JSON.parse(list.text) as { readonly metadata: { readonly resourceVersion: string } }
  await patch(request, `${objects}/shelves/first`, { metadata: { annotations: { 'example.dev/shade': 'oak' } } })
  const watch = `${objects}/shelves?watch=true&timeoutSeconds=4&resourceVersion=${metadata.resourceVersion}`
  await request('GET', watch)
}

async function references({ request, settle }: Stage): Promise<void> {
  await request('POST', configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'labels' }, data: {} })
  await request('POST', `${objects}/shelves`, shelf('labelled', { books: 1, labels: 'labels' }))
  await settle()
  await patch(request, `${configMaps}/labels`, { data: { colour: 'red' } })
  await settle()
  await patch(request, `${objects}/shelves/labelled`, { spec: { labels: null } })
  await settle()
}

/** The tick notes what objects refer to for a loop that it has not seen before, ahead of the relay. */
async function aLateWatch({ functions, request, settle, forgetTicks }: Stage): Promise<void> {
  await forgetTicks()
  await functions.resync.invoke(tickEvent())
  await request('POST', `${objects}/shelves`, shelf('unseen', { books: 1, labels: 'labels' }))
  await functions.resync.invoke(tickEvent())
  await settle()
}

/** A run that fails is held back; the edit that mends it ends the hold. */
async function failing({ request, settle }: Stage): Promise<void> {
  await request('POST', `${objects}/lamps`, lamp('desk', { broken: true }))
  await settle()
  await patch(request, `${objects}/lamps/desk`, { spec: { broken: false } })
  await settle()
}

/** Messages of quick keys are deleted before their batch is over. */
async function slowNeighbours({ request, settle }: Stage): Promise<void> {
  await request('POST', `${objects}/shelves`, shelf('quick', { books: 1 }))
  await request('POST', `${objects}/shelves`, shelf('slow', { books: 1, ms: 3_000 }))
  await settle()
}

/** Children go with their owner, and what is gone may come back at once. */
async function deletion({ request, settle }: Stage): Promise<void> {
  await request('DELETE', `${configMaps}/first-catalog`)
  await settle()
  await request('DELETE', `${objects}/shelves/first`)
  await settle()
  await request('POST', `${objects}/shelves`, shelf('first', { books: 4, labels: 'labels' }))
  await settle()
  await request('DELETE', `${objects}/shelves/first`)
  await settle()
  await request('POST', `${objects}/shelves`, shelf('first', { books: 5 }))
  await settle()
}

/** A lamp whose removal cannot be seen to at once, so that the next of its name goes before it is. */
async function removals({ request, settle }: Stage): Promise<void> {
  for (let i = 0; i < 2; i++) {
    await request('POST', `${objects}/lamps`, lamp('hall', { broken: true, socket: 'labels' }))
    await settle()
    await request('DELETE', `${objects}/lamps/hall`)
    await settle()
  }
}

/** Everything in it goes with a namespace. */
async function aNamespace({ request, settle }: Stage): Promise<void> {
  const attic = '/apis/example.dev/v1/namespaces/attic'
  await request('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'attic' } })
  await request('POST', `${attic}/shelves`, shelf('dusty', { books: 9 }))
  await request('POST', `${attic}/lamps`, lamp('dim', { socket: 'none' }))
  await settle()
  await request('DELETE', '/api/v1/namespaces/attic')
  await settle()
}

/** Timers that are due are found by the next tick; what a slow machine makes a tick miss, another makes up for. */
async function timers({ functions, calls, request, settle }: Stage): Promise<void> {
  await request('POST', `${objects}/shelves`, shelf('empty', { books: 0 }))
  await request('POST', `${objects}/lamps`, lamp('dark', { broken: true }))
  await aNamespaceThatStays(request)
  await settle()
  const sendsTo = (): number => calls('resync').filter(({ action }) => action === 'sqs:SendMessage').length
  for (let minute = 0; minute < 20 && sendsTo() < queueNames.length; minute++)
    await functions.resync.invoke(tickEvent())
  await settle()
}

/** What is in it is held by somebody else, so that its deletion has to look again. */
async function aNamespaceThatStays(request: Stage['request']): Promise<void> {
  const held = { name: 'held', finalizers: ['example.dev/somebody'] }
  await request('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'cellar' } })
  await request('POST', '/api/v1/namespaces/cellar/configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: held })
  await request('DELETE', '/api/v1/namespaces/cellar')
}

/** One of a controller and one of the control plane's own loops. */
async function deadMessages({ functions, settle }: Stage): Promise<void> {
  const shelfMessage = deadMessage('shelf', 'example.dev/Shelf/default/first')
  const ownMessage = deadMessage('garbage-collector', '/ConfigMap/default/labels')
  await functions.deadLetters.invoke({ Records: [shelfMessage, ownMessage] })
  await functions.deadLetters.invoke({ Records: [shelfMessage] })
  await setTimeout(50)
  await settle()
}

export function deadMessage(loop: string, key: string): object {
  const wakeUp = { loop, key, origin: 'change', dedupId: 'dead', lane: 'urgent', reason: 'a test' }
  return {
    messageId: `${loop}-dead`,
    receiptHandle: 'none',
    body: JSON.stringify(wakeUp),
    attributes: { ApproximateReceiveCount: '1' },
    eventSource: 'aws:sqs',
  }
}

function patch(request: Stage['request'], path: string, body: object): ReturnType<Stage['request']> {
  return request('PATCH', path, body)
}
