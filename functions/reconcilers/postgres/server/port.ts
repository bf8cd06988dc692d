import { createHash } from 'node:crypto'
import { addAbortListener } from 'node:events'
import { createConnection, createServer } from 'node:net'
import { PostgresFailure } from '../failure.ts'

/** The only address servers listen on. */
export const loopback = '127.0.0.1'

/**
 * Ports are taken from here: below the range that systems lend to outgoing connections, so none is lent away while a
 * server is down.
 */
const portMin = 20_000
const portCount = 10_000

/** A free port, the same one for the same directory as long as nobody else takes it. */
export async function choosePort(directory: string): Promise<number> {
  const start = createHash('sha256').update(directory).digest().readUInt32BE(0)
  for (let step = 0; step < 100; step++) {
    const port = portMin + ((start + step) % portCount)
    if (await isPortFree(port)) return port
  }
  throw new PostgresFailure('retryable', 'NoFreePort', `no free port near ${portMin + (start % portCount)}`)
}

/** What `follows` from it, and what a person can do. */
export function portInUse(port: number | string, follows: string): PostgresFailure {
  const message = `${follows}: port ${port} is in use; stop what has it, or give the cluster another (spec.port)`
  return new PostgresFailure('retryable', 'PortInUse', message)
}

/** Whether a server could listen on the port now; it may be taken the moment after. */
export async function isPortFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    )
    server.listen({ port, host: loopback, exclusive: true }, () => server.close(() => resolve(true)))
  })
}

/**
 * Whether a PostgreSQL server on this port takes connections: opens one as far as the question for a password, as
 * pg_isready does, so no password is needed and nothing is logged.
 */
export async function answersOn(port: number, signal: AbortSignal): Promise<boolean> {
  signal.throwIfAborted()
  const socket = createConnection({ port, host: loopback, timeout: 2_000 })
  const aborted = addAbortListener(signal, () => socket.destroy())
  try {
    socket.write(startupMessage({ user: 'postgres', database: 'postgres' }))
    const answers = await new Promise<boolean>((resolve) => {
      socket.once('data', (answer) => resolve(isServing(answer)))
      for (const event of ['error', 'timeout', 'close']) socket.on(event, () => resolve(false))
    })
    signal.throwIfAborted()
    return answers
  } finally {
    aborted[Symbol.dispose]()
    socket.destroy()
  }
}

/** StartupMessage of protocol 3.0. */
function startupMessage(parameters: Readonly<Record<string, string>>): Buffer {
  const body = Buffer.from(`${Object.entries(parameters).flat().join('\0')}\0\0`)
  const head = Buffer.alloc(8)
  head.writeInt32BE(head.length + body.length, 0)
  head.writeInt32BE(0x3_0000, 4)
  return Buffer.concat([head, body])
}

// "R" asks for a password. "E" refuses; only 57P03 means that the server is starting, stopping or recovering.
function isServing(answer: Buffer): boolean {
  return answer[0] === 0x52 || (answer[0] === 0x45 && !answer.includes('C57P03\0'))
}
