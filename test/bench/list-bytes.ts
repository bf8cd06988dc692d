import type { AddressInfo } from 'node:net'
import { createServer } from 'node:https'
import { pipeline } from 'node:stream/promises'
import { loadLocalCredentials } from '../../shared/adapters/local/https/local-credentials.ts'
import { gadgetText } from './gadget.ts'
import { serve } from './serve.ts'

/** The least that a server of Node does for a list: as many objects of the same size, made one after the other. */
const portion = 100

await serve(async (directory) => {
  const { tls, authority, token } = loadLocalCredentials(directory, Date.now())
  const server = createServer(tls, (request, response) => {
    const count = Number(new URL(request.url ?? '/', 'https://localhost').searchParams.get('objects'))
    response.setHeader('content-type', 'application/json')
    pipeline(items(count), response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return { port: (server.address() as AddressInfo).port, authority, token, stop: async () => void server.close() }
})

function* items(count: number): Generator<string> {
  yield '{"items":['
  for (let first = 0; first < count; first += portion) {
    const size = Math.min(portion, count - first)
    const texts = Array.from({ length: size }, (_, i) => {
      const { head, tail } = gadgetText(`gadget-${first + i}`, first + i)
      return `${head}1${tail}`
    })
    yield `${first === 0 ? '' : ','}${texts.join()}`
  }
  yield ']}'
}
