import { describe, expect, it } from 'vitest'
import { createGet } from '../../../shared/api/verbs/get.ts'
import { callOf } from './called.ts'
import { fakeServices, storedOf } from './fake-services.ts'

const path = '/apis/g.dev/v1/namespaces/n/ks/a'

describe('an object', () => {
  const open = () => {
    const services = fakeServices({ get: () => storedOf({ namespace: 'n' }) })
    const get = createGet(services)
    return { services, get: (query: string) => get(callOf(`GET ${path}${query}`, { signal: AbortSignal.abort() })) }
  }

  it.each(['', '?resourceVersion=0', '?resourceVersion=100'])('is told as it is, for %j', async (query) => {
    const { status, body } = await open().get(query)
    expect([status, JSON.parse(String(body))]).toMatchObject([200, { metadata: { name: 'a', resourceVersion: '7' } }])
  })

  it('is not told from before a version that the store has not reached', async () => {
    const { get, services } = open()
    await expect(get('?resourceVersion=101')).rejects.toThrow('Too large resource version: 101, current: 100')
    await expect(get('?resourceVersion=x')).rejects.toThrow('invalid resource version')
    expect(services.asked).toEqual([])
  })
})
