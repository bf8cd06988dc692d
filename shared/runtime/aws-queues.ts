import { createSqsClient, queueDepth } from '../adapters/aws/sqs-depth.ts'
import { createSqsWorkQueue } from '../adapters/aws/sqs-work-queue.ts'
import type { WorkQueue } from '../ports/work-queue.ts'
import type { AwsBoundary } from './aws-boundary.ts'
import { queueUrlsOf } from './aws-environment.ts'

/** The queues of the control loops. */
export interface AwsQueues {
  readonly queueOf: (loop: { readonly name: string }) => WorkQueue
  /** About how many messages wait in a loop's queue, by all loops that share it. */
  readonly depthOf: (loop: { readonly name: string }) => Promise<number>
}

export function openAwsQueues({ environment, sqs, clock, random }: AwsBoundary): AwsQueues {
  const client = createSqsClient(sqs)
  const urls = queueUrlsOf(environment)
  const queues = new Map<string, WorkQueue>()

  function urlOf(name: string): string {
    const url = urls.get(name) ?? urls.get('system')
    if (url === undefined) throw new TypeError(`SETPOINT_QUEUES has neither ${name} nor system`)
    return url
  }

  function open(name: string): WorkQueue {
    const queue = createSqsWorkQueue({ client, queueUrl: urlOf(name), loop: name, clock, random })
    queues.set(name, queue)
    return queue
  }

  return {
    queueOf: ({ name }) => queues.get(name) ?? open(name),
    depthOf: ({ name }) => queueDepth(client, urlOf(name)),
  }
}
