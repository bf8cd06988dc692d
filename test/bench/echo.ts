import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { loadLocalCredentials } from '../../shared/adapters/local/https/local-credentials.ts'
import { serve } from './serve.ts'

/** The least that any HTTPS server of Node does with a change: takes it, parses it, writes it out again. */
await serve(async (directory) => {
  const { tls, authority, token } = loadLocalCredentials(directory, Date.now())
  const server = createServer({ ...tls, noDelay: true, minVersion: 'TLSv1.2' }, (incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const text = JSON.stringify(JSON.parse(Buffer.concat(chunks).toString()))
      outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
      // It is ASCII, and Latin-1 is the cheapest way to say so.
      outgoing.end(text, 'latin1')
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return { port: (server.address() as AddressInfo).port, authority, token, stop: async () => void server.close() }
})
