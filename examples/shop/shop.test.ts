import { expect, it } from 'vitest'
import { ConfigMap } from 'setpoint'
import { createTestEnv } from 'setpoint/testing'
import { Server, Shop, shops } from './shop.ts'

it('makes the pages when the server answers, and takes everything down in the reverse order', async () => {
  await using env = await createTestEnv({ reconcilers: [shops] })
  const names = async () => (await env.list(ConfigMap, 'default')).map(({ metadata }) => metadata.name)
  await env.apply(Shop, { metadata: { name: 'books' }, spec: { greeting: 'Hello.', pages: ['new', 'old'] } })
  await env.settle()
  expect(await names()).toEqual(['books'])
  expect(await env.get(Shop, 'books')).toMatchObject({ status: { conditions: [{ message: 'server is not ready' }] } })

  await env.patch(Server, 'books', { status: { url: 'https://books' } }, { subresource: 'status' })
  await env.settle()
  expect(await names()).toEqual(['books', 'books-new', 'books-old'])
  expect(await env.get(Shop, 'books')).toMatchObject({ status: { url: 'https://books' } })

  await env.patch(Shop, 'books', { spec: { pages: ['old'] } })
  await env.settle()
  expect(await names()).toEqual(['books', 'books-old'])

  await env.patch(Shop, 'books', { spec: { open: false } })
  await env.settle()
  expect(await env.get(Server, 'books')).toBeUndefined()
  expect(await names()).toEqual(['books'])

  await env.delete(Shop, 'books')
  await env.settle()
  expect(await names()).toEqual([])
})
