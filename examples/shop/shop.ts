import * as z from 'zod'
import { ConfigMap, defineKind, defineReconciler, done, workflow, type Controller } from 'setpoint'

/** Somebody else's reconciler runs servers and says when one answers. */
export const Server = defineKind({
  group: 'example.dev',
  version: 'v1',
  kind: 'Server',
  spec: z.object({ configMap: z.string() }),
  status: z.object({ url: z.string() }),
})

export const Shop = defineKind({
  group: 'example.dev',
  version: 'v1',
  kind: 'Shop',
  spec: z.object({ greeting: z.string(), open: z.boolean().default(true), pages: z.array(z.string()).default([]) }),
  status: z.object({ url: z.string() }).partial(),
})

const parts = workflow(Shop, {
  config: {
    kind: ConfigMap,
    desired: ({ metadata: { name }, spec }) => ({ metadata: { name }, data: { greeting: spec.greeting } }),
  },
  server: {
    kind: Server,
    dependsOn: ['config'],
    wantedWhen: ({ spec }) => spec.open,
    desired: ({ metadata: { name } }) => ({ metadata: { name }, spec: { configMap: name } }),
    readyWhen: ({ status }) => status?.url !== undefined,
  },
  pages: {
    kind: ConfigMap,
    dependsOn: ['server'],
    desired: ({ metadata, spec }) =>
      spec.pages.map((page) => ({ metadata: { name: `${metadata.name}-${page}` }, data: { title: page } })),
  },
})

export const shops: Controller = defineReconciler(Shop, {
  owns: parts.owns,
  async reconcile(shop, ctx) {
    const { ready, objects } = await parts.run(shop, ctx)
    const url = objects.server[0]?.status?.url
    return done({ ready, status: url === undefined ? {} : { url } })
  },
  cleanup: parts.cleanup,
})
