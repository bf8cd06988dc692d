import type { AddressInfo } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import { loadLocalCredentials } from '../../shared/adapters/local/https/local-credentials.ts'
import { serve } from './serve.ts'

/**
 * The least that a server of Node does for watchers: the same bytes to each connection, four events of 1 KB at a time,
 * 100 a second.
 */
const event = `{"type":"MODIFIED","object":${JSON.stringify({ data: 'x'.repeat(1_000) })}}\n`
const piece = Buffer.from(`${(event.length * 4).toString(16)}\r\n${event.repeat(4)}\r\n`)
const everyMs = 40

await serve(async (directory) => {
  const { tls, authority, token } = loadLocalCredentials(directory, Date.now())
  const sockets = new Set<TLSSocket>()
  const server = createServer({ ...tls, noDelay: true, minVersion: 'TLSv1.2' }, (socket) => {
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n \r\n', 'latin1')
      sockets.add(socket)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  setInterval(() => {
    for (const socket of sockets) socket.write(piece)
  }, everyMs)
  return { port: (server.address() as AddressInfo).port, authority, token, stop: async () => void server.close() }
})
