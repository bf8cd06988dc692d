import { expect, it } from 'vitest'
import { createTestEnv } from 'setpoint/testing'
import { Greeting, greetings } from '../greeting/greeting.ts'
import { Page, pages, type Site } from './page.ts'

/** A site in memory that takes three tries to build. */
function createSite(): Site & { readonly published: Map<string, string> } {
  const published = new Map<string, string>()
  let tries = 0
  return {
    published,
    publish: async (id, { text }) => {
      if (++tries < 3) return 'building'
      published.set(id, text)
      return 'published'
    },
    remove: async (id) => void published.delete(id),
  }
}

it('waits for its greeting, then for the site, and takes its page down at the end', async () => {
  const site = createSite()
  await using env = await createTestEnv({ reconcilers: [greetings, pages(site)] })
  await env.apply(Page, { metadata: { name: 'home' }, spec: { greetingRef: { name: 'hello' }, path: '/' } })
  await env.settle()
  expect(await env.get(Page, 'home')).toMatchObject({ status: { conditions: [{ reason: 'GreetingNotReady' }] } })

  await env.apply(Greeting, { metadata: { name: 'hello' }, spec: { name: 'world' } })
  await env.settle()
  expect(await env.get(Page, 'home')).toMatchObject({ status: { reconcile: { waiting: 'Requeue' } } })

  await env.crash()
  await env.advance('20s')
  expect([...site.published.values()]).toEqual(['Hello, world!'])

  await env.delete(Page, 'home')
  await env.settle()
  expect(await env.get(Page, 'home')).toBeUndefined()
  expect(site.published.size).toBe(0)
})

it('stops at a path that cannot work, and goes on when it is mended', async () => {
  await using env = await createTestEnv({ reconcilers: [greetings, pages(createSite())] })
  await env.apply(Greeting, { metadata: { name: 'hello' }, spec: { name: 'world' } })
  await env.apply(Page, { metadata: { name: 'home' }, spec: { greetingRef: { name: 'hello' }, path: 'home' } })
  await env.advance('1h')
  expect(await env.get(Page, 'home')).toMatchObject({ status: { reconcile: { waiting: 'Stopped' } } })

  await env.patch(Page, 'home', { spec: { path: '/home' } })
  await env.advance('1m')
  expect(await env.get(Page, 'home')).toMatchObject({ status: { url: 'https://example.dev/home' } })
})
