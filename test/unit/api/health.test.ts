import { describe, expect, it } from 'vitest'
import { createHealth } from '../../../shared/api/health.ts'
import { request } from './sent-request.ts'

async function answered(path: string, query = '', isReady?: () => Promise<boolean>) {
  const { open, checks } = createHealth(isReady === undefined ? {} : { isReady })
  const asked = request(`GET ${path}?${query}`)
  const { status, headers, body } = (await (open.get(path) ?? checks.get(path))?.(asked)) ?? {}
  return [status, body, headers?.['retry-after']]
}
const no = async () => false

describe('the health of the process', () => {
  it.each([
    ['/healthz', '', 'ok'],
    ['/livez', '', 'ok'],
    ['/readyz', '', 'ok'],
    ['/livez', 'verbose', '[+]ping ok\nlivez check passed\n'],
    ['/readyz', 'verbose', '[+]ping ok\n[+]writes ok\nreadyz check passed\n'],
    ['/readyz', 'verbose&exclude=writes', '[+]ping ok\n[+]writes excluded: ok\nreadyz check passed\n'],
    [
      '/livez',
      'verbose&exclude=writes&exclude=x',
      '[+]ping ok\nwarn: some health checks cannot be excluded: no matches for "writes","x"\nlivez check passed\n',
    ],
    [
      '/livez',
      'verbose&exclude=x',
      '[+]ping ok\nwarn: some health checks cannot be excluded: no matches for "x"\nlivez check passed\n',
    ],
    ['/readyz/ping', '', 'ok'],
    ['/readyz/writes', '', 'ok'],
    ['/livez/ping', '', 'ok'],
  ])('at %s?%s is well', async (path, query, text) => {
    expect(await answered(path, query)).toEqual([200, text, undefined])
  })

  it.each([
    ['/readyz', '', '[+]ping ok\n[-]writes failed: not taken\nreadyz check failed'],
    ['/readyz/writes', '', 'writes failed: not taken'],
  ])('at %s?%s is not well while it takes no writes', async (path, query, text) => {
    expect(await answered(path, query, no)).toEqual([503, text, '1'])
  })

  it('says why it takes no writes, where that is known', async () => {
    const { open, checks } = createHealth({ isReady: no, whyNotReady: () => 'a.db is away' })
    const bodies = [open.get('/readyz'), checks.get('/readyz/writes')].map(
      async (answer) => (await answer?.(request('GET /readyz?')))?.body,
    )
    expect(await Promise.all(bodies)).toEqual([
      '[+]ping ok\n[-]writes failed: a.db is away\nreadyz check failed',
      'writes failed: a.db is away',
    ])
  })

  it.each([
    ['/livez', ''],
    ['/healthz', ''],
    ['/readyz', 'exclude=writes'],
    ['/readyz/ping', ''],
  ])('at %s?%s is well though it takes no writes', async (path, query) => {
    expect(await answered(path, query, no)).toEqual([200, 'ok', undefined])
  })

  it('has no other checks', () => {
    const { open, checks } = createHealth({})
    expect([...open.keys(), ...checks.keys()]).toEqual([
      '/healthz',
      '/livez',
      '/readyz',
      '/healthz/ping',
      '/livez/ping',
      '/readyz/ping',
      '/readyz/writes',
    ])
  })
})
