import { text } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { createGunzip, gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { withGzipAnswers } from '../../../shared/adapters/node/gzip-answers.ts'
import type { HttpResponse } from '../../../shared/ports/http-handler.ts'
import { request } from '../api/sent-request.ts'

const long = JSON.stringify(Array.from({ length: 30_000 }, (_, i) => `item ${i}`))
const headers = { 'content-type': 'application/json' }

function answer(body: HttpResponse['body'], line = 'GET /api/v1/configmaps', encoding?: string): Promise<HttpResponse> {
  const sent = encoding === undefined ? {} : { headers: { 'accept-encoding': encoding } }
  return withGzipAnswers(async () => ({ status: 200, headers: { ...headers, vary: 'Accept' }, body }))(
    request(line, sent),
  )
}

async function* pieces(): AsyncGenerator<string> {
  for (let at = 0; at < long.length; at += 1_000) yield long.slice(at, at + 1_000)
}

describe('a long answer', () => {
  it.each(['gzip', 'deflate, gzip;q=0.5', 'GZIP', 'br;q=1.0, gzip ; q=1'])('is compressed for %s', async (encoding) => {
    const { headers: sent, body } = await answer(long, undefined, encoding)
    expect(sent).toEqual({ ...headers, 'content-encoding': 'gzip', vary: 'Accept, Accept-Encoding' })
    expect(gunzipSync(body as Uint8Array).toString()).toBe(long)
  })

  it.each([undefined, '', 'deflate', 'gzip;q=0', 'gzip;q=0.000', 'x-gzip'])('is not for %s', async (encoding) => {
    expect((await answer(long, undefined, encoding)).body).toBe(long)
  })

  it('is compressed while it is made', async () => {
    const { headers: sent, body } = await answer(pieces(), undefined, 'gzip')
    expect(sent['content-encoding']).toBe('gzip')
    const compressed = Readable.from(body as AsyncIterable<Uint8Array>, { objectMode: false })
    expect(await text(compressed.pipe(createGunzip()))).toBe(long)
  })

  it('breaks off where what it is made of does', async () => {
    async function* broken(): AsyncGenerator<string> {
      yield* pieces()
      throw new Error('the store is gone')
    }
    const { body } = await answer(broken(), undefined, 'gzip')
    await expect(text(Readable.from(body as AsyncIterable<Uint8Array>, { objectMode: false }))).rejects.toThrow(/\w/)
  })

  it('ends its source when nobody takes it', async () => {
    let ended = false
    async function* source(): AsyncGenerator<string> {
      try {
        for (;;) yield long
      } finally {
        ended = true
      }
    }
    const { body } = await answer(source(), undefined, 'gzip')
    const reading = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
    await reading.next()
    await reading.return?.()
    await expect.poll(() => ended, { timeout: 60_000 }).toBe(true)
  })

  it.each([
    { what: 'a short one', body: '{}', line: 'GET /api/v1/configmaps' },
    { what: 'a watch', body: pieces(), line: 'GET /api/v1/configmaps?watch=1' },
    { what: 'only the head of one', body: long, line: 'HEAD /api/v1/configmaps' },
  ])('is not $what', async ({ body, line }) => {
    expect(await answer(body, line, 'gzip')).toMatchObject({ headers, body })
  })
})
