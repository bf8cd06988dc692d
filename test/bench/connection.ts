import { connect as connectTls } from 'node:tls'

/** Where a server under test is, and how it is spoken to. */
export interface Target {
  readonly port: number
  /** PEM of the authority that signed its certificate. */
  readonly authority: string
  readonly token: string
}

export interface Reply {
  readonly status: number
  readonly body: Buffer
}

/** One kept-alive connection that carries one request at a time. */
export interface Connection {
  /** Sends a request as it goes over the wire. Rejects if the connection ends first. */
  send(request: string): Promise<Reply>
  /** Sends a request whose reply has no end, and hands on its pieces as they come. Nothing else is sent after it. */
  stream(request: string, onPiece: (piece: string) => void): void
  close(): void
}

/**
 * HTTP/1.1 over TLS with as little as it takes, so that the load costs less than what it loads: node:https spends more
 * on a request than the servers under test do. Understands what they send, nothing else: a length, or chunks.
 */
export async function connect({ port, authority }: Target): Promise<Connection> {
  const socket = connectTls({ host: '127.0.0.1', port, ca: authority, ALPNProtocols: ['http/1.1'] })
  socket.setNoDelay(true)
  let onData: (data: Buffer) => void = () => {}
  let onEnd: (error: Error) => void = () => {}
  socket.on('data', (data: Buffer) => onData(data))
  socket.on('error', (error) => onEnd(error))
  socket.on('close', () => onEnd(new Error('the server closed the connection')))
  await new Promise((resolve, reject) => {
    onEnd = reject
    socket.once('secureConnect', resolve)
  })

  return {
    send: (request) =>
      new Promise<Reply>((resolve, reject) => {
        let received: Buffer | undefined
        onEnd = reject
        if (socket.destroyed) reject(new Error('the server closed the connection'))
        onData = (data) => {
          received = received === undefined ? data : Buffer.concat([received, data])
          const reply = wholeReply(received)
          if (reply !== undefined) resolve(reply)
        }
        socket.write(request, 'latin1')
      }),
    stream: (request, onPiece) => {
      const pieces = pieceReader(onPiece)
      onEnd = () => {}
      onData = pieces
      socket.write(request, 'latin1')
    },
    close: () => socket.destroy(),
  }
}

const headEnd = '\r\n\r\n'

function wholeReply(received: Buffer): Reply | undefined {
  const end = received.indexOf(headEnd)
  if (end < 0) return undefined
  const head = received.toString('latin1', 0, end)
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
  const start = end + headEnd.length
  if (received.length < start + length) return undefined
  return { status: Number(head.slice(9, 12)), body: received.subarray(start, start + length) }
}

/** Reads a chunked reply. Throws if the status is not 200. */
function pieceReader(onPiece: (piece: string) => void): (data: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  let inBody = false
  return (data) => {
    let received = rest.length === 0 ? data : Buffer.concat([rest, data])
    if (!inBody) {
      const end = received.indexOf(headEnd)
      if (end < 0) return void (rest = received)
      if (received.toString('latin1', 9, 12) !== '200')
        throw new Error(`the stream was refused: ${received.toString()}`)
      inBody = true
      received = received.subarray(end + headEnd.length)
    }
    rest = takePieces(received, onPiece)
  }
}

/** Hands on the chunks that are whole; what is left of the last one. */
function takePieces(received: Buffer, onPiece: (piece: string) => void): Buffer {
  let at = 0
  for (;;) {
    const sizeEnd = received.indexOf('\r\n', at)
    if (sizeEnd < 0) break
    const size = Number.parseInt(received.toString('latin1', at, sizeEnd), 16)
    const end = sizeEnd + 2 + size
    if (received.length < end + 2) break
    onPiece(received.toString('utf8', sizeEnd + 2, end))
    at = end + 2
  }
  return received.subarray(at)
}

/** A request as it goes over the wire. The body is ASCII. */
export function requestText(
  { token }: Target,
  {
    method,
    path,
    type,
    body,
  }: { readonly method: string; readonly path: string; readonly type?: string; readonly body?: string },
): string {
  const entity = body === undefined ? '' : `Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n`
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n${entity}\r\n${body ?? ''}`
}
