import { setTimeout as sleep } from 'node:timers/promises'
import type { SeededRandom } from '../../shared/testing/seeded-random.ts'
import type { ApiClient, ApiReply, SendOptions } from '../support/api-client.ts'

export const items = '/apis/chaos.setpoint.dev/v1/namespaces/default/items'

/** What one name's writer has been told, and what it is about to find out. */
export interface WrittenItem {
  readonly name: string
  /** The last write that was acknowledged; undefined before the first, and after a deletion was seen to its end. */
  readonly live?: { readonly uid: string; readonly value: number; readonly resourceVersion: string }
  /** A deletion has been asked for: the object may be gone. */
  readonly isDeleting: boolean
  /** Objects of this name that were seen gone. */
  readonly gone: readonly string[]
}

/** Writes objects of its own names, one write at a time, each repeated until it is acknowledged. */
export interface Writer {
  readonly written: readonly WrittenItem[]
  /** How many were acknowledged. */
  readonly applies: number
  /** How many requests had to be made again. */
  readonly refused: number
  /** Writes until told to stop, and ends with nothing in the air. Rejects when it is refused. */
  run(signal: AbortSignal): Promise<void>
}

export interface WriterOptions {
  readonly client: ApiClient
  readonly random: SeededRandom
  readonly names: readonly string[]
}

/** Between two writes of one writer, on average: several writers keep the control plane busy, not drowned. */
const pauseMs = 20
const deletesShare = 0.15

export function createWriter({ client, random, names }: WriterOptions): Writer {
  const written = names.map((name): WrittenItem => ({ name, isDeleting: false, gone: [] }))
  let value = 0
  let applies = 0
  let refused = 0
  const again = (): void => {
    refused++
  }

  const apply = async (i: number, item: WrittenItem): Promise<void> => {
    const body = {
      apiVersion: 'chaos.setpoint.dev/v1',
      kind: 'Item',
      metadata: { name: item.name },
      spec: { value: ++value },
    }
    const { metadata, spec } = await acknowledged(client, `PATCH ${items}/${item.name}?fieldManager=chaos`, {
      body,
      contentType: 'application/apply-patch+yaml',
      again,
    })
    const { uid, resourceVersion } = metadata
    written[i] = { ...item, live: { uid, value: spec.value, resourceVersion } }
    applies++
  }

  /** Asks for the deletion and sees it to its end. */
  const remove = async (
    i: number,
    { live, ...item }: WrittenItem & Required<Pick<WrittenItem, 'live'>>,
  ): Promise<void> => {
    written[i] = { ...item, live, isDeleting: true }
    await acknowledged(client, `DELETE ${items}/${item.name}`, { again }, [404])
    while ((await acknowledged(client, `GET ${items}/${item.name}`, {}, [404])).kind !== 'Status') await sleep(50)
    written[i] = { ...item, isDeleting: false, gone: [...item.gone, live.uid] }
  }

  return {
    written,
    get applies() {
      return applies
    },
    get refused() {
      return refused
    },
    run: async (signal) => {
      while (!signal.aborted) {
        const i = Math.floor(random.next() * written.length)
        const item = written[i] as WrittenItem
        const { live } = item
        if (live !== undefined && random.next() < deletesShare) await remove(i, { ...item, live })
        else await apply(i, item)
        await sleep(random.next() * 2 * pauseMs)
      }
    },
  }
}

/** A connection that broke says as much as a server that is not there yet. */
const broken: ApiReply = { status: 503, body: undefined }

/**
 * Sends a request until it is answered with success, or with another status that will do. Writes bear to be repeated.
 */
async function acknowledged(
  client: ApiClient,
  line: string,
  { again, ...options }: SendOptions & { readonly again?: () => void },
  welcome: readonly number[] = [],
): Promise<ApiReply['body']> {
  for (;;) {
    const { status, body } = await client.send(line, options).catch(() => broken)
    if ((status >= 200 && status < 300) || welcome.includes(status)) return body
    if (status !== 409 && status !== 429 && status < 500) throw new Error(`${line}: ${status} ${JSON.stringify(body)}`)
    again?.()
    await sleep(20)
  }
}
