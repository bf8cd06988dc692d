/** The source of so many kinds with their reconcilers, as a large project would have them: one file each. */
export function manyKinds(count: number, framework: string): ReadonlyMap<string, string> {
  const names = Array.from({ length: count }, (_, i) => `kind-${i}.ts`)
  return new Map(names.map((name, i) => [name, sourceOf(i, framework)]))
}

function sourceOf(i: number, framework: string): string {
  return `import * as z from 'zod'
import { again, ConfigMap, defineKind, defineReconciler, done, reference, Secret, waiting, type Controller } from '${framework}'

export const Service${i} = defineKind({
  group: 'many.test',
  version: 'v1',
  kind: 'Service${i}',
  spec: z.object({
    image: z.string().min(1),
    replicas: z.number().int().min(0).default(1),
    size: z.enum(['small', 'medium', 'large']).default('small'),
    ports: z.array(z.object({ name: z.string(), number: z.number().int(), protocol: z.enum(['TCP', 'UDP']).default('TCP') })).default([]),
    labels: z.record(z.string(), z.string()).default({}),
    settingsRef: z.object({ name: z.string() }).optional(),
    field${i}: z.string().optional(),
  }),
  status: z.object({
    endpoint: z.string(),
    readyReplicas: z.number().int(),
    nodes: z.array(z.object({ name: z.string(), ready: z.boolean() })),
  }),
  columns: [{ name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' }],
})

export const service${i}: Controller = defineReconciler(Service${i}, {
  owns: [ConfigMap, Secret],
  watches: [reference(ConfigMap, (service) => service.spec.settingsRef)],
  when: ({ object, touched }) => touched.includes('spec') || object.spec.replicas > 3,
  deletionPolicy: 'Retain',
  async reconcile(service, ctx) {
    const { metadata, spec } = service
    const settings = spec.settingsRef && (await ctx.get(ConfigMap, spec.settingsRef.name))
    const ports = spec.ports.map(({ name, number, protocol }) => [name, \`\${number}/\${protocol}\`] as const)
    await ctx.apply(ConfigMap, { metadata: { name: metadata.name }, data: { ...settings?.data, ...Object.fromEntries(ports) } })
    const ready = service.status?.nodes?.filter((node) => node.ready).length ?? 0
    if (ready < spec.replicas) return again('10s', { ready: waiting('Starting', \`\${ready} of \${spec.replicas}\`) })
    return done({ status: { endpoint: \`\${metadata.name}.local\`, readyReplicas: ready } })
  },
  async cleanup({ metadata }, ctx) {
    await ctx.delete(Secret, metadata.name)
    return done()
  },
})
`
}
