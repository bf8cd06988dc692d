import { once } from 'node:events'
import { WebSocket } from 'ws'

/** A client of `ws`, with what a test wants to know of it. */
export interface WebsocketClient extends AsyncDisposable {
  readonly socket: WebSocket
  /** The next message; `undefined` when there is no other. */
  next(): Promise<string | undefined>
  /** How it ended. */
  readonly closed: Promise<number>
}

export interface WebsocketOptions {
  readonly authority: string | Buffer
  readonly token?: string | undefined
  readonly protocols?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
}

/** Opens one at an https url. Rejects if it is refused, with the status in its message. */
export async function openWebsocket(url: string, options: WebsocketOptions): Promise<WebsocketClient> {
  const { authority, token, protocols = [], headers } = options
  const socket = new WebSocket(url.replace(/^https/, 'wss'), [...protocols], {
    ca: authority,
    headers: { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
  })
  const messages: string[] = []
  let look = (): void => {}
  socket.on('message', (data: Buffer) => {
    messages.push(data.toString())
    look()
  })
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  socket.once('close', () => look())
  await once(socket, 'open')
  socket.on('error', () => {})
  return {
    socket,
    closed,
    next: () =>
      new Promise((resolve) => {
        look = () => {
          if (messages.length === 0 && socket.readyState !== WebSocket.CLOSED) return
          look = () => {}
          resolve(messages.shift())
        }
        look()
      }),
    [Symbol.asyncDispose]: async () => {
      socket.terminate()
      await closed
    },
  }
}
