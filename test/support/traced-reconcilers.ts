import * as z from 'zod'
import { defineKind, defineReconciler, done, type Controller } from '../../shared/index.ts'

/** A run that calls somebody else's API, and writes a child that has a run of its own. */
const Page = defineKind({ group: 'example.dev', version: 'v1', kind: 'Page', spec: z.object({ fails: z.boolean() }) })
const Site = defineKind({ group: 'example.dev', version: 'v1', kind: 'Site', spec: z.object({ url: z.string() }) })

const pages = defineReconciler(Page, {
  async reconcile({ spec }) {
    if (spec.fails) throw new Error('no page')
    return done()
  },
})
const sites = defineReconciler(Site, {
  owns: [Page],
  async reconcile({ metadata: { name }, spec }, ctx) {
    await fetch(`${spec.url}/sites/${name}?token=hidden`)
    await ctx.apply(Page, { metadata: { name }, spec: { fails: name === 'failing' } })
    return done()
  },
})

export const tracedReconcilers: readonly Controller[] = [pages, sites]
