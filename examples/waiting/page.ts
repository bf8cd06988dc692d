import * as z from 'zod'
import { again, defineKind, defineReconciler, done, reference, stop, waiting, type Controller } from 'setpoint'
import { Greeting } from '../greeting/greeting.ts'

export const Page = defineKind({
  group: 'example.dev',
  version: 'v1',
  kind: 'Page',
  spec: z.object({ greetingRef: z.object({ name: z.string() }), path: z.string() }),
  status: z.object({ url: z.string() }),
  columns: [{ name: 'URL', type: 'string', jsonPath: '.status.url' }],
})

/** A web server elsewhere, as far as a reconciler needs to know it. Every verb may be repeated without harm. */
export interface Site {
  publish(id: string, page: { readonly path: string; readonly text: string }): Promise<'published' | 'building'>
  remove(id: string): Promise<void>
}

export function pages(site: Site): Controller {
  return defineReconciler(Page, {
    watches: [reference(Greeting, (page) => page.spec.greetingRef)],
    resync: '5m',

    async reconcile(page, ctx) {
      if (!page.spec.path.startsWith('/')) throw stop('PathInvalid', `path ${page.spec.path} does not start with /`)
      const text = (await ctx.get(Greeting, page.spec.greetingRef.name))?.status?.text
      if (text === undefined) return done({ ready: waiting('GreetingNotReady', 'the greeting has no text yet') })
      const state = await site.publish(page.metadata.uid, { path: page.spec.path, text })
      if (state === 'building') return again('10s', { ready: waiting('Building', 'the site is being built') })
      return done({ status: { url: `https://example.dev${page.spec.path}` } })
    },

    async cleanup(page) {
      await site.remove(page.metadata.uid)
      return done()
    },
  })
}
