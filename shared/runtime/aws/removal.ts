import type {
  CloudFormationCustomResourceEvent,
  CloudFormationCustomResourceResponse,
  CloudFormationCustomResourceUpdateEvent,
} from 'aws-lambda'
import { backoffMs } from '../../engine/state/backoff.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import { listPages } from '../../resources/list-pages.ts'
import { createFindStackStatus, type FindStackStatus } from '../../adapters/aws/stack-status.ts'
import { createSeeing, type AwsBoundary } from './boundary.ts'
import { openAwsTable } from './table.ts'

/** A controller as the deployment has it. */
export interface DeployedController {
  readonly name: string
  readonly group: string
  readonly kind: string
  /** What its objects carry until it has cleaned up; without it nothing has to be. */
  readonly finalizer?: string
}

/**
 * Refuses to take controllers away whose objects still carry their finalizer: nobody would clean up after those
 * objects, and none of them could ever be deleted. CloudFormation asks before it takes away anything, on an update and
 * when the stack goes.
 *
 * Protocol: AWS CloudFormation User Guide, "Custom resources": the answer is put to the URL of the event; a failure of
 * an update rolls it back, by one more update to the properties of before. That one is not refused: the stack would
 * stand in UPDATE_ROLLBACK_FAILED, and the functions of before run again in any case.
 */
export type AnswerRemoval = (event: CloudFormationCustomResourceEvent) => Promise<void>

/**
 * `put` sends the answer to CloudFormation, up to five times; the last failure fails the function, which Lambda then
 * calls again.
 */
export function createRemoval(boundary: AwsBoundary, put: typeof fetch): AnswerRemoval {
  const { logger } = createSeeing(boundary)
  const findStatus = createFindStackStatus(boundary.cloudformation ?? {})
  return async (event) => {
    const { store } = openAwsTable(boundary, { patienceMs })
    const found = await whyNot(event, store).catch((error: unknown) => `cannot tell what is left: ${String(error)}`)
    const reason = found && (await unlessRollback(event, found, findStatus))
    if (found !== undefined && reason === undefined)
      logger.warn('controllers rolled back, and objects have their finalizers', { left: found })
    const answer = answerTo(event, reason)
    await send(boundary, () => putAnswer(put, event.ResponseURL, answer))
  }
}

/** Without an answer CloudFormation waits until the time of the resource is over. */
async function send({ clock, random }: AwsBoundary, attempt: () => Promise<void>): Promise<void> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt()
    } catch (error) {
      if (attempts === attemptsMax) throw error
      await clock.sleep(backoffMs(attempts, random.next()))
    }
  }
}

/** With its waits little more than a minute of the function's five. */
const attemptsMax = 5
const answerMsMax = 10_000

async function putAnswer(put: typeof fetch, url: string, answer: CloudFormationCustomResourceResponse): Promise<void> {
  const signal = AbortSignal.timeout(answerMsMax)
  const { ok, status } = await put(url, { method: 'PUT', body: JSON.stringify(answer), headers: noType, signal })
  if (!ok) throw new Error(`CloudFormation did not take the answer: ${status}`)
}

/**
 * By itself fetch names the type of a text; URLs that are signed without one, as those of older Regions are, are then
 * refused.
 */
const noType = { 'content-type': '' } as const

/** Nobody waits at a terminal for single requests. */
const patienceMs = 30_000

async function whyNot(
  event: CloudFormationCustomResourceEvent,
  store: Pick<ObjectStore, 'list'>,
): Promise<string | undefined> {
  const needed = await Promise.all(controllersRemovedBy(event).map((controller) => whyNeeded(controller, store)))
  const reasons = needed.filter((one) => one !== undefined)
  return reasons.length === 0 ? undefined : reasons.join(' ')
}

/** New code ran before it was refused: its finalizers are on objects, and the code of before does not know them. */
function whatStays(event: CloudFormationCustomResourceUpdateEvent): readonly string[] {
  const { controllers: before = [] } = event.OldResourceProperties as Properties
  const { controllers: after = [] } = event.ResourceProperties as Properties
  return after.flatMap(({ group, kind, finalizer }) => {
    const known = before.filter((one) => one.group === group && one.kind === kind).flatMap((one) => one.finalizer ?? [])
    if (finalizer === undefined || known.includes(finalizer)) return []
    const body = JSON.stringify({ metadata: { finalizers: known } })
    const command = `kubectl patch ${resourceOf(group, kind)} NAME -n NAMESPACE --type=merge -p '${body}'`
    return `Objects that ran meanwhile keep the finalizer ${finalizer} after the rollback, and nobody takes it off. Name those that are to stay: ${command}`
  })
}

function resourceOf(group: string, kind: string): string {
  return (group === '' ? kind : `${kind}.${group}`).toLowerCase()
}

/** The reason, and what is to be done after the rollback; undefined for an update that is the rollback. */
async function unlessRollback(
  event: CloudFormationCustomResourceEvent,
  reason: string,
  findStatus: FindStackStatus,
): Promise<string | undefined> {
  if (event.RequestType !== 'Update') return reason
  const refusal = [reason, ...whatStays(event)].join(' ')
  try {
    return (await findStatus(event.StackId)) === 'UPDATE_ROLLBACK_IN_PROGRESS' ? undefined : refusal
  } catch (error) {
    return `${refusal} (${error instanceof Error ? error.message : String(error)})`
  }
}

interface Properties {
  readonly controllers?: readonly DeployedController[]
}

/** Those that would be gone. A controller that comes back under another name or finalizer does not know the old one. */
function controllersRemovedBy(event: CloudFormationCustomResourceEvent): readonly DeployedController[] {
  const { controllers = [] } = event.ResourceProperties as Properties
  if (event.RequestType === 'Create') return []
  if (event.RequestType === 'Delete') return controllers
  const { controllers: before = [] } = event.OldResourceProperties as Properties
  const isKept = (old: DeployedController) =>
    controllers.some(
      ({ group, kind, finalizer }) => group === old.group && kind === old.kind && finalizer === old.finalizer,
    )
  return before.filter((one) => !isKept(one))
}

const namedMax = 3

async function whyNeeded(
  { name, group, kind, finalizer }: DeployedController,
  store: Pick<ObjectStore, 'list'>,
): Promise<string | undefined> {
  if (finalizer === undefined) return undefined
  const holders: string[] = []
  for await (const { items } of listPages(store, { group, kind })) {
    const held = items
      .map(({ object }) => object.metadata)
      .filter((one) => one.finalizers?.includes(finalizer) === true)
    holders.push(...held.map((one) => [one.namespace ?? '', one.name].filter(Boolean).join('/')))
    if (holders.length > namedMax) break
  }
  return holders.length === 0 ? undefined : explanation(name, resourceOf(group, kind), { finalizer, holders })
}

interface Held {
  readonly finalizer: string
  readonly holders: readonly string[]
}

function explanation(name: string, resource: string, { finalizer, holders }: Held): string {
  const named = holders.slice(0, namedMax).join(', ')
  const objects = holders.length > namedMax ? `${named} and others` : named
  return (
    `The reconciler ${name} is needed: its finalizer ${finalizer} is on ${objects}, and nobody else would clean up after those. ` +
    `Delete them first (kubectl delete ${resource} -A --all), or remove the finalizer where there is nothing to clean up.`
  )
}

/** CloudFormation takes 4 KB. */
const reasonCharactersMax = 2_000

function answerTo(
  event: CloudFormationCustomResourceEvent,
  reason: string | undefined,
): CloudFormationCustomResourceResponse {
  const { StackId, RequestId, LogicalResourceId } = event
  // One that changed would have CloudFormation delete the old one.
  const PhysicalResourceId = 'PhysicalResourceId' in event ? event.PhysicalResourceId : LogicalResourceId
  const of = { StackId, RequestId, LogicalResourceId, PhysicalResourceId }
  if (reason === undefined) return { ...of, Status: 'SUCCESS' }
  return { ...of, Status: 'FAILED', Reason: reason.slice(0, reasonCharactersMax) }
}
