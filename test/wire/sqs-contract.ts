import { setTimeout as sleep } from 'node:timers/promises'
import { describe } from 'vitest'
import { workQueueContract, type Differences } from '../contract/work-queue.contract.ts'
import { openTestQueue } from '../support/sqs-queue.ts'
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
    const open = async () => {
      const { queue, answered, close } = await openTestQueue(endpoint, visibilityMs)
      const pass = async (ms: number): Promise<void> => {
        await sleep(ms)
        await answered()
      }
      return { queue, visibilityMs, latencyMs, pass, close }
    }
    workQueueContract(`SQS FIFO (${peer.name})`, open, differences)
  })
}
