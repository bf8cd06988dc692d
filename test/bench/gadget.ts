import * as z from 'zod'
import { defineKind, defineReconciler, done, type Controller } from '../../shared/index.ts'

/** What is reconciled: about 1 KB of JSON behind a schema with all that costs time to check. */
export const Gadget = defineKind({
  group: 'bench.setpoint.dev',
  version: 'v1',
  kind: 'Gadget',
  spec: z.object({
    revision: z.number().int().min(0),
    tier: z.enum(['bronze', 'silver', 'gold']),
    image: z
      .string()
      .max(200)
      .regex(/^[a-z0-9./-]+:[a-z0-9.-]+$/),
    owner: z
      .string()
      .max(100)
      .regex(/^[a-z.]+@[a-z.]+$/),
    description: z.string().max(500),
    settings: z.record(z.string(), z.string().max(100)),
    ports: z
      .array(
        z.object({
          name: z.string().max(63),
          port: z.number().int().min(1).max(65_535),
          protocol: z.enum(['TCP', 'UDP']),
        }),
      )
      .max(16),
    zones: z.array(z.string().max(63)).max(16),
  }),
  status: z.object({ revision: z.number().int(), openPorts: z.number().int() }),
})

/** Reads what is wanted, compares it with what it made before, makes it so in memory, and says so in the status. */
export function gadgetReconciler(): Controller {
  const made = new Map<string, number>()
  return defineReconciler(Gadget, {
    concurrency: 64,
    reconcile: async ({ metadata, spec }) => {
      if (made.get(metadata.uid) !== spec.revision) made.set(metadata.uid, spec.revision)
      return done({ status: { revision: spec.revision, openPorts: spec.ports.length } })
    },
  })
}

const settingNames = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta', 'eta']

/** Digits of a revision: always as many, so that a text with another revision has the same length. */
const firstRevision = 1_000_000_000

/** A gadget as JSON text, before and behind its revision. The same number gives the same gadget. */
export function gadgetText(name: string, number: number): { readonly head: string; readonly tail: string } {
  const text = JSON.stringify({
    apiVersion: 'bench.setpoint.dev/v1',
    kind: 'Gadget',
    metadata: { name, namespace: 'default', labels: { app: 'gadget', shard: `s${number % 16}` } },
    spec: {
      revision: firstRevision,
      tier: ['bronze', 'silver', 'gold'][number % 3],
      image: `registry.example.com/teams/${number % 50}/gadget:v1.${number % 100}.0`,
      owner: 'gadget.team@example.com',
      description: `Gadget ${number}: ${'does what gadgets do, and says so at length. '.repeat(3)}`,
      settings: Object.fromEntries(settingNames.map((setting) => [setting, `value-of-${setting}-${number}`])),
      ports: [80, 443, 8080, 9090].map((port, i) => ({ name: `port-${i}`, port, protocol: 'TCP' })),
      zones: ['eu-west-1a', 'eu-west-1b', 'eu-west-1c'],
    },
  })
  const at = text.indexOf(String(firstRevision))
  return { head: text.slice(0, at), tail: text.slice(at + String(firstRevision).length) }
}
