import { describe, expect, it } from 'vitest'
import { asksForWebsocket, checkHandshake, websocketAuthorization } from '../../../shared/api/websocket/handshake.ts'
import type { HttpRequest } from '../../../shared/ports/http-handler.ts'
import { endOf } from './end-of.ts'
import { request } from './sent-request.ts'

type Fields = Readonly<Record<string, string>>
const key = 'dGhlIHNhbXBsZSBub25jZQ=='
const handshake: Fields = { 'sec-websocket-version': '13', 'sec-websocket-key': key }
const holder = 'base64url.bearer.authorization.k8s.io.'

function requestOf(fields: Fields, isOffered = true): HttpRequest {
  const asked = request('GET /x', { headers: fields, token: '' })
  return isOffered ? { ...asked, websocket: { hear: () => {} } } : asked
}

describe('a websocket', () => {
  it.each<[Fields, boolean]>([
    [{}, false],
    [{ upgrade: 'websocket' }, true],
    [{ upgrade: 'WebSocket' }, true],
    [{ upgrade: 'h2c' }, false],
  ])('is asked for by %j: %s', (fields, is) => {
    expect(asksForWebsocket(requestOf(fields))).toBe(is)
  })

  const origin = 'FORBIDDEN: forbidden: a page of another origin needs a token to open a websocket'
  const several = 'UNAUTHORIZED: Unauthorized: several subprotocols hold a token'
  const page = { origin: 'https://other.dev', host: 'own.dev' }
  it.each<[Fields, string | undefined]>([
    [{}, undefined],
    [{ 'sec-websocket-protocol': '' }, undefined],
    [{ 'sec-websocket-protocol': 'a, b' }, 'a'],
    [{ 'sec-websocket-protocol': `${holder}eA, b` }, 'b'],
    [{ 'sec-websocket-protocol': `${holder}eA,${holder}eA` }, several],
    [{ 'sec-websocket-version': '8' }, 'BAD_REQUEST: Sec-WebSocket-Version is "8": the server speaks 13'],
    [
      { 'sec-websocket-version': 'x'.repeat(65) },
      `BAD_REQUEST: Sec-WebSocket-Version is "${'x'.repeat(64)}": the server speaks 13`,
    ],
    [{ 'sec-websocket-key': 'x' }, 'BAD_REQUEST: Sec-WebSocket-Key is "x": it must be 16 bytes in base64'],
    [{ 'sec-websocket-key': `${key}=` }, `BAD_REQUEST: Sec-WebSocket-Key is "${key}=": it must be 16 bytes in base64`],
    [page, origin],
    [{ ...page, origin: 'https://own.dev' }, undefined],
    [{ ...page, origin: 'HTTPS://Own.dev', host: 'oWn.dev' }, undefined],
    [{ ...page, origin: 'http://own.dev' }, origin],
    [{ origin: 'https://own.dev' }, origin],
    [{ ...page, authorization: 'Bearer x' }, undefined],
    [{ ...page, 'sec-websocket-protocol': `${holder}eA, b` }, 'b'],
  ])('with %j ends as %j', (fields, end) => {
    expect(endOf(() => checkHandshake(requestOf({ ...handshake, ...fields })))).toBe(end)
  })

  it('says what is missing, and which version it speaks', () => {
    expect(endOf(() => checkHandshake(requestOf({ 'sec-websocket-key': key })))).toBe(
      'BAD_REQUEST: Sec-WebSocket-Version is missing: the server speaks 13',
    )
    expect(endOf(() => checkHandshake(requestOf({ 'sec-websocket-version': '13' })))).toBe(
      'BAD_REQUEST: Sec-WebSocket-Key is missing: it must be 16 bytes in base64',
    )
    const answer = { status: 426, reason: 'UpgradeRequired' }
    expect(() => checkHandshake(requestOf({}))).toThrow(expect.objectContaining({ details: { answer } }))
  })
})

describe('a token among the subprotocols', () => {
  const encoded = (text: string) => Buffer.from(text).toString('base64url')
  const no = 'UNAUTHORIZED: Unauthorized: the token is not UTF-8 in base64url'
  it.each<[string, string | undefined]>([
    ['', undefined],
    ['b', undefined],
    [`${holder}${encoded('tøken??>>')}, b`, 'Bearer tøken??>>'],
    [`b,${holder}${encoded('x')}`, 'Bearer x'],
    [`${holder}${encoded('x')}`, 'UNAUTHORIZED: Unauthorized: offer a subprotocol beside the one with the token'],
    [`${holder}, b`, no],
    [`${holder}a+b/, b`, no],
    [`${holder}${Buffer.from([0xff]).toString('base64url')}, b`, no],
  ])('%j says %j', (protocols, authorization) => {
    expect(endOf(() => websocketAuthorization(requestOf({ 'sec-websocket-protocol': protocols })))).toBe(authorization)
  })

  it('is none where there can be no websocket', () => {
    const fields = { 'sec-websocket-protocol': `${holder}${encoded('x')}, b` }
    expect(websocketAuthorization(requestOf(fields, false))).toBeUndefined()
    expect(websocketAuthorization(requestOf({}))).toBeUndefined()
  })
})
