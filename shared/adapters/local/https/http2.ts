import type { TLSSocket } from 'node:tls'
import type { ClientCertificate } from '../../../ports/authenticator.ts'
import type { Http2Options, Http2Sessions } from './http2-sessions.ts'
import { breakOff } from './listener.ts'

/** node:http2 is loaded for the first client that speaks it: it takes 5 MB and 20 ms. */
export function createHttp2(options: Http2Options): Http2Sessions {
  let sessions: Promise<Http2Sessions> | undefined
  let isClosed = false
  const load = async (): Promise<Http2Sessions> => {
    const { createHttp2Sessions } = await import('./http2-sessions.ts')
    return createHttp2Sessions(options)
  }
  const serve = async (socket: TLSSocket, certificate: ClientCertificate | undefined): Promise<void> => {
    try {
      sessions ??= load()
      const loaded = await sessions
      if (isClosed) socket.destroy()
      else loaded.serve(socket, certificate)
    } catch (error) {
      breakOff(options.logger, error)
      socket.destroy()
    }
  }
  return {
    serve: (socket, certificate) => {
      // What breaks a connection closes it.
      socket.on('error', () => {})
      void serve(socket, certificate)
    },
    close: () => {
      isClosed = true
      void sessions?.then((loaded) => loaded.close())
    },
  }
}
