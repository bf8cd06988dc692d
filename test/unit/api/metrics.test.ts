import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWidgetHarness, widget, widgets, type Harness } from './harness.ts'

let harness: Harness
beforeEach(async () => {
  harness = await createWidgetHarness()
})
afterEach(() => harness.close())

async function series(start: string): Promise<readonly string[]> {
  const { body } = await harness.send('GET /metrics')
  return (body as string).split('\n').filter((line) => line.startsWith(start) && line.includes('"widgets"'))
}

const labels = (verb: string, more = ''): string =>
  `{verb="${verb}",group="example.com",resource="widgets",subresource=""${more}}`

describe('GET /metrics', () => {
  it('is for those who are known', async () => {
    expect(await harness.send('GET /metrics', { token: '' })).toMatchObject({ status: 401 })
    expect(await harness.send('GET /metrics', { token: 'guess' })).toMatchObject({ status: 401 })
  })

  it('answers in the text format, and for GET only', async () => {
    const { status, headers, body } = await harness.send('GET /metrics')
    expect(status).toBe(200)
    expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/)
    expect(body).toMatch(/^# HELP /)
    expect(await harness.send('POST /metrics')).toMatchObject({ status: 405 })
    expect(await harness.send('GET /metrics/more')).toMatchObject({ status: 404 })
    expect(await harness.send('GET /constructor')).toMatchObject({ status: 404 })
  })
})

describe('requests', () => {
  it('are counted by verb, resource and code', async () => {
    await harness.send(`POST ${widgets}`, { body: widget('a') })
    await harness.send(`POST ${widgets}`, { body: widget('a') })
    await harness.send(`GET ${widgets}/a`)
    await harness.send(`GET ${widgets}/b`)
    await harness.send(`GET ${widgets}`)
    await harness.send(`PATCH ${widgets}/a?fieldManager=me`, {
      type: 'application/apply-patch+yaml',
      body: widget('a'),
    })
    await harness.send(`DELETE ${widgets}/a`)
    expect(await series('apiserver_request_total')).toEqual(
      [
        ['POST', '201'],
        ['POST', '409'],
        ['GET', '200'],
        ['GET', '404'],
        ['LIST', '200'],
        ['APPLY', '200'],
        ['DELETE', '200'],
      ].map(([verb = '', code]) => `apiserver_request_total${labels(verb, `,code="${code}"`)} 1`),
    )
  })

  it('are timed by verb and resource', async () => {
    await harness.send(`POST ${widgets}`, { body: widget('a') })
    expect(await series('apiserver_request_duration_seconds_count')).toEqual([
      `apiserver_request_duration_seconds_count${labels('POST')} 1`,
    ])
  })

  it('make no series for kinds that are not served', async () => {
    const before = (await harness.send('GET /metrics')).body as string
    await harness.send('GET /apis/example.com/v1/namespaces/default/gadgets/a')
    await harness.send('GET /apis/nobody.example/v1/things')
    await harness.send('GET /nowhere')
    expect((await harness.send('GET /metrics')).body).toHaveLength(before.length)
  })

  it('count a watch when it opens, and as open until it ends', async () => {
    const watch = await harness.watch(`${widgets}?watch=true`)
    expect(await series('apiserver_request_total')).toEqual([
      `apiserver_request_total${labels('WATCH', ',code="200"')} 1`,
    ])
    expect(await series('apiserver_longrunning')).toEqual([`apiserver_longrunning_requests${labels('WATCH')} 1`])
    watch.leave()
    expect(await series('apiserver_longrunning')).toEqual([`apiserver_longrunning_requests${labels('WATCH')} 0`])
    expect(await series('apiserver_request_duration')).toEqual([])
  })

  it('count no watch as open whose client left before it began', async () => {
    await harness.send(`GET ${widgets}?watch=true`, { signal: AbortSignal.abort() }).catch(() => {})
    expect(await series('apiserver_longrunning')).toEqual([`apiserver_longrunning_requests${labels('WATCH')} 0`])
  })
})
