import { OperatingError } from '../../../shared/model/errors.ts'
import type { Checkpoint } from '../../../shared/ports/checkpoint.ts'
import type { WorkQueue } from '../../../shared/ports/work-queue.ts'
import { createAwsQueues, type AwsQueues, type AwsQueuesOptions } from '../../../shared/runtime/aws/queues.ts'
import type { Environment } from '../../../shared/runtime/aws/environment.ts'
import type { Life } from '../life.ts'
import type { KindName, QueueCounts, QueueDeployment, QueueTrouble } from '../scenario.ts'
import { beginMs, type World } from '../world.ts'
import { endsAtMs, learnsAtMs } from './deployments.ts'
import type { SimQueue } from './sim-queue.ts'

/** The queues of controllers that have several: deployments make them, change what functions know, and delete them. */
export interface QueueStack {
  /** The queues as a process knows them, by the variables of its deployment. */
  queuesOf(life: Life, options: Pick<AwsQueuesOptions, 'controllers' | 'checkpoint' | 'open'>): AwsQueues
  /** What the table says when all of the first queues have been used for long. */
  readonly plan: string
}

export interface QueueStackOptions {
  readonly world: World
  readonly seed: number
  readonly trouble: QueueTrouble
  /** The controllers that have queues of their own. */
  readonly controllers: readonly { readonly name: string; readonly kind: { readonly kind: string } }[]
  /** Those that there are, by name. */
  readonly queues: Map<string, SimQueue>
  readonly create: (queue: string, controller: string) => SimQueue
  /** Has a function be given its messages from now on. */
  readonly serve: (queue: SimQueue, name: string, controller: string) => void
}

export function createQueueStack(options: QueueStackOptions): QueueStack {
  const { world, trouble, controllers, queues } = options
  const stages = [{ queues: trouble.first, used: trouble.first }, ...trouble.deployments]
  const countOf = (counts: QueueCounts, kind: string): number => counts[kind as KindName] ?? 1

  function environmentOf(stage: number): Environment {
    const { queues: there, used } = stages[stage] ?? { queues: {}, used: {} }
    const several = controllers.filter(({ kind }) => countOf(there, kind.kind) > 1)
    const urls = controllers.map(({ name, kind }) => {
      const all = Array.from({ length: countOf(there, kind.kind) }, (_, i) => urlOf(queueName(name, i)))
      return [name, all.length > 1 ? all : all[0]] as const
    })
    return {
      SETPOINT_QUEUES: JSON.stringify({ ...Object.fromEntries(urls), system: urlOf('system') }),
      SETPOINT_QUEUES_USED: JSON.stringify(
        Object.fromEntries(several.map(({ name, kind }) => [name, countOf(used, kind.kind)])),
      ),
    }
  }

  for (const { name, kind } of controllers) followCounts(options, name, (counts) => countOf(counts, kind.kind))

  return {
    plan: JSON.stringify(
      Object.fromEntries(
        controllers
          .filter(({ kind }) => countOf(trouble.first, kind.kind) > 1)
          .map(({ name, kind }) => [name, [[countOf(trouble.first, kind.kind), 0]]]),
      ),
    ),
    queuesOf: (life, { controllers: known, checkpoint, open }) =>
      watchArrivals(
        createAwsQueues({
          environment: environmentOf(life.deployment),
          clock: life.clock,
          controllers: known,
          checkpoint: (name) => noteSaves(checkpoint(name), world),
          open,
          askDepth: async (url) => (queues.get(nameIn(url)) ?? missing()).waiting(),
        }),
        world,
      ),
  }
}

/** The queue of this URL, as it is when it is called. */
export function queueAt(queues: ReadonlyMap<string, SimQueue>, url: string, loop: string): WorkQueue {
  const port = (): WorkQueue => (queues.get(nameIn(url)) ?? missing()).portOf(loop)
  return {
    send: async (wakeUps) => port().send(wakeUps),
    receive: async (...how) => port().receive(...how),
    settle: async (deliveries) => port().settle(deliveries),
    hold: async (deliveries, ms) => port().hold(deliveries, ms),
    wake: async (handle) => port().wake(handle),
  }
}

function missing(): never {
  throw new OperatingError('UNAVAILABLE', 'there is no such queue')
}

export function arnOf(queue: string): string {
  return `arn:aws:sqs:region:1:${queue}`
}

function urlOf(queue: string): string {
  return `https://sqs/1/${queue}`
}

function nameIn(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1)
}

/** The first one keeps the name of the only one. */
function queueName(controller: string, i: number): string {
  return i === 0 ? controller : `${controller}-${i + 1}`
}

/**
 * Makes the queues of a controller that a deployment begins with, and deletes those that it had before when it is over
 * and they are empty. Lambda reads a new queue when the function knows it.
 */
function followCounts(options: QueueStackOptions, controller: string, countIn: (counts: QueueCounts) => number): void {
  const { world, seed, trouble, queues, create, serve } = options
  const make = (i: number): SimQueue => {
    const name = queueName(controller, i)
    const queue = create(name, controller)
    queues.set(name, queue)
    return queue
  }
  for (let i = 0; i < countIn(trouble.first); i++) serve(make(i), queueName(controller, i), controller)

  async function follow(deployment: QueueDeployment, stage: number): Promise<void> {
    const before = countIn(trouble.deployments[stage - 2]?.queues ?? trouble.first)
    const after = countIn(deployment.queues)
    await until(deployment.atMs)
    for (let i = before; i < after; i++) {
      const name = queueName(controller, i)
      if (queues.has(name)) continue
      const queue = make(i)
      const readAtMs = learnsAtMs(seed, stage, deployment, `reconcile ${controller}`)
      world.after(readAtMs - deployment.atMs, () => serve(queue, name, controller))
    }
    await until(endsAtMs(deployment) + (deployment.cleanupMs ?? 0))
    for (let i = after; i < before; i++) void takeAway(i)
  }

  const isWanted = (i: number): boolean =>
    countIn(trouble.deployments.findLast(({ atMs }) => atMs <= world.nowMs() - beginMs)?.queues ?? trouble.first) > i

  async function takeAway(i: number): Promise<void> {
    const name = queueName(controller, i)
    const queue = queues.get(name)
    while ((queue?.depth() ?? 0) > 0) await world.sleep(5_000)
    if (isWanted(i)) return
    world.fault('queue deleted')
    world.note(`queue ${name} is deleted`)
    queues.delete(name)
  }

  const until = (sinceMs: number): Promise<void> => world.sleep(beginMs + sinceMs - world.nowMs())
  for (const [i, deployment] of trouble.deployments.entries()) void follow(deployment, i + 1)
}

function noteSaves({ load, save }: Checkpoint, world: World): Checkpoint {
  return {
    load,
    save: async (text) => {
      world.note(`plan of queues: ${text}`)
      await save(text)
    },
  }
}

/** Says of each message that is not run where it came out what becomes of it. */
function watchArrivals(queues: AwsQueues, world: World): AwsQueues {
  return {
    ...queues,
    receiveFrom: (loop, arn) => {
      const received = queues.receiveFrom(loop, arn)
      return {
        ...received,
        findArrival: async (key) => {
          const arrival = await received.findArrival(key)
          if (arrival.kind === 'run') return arrival
          world.fault(arrival.kind === 'hold' ? 'message held for its old queue' : 'message sent on to its queue')
          world.note(`${loop.name} ${key.name} out of ${arn}: ${JSON.stringify(arrival)}`)
          return arrival
        },
      }
    },
  }
}
