import type { TLSSocket } from 'node:tls'
import { loadOnce } from '../../../model/load-once.ts'
import type { ClientCertificate } from '../../../ports/authenticator.ts'
import type { Http2Options, Http2Sessions } from './http2-sessions.ts'
import { breakOff } from './listener.ts'

type LoadSessions = (options: Http2Options) => Promise<Http2Sessions>

/** node:http2 is loaded for the first client that speaks it: it takes 5 MB and 20 ms. */
export function createHttp2(options: Http2Options, load: LoadSessions = loadSessions): Http2Sessions {
  let loaded: Http2Sessions | undefined
  let isClosed = false
  const open = loadOnce(async () => (loaded = await load(options)))
  const serve = async (socket: TLSSocket, certificate: ClientCertificate | undefined): Promise<void> => {
    try {
      const sessions = await open()
      if (isClosed) {
        sessions.close()
        socket.destroy()
      } else sessions.serve(socket, certificate)
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
      loaded?.close()
    },
  }
}

const loadSessions: LoadSessions = async (options) => {
  const { createHttp2Sessions } = await import('./http2-sessions.ts')
  return createHttp2Sessions(options)
}
