import type { SQSClient } from '@aws-sdk/client-sqs'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe } from 'vitest'
import { workQueueContract, type Differences, type OpenQueue } from '../contract/work-queue.contract.ts'
import { openTestQueue, sqsClient } from '../support/sqs-queue.ts'
import { onPeer } from './endpoints.ts'
import type { Peer } from './peer.ts'

const visibilityMs = 5_000

export interface SqsPeer {
  /** How late messages are visible again. */
  readonly latencyMs: number
  readonly differences: Differences
}

/** The queue's contract in real time. A file for each peer: files run side by side. */
export function sqsContract(peer: Peer, { latencyMs, differences }: SqsPeer): void {
  const { endpoint, ...options } = onPeer(peer)
  describe('over the wire', options, () => {
    const open = () => openInRealTime(sqsClient(endpoint), latencyMs)
    workQueueContract(`SQS FIFO (${peer.name})`, open, differences)
  })
}

export async function openInRealTime(client: SQSClient, latencyMs: number): Promise<OpenQueue> {
  const { queue, answered, close } = await openTestQueue(client, visibilityMs)
  const pass = async (ms: number): Promise<void> => {
    await sleep(ms)
    await answered()
  }
  return { queue, visibilityMs, latencyMs, pass, close }
}
