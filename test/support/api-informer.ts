import type { IncomingMessage } from 'node:http'
import type { ApiClient } from './api-client.ts'
import { Gone, type Held, type InformerEvent, type InformerSource } from './informer.ts'

interface Listed {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string }
}

/** An informer's source over HTTPS, at the path of a collection. */
export function apiSource(client: ApiClient, path: string): InformerSource {
  async function* watch(version: string, signal: AbortSignal): AsyncGenerator<InformerEvent> {
    const response = await client.stream(`${path}?watch=1&allowWatchBookmarks=true&resourceVersion=${version}`)
    const leave = (): void => void response.destroy()
    signal.addEventListener('abort', leave, { once: true })
    try {
      if (isGone(response.statusCode)) throw new Gone()
      if (response.statusCode !== 200) throw new Error(`the watch is refused: ${response.statusCode}`)
      for await (const line of linesOf(response)) yield eventOf(line)
    } finally {
      signal.removeEventListener('abort', leave)
      leave()
    }
  }
  return {
    watch,
    list: async () => {
      const { status, body } = await client.send(`GET ${path}`)
      if (status !== 200) throw new Error(`the list is refused: ${status}`)
      const items = body.items as readonly Listed[]
      return { items: items.map(heldOf), version: String(body.metadata.resourceVersion) }
    },
  }
}

function isGone(status: number | undefined): boolean {
  return status === 410 || status === 504
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<string> {
  let text = ''
  for await (const piece of response.setEncoding('utf8')) {
    const lines = (text + String(piece)).split('\n')
    text = lines.pop() ?? ''
    yield* lines
  }
}

function eventOf(line: string): InformerEvent {
  const { type, object } = JSON.parse(line)
  if (type !== 'ERROR') return { type, object: heldOf(object) }
  throw isGone(object.code) ? new Gone() : new Error(object.message)
}

function heldOf({ metadata }: Listed): Held {
  return { name: metadata.name, uid: metadata.uid, version: metadata.resourceVersion }
}
