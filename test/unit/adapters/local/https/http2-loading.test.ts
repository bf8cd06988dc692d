import { connect } from 'node:http2'
import { duplexPair, type Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { afterEach, expect, it } from 'vitest'
import { createHttp2 } from '../../../../../shared/adapters/local/https/http2.ts'
import type { Http2Sessions } from '../../../../../shared/adapters/local/https/http2-sessions.ts'
import type { ClientCertificate } from '../../../../../shared/ports/authenticator.ts'
import { eventually } from '../../../../support/eventually.ts'
import { ok } from './server-harness.ts'

/** The half of a server that speaks HTTP/2, which is loaded for the first client. */

const left: (() => void)[] = []
afterEach(() => {
  for (const leave of left.splice(0)) leave()
})

function open(load?: Parameters<typeof createHttp2>[1]) {
  const logged: string[] = []
  const log = (message: string): void => void logged.push(message)
  const logger = { debug: log, info: log, warn: log, error: log, with: () => logger }
  const timing = { handshakeSeconds: 1, requestSeconds: 60, idleSeconds: 60 }
  const handler = async () => ok('x')
  const sessions = createHttp2({ handler, logger, timing }, load)
  left.push(() => sessions.close())
  return { sessions, logged }
}

function take(sessions: Http2Sessions, socket: TLSSocket, certificate?: ClientCertificate): void {
  sessions.serve(socket, certificate)
}

function serve(sessions: Http2Sessions): { readonly near: Duplex; readonly far: Duplex } {
  const [near, far] = duplexPair()
  take(sessions, far as TLSSocket)
  return { near, far }
}

it('serves the clients that came while it was loaded, and those behind them', async () => {
  const { sessions, logged } = open()
  const bodies: string[] = []
  for (let i = 0; i < 3; i++) {
    const { near } = serve(sessions)
    const session = connect('http://x', { createConnection: () => near })
    left.push(() => session.destroy())
    session.request({ ':path': '/' }).on('data', (bytes: Buffer) => bodies.push(bytes.toString()))
    if (i > 0) await eventually(async () => expect(bodies).toHaveLength(i + 1))
  }
  expect([bodies, logged]).toEqual([['x', 'x', 'x'], []])
})

it('takes nobody once it is closed, though they came before', async () => {
  const { sessions } = open()
  const early = serve(sessions)
  sessions.close()
  const late = serve(sessions)
  await eventually(async () => expect([early.far.destroyed, late.far.destroyed]).toEqual([true, true]))
})

it('closes what was still loaded when it was closed', async () => {
  const told: string[] = []
  const loading = Promise.withResolvers<Http2Sessions>()
  const { sessions } = open(() => loading.promise)
  const { far } = serve(sessions)
  sessions.close()
  loading.resolve({ serve: () => void told.push('served'), close: () => void told.push('closed') })
  await eventually(async () => expect(far.destroyed).toBe(true))
  expect(told).toEqual(['closed'])
})

it('is loaded again for the next client where it could not be read', async () => {
  const served: string[] = []
  const loads = [
    () => Promise.reject(new Error('EMFILE: too many open files')),
    () => Promise.resolve({ serve: () => void served.push('second'), close: () => {} }),
  ]
  const { sessions, logged } = open(async () => (loads.shift() as () => Promise<Http2Sessions>)())
  const first = serve(sessions)
  await eventually(async () => expect(first.far.destroyed).toBe(true))
  serve(sessions)
  await eventually(async () => expect([served, logged]).toEqual([['second'], ['response aborted']]))
})

it('ends the connection of a client that it cannot serve, and says so', async () => {
  const { sessions, logged } = open()
  let isEnded = false
  const broken = {
    on: () => broken,
    get destroyed(): boolean {
      throw new RangeError('a bug')
    },
    destroy: () => {
      isEnded = true
    },
  }
  take(sessions, broken as unknown as TLSSocket)
  await eventually(async () => expect([isEnded, logged]).toEqual([true, ['response aborted']]))
})

it('survives a connection that breaks ahead of its first word', () => {
  const { sessions } = open()
  const { far } = serve(sessions)
  expect(far.listenerCount('error')).toBeGreaterThan(0)
  expect(() => far.emit('error', new Error('reset'))).not.toThrow()
})
