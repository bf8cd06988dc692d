import * as z from 'zod'
import { defineKind, defineReconciler, done } from '../../../shared/index.ts'
import type { TestEnv } from '../../../shared/testing/test-env.ts'

/** A kind of users' own for admission, and requests over it as a client sends them. */

const Item = z.object({ name: z.string(), size: z.number().int().default(1) })

const Pool = defineKind({
  group: 'test.setpoint.dev',
  version: 'v1',
  kind: 'Pool',
  spec: z.object({
    replicas: z.number().int(),
    owner: z.string().optional(),
    tags: z.array(z.string()).optional(),
    items: z
      .array(Item)
      .optional()
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
  }),
})
export const pools = defineReconciler(Pool, { reconcile: async () => done({ status: {} }) })

export const policyRoot = '/apis/admissionregistration.k8s.io/v1'
export const poolsAt = '/apis/test.setpoint.dev/v1/namespaces/default/pools'

/** Of pools, for an operation. */
export function poolRules(...operations: readonly string[]) {
  return [{ apiGroups: ['test.setpoint.dev'], apiVersions: ['v1'], operations, resources: ['pools'] }]
}

export function pool(spec: object, more: object = {}): object {
  return { apiVersion: 'test.setpoint.dev/v1', kind: 'Pool', metadata: { name: 'x', ...more }, spec }
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests reach into replies of every shape
export type Reply = any

const types: Readonly<Record<string, string>> = { PATCH: 'application/merge-patch+json' }

/** `METHOD /path?query`, with the status of the answer and the text of its headers beside what it says. */
export async function send(env: TestEnv, line: string, sent?: object, type?: string): Promise<Reply> {
  const [method = '', path = '', query = ''] = line.split(/[ ?]/)
  const { status, headers, body } = await env.api({
    method,
    path,
    query: new URLSearchParams(query),
    header: (name) =>
      name === 'content-type' && sent !== undefined ? (type ?? types[method] ?? 'application/json') : undefined,
    fieldsUnder: () => [],
    body: async () => new TextEncoder().encode(sent === undefined ? '' : JSON.stringify(sent)),
    signal: new AbortController().signal,
  })
  return { ...(JSON.parse(String(body)) as object), code: status, warnings: JSON.stringify(headers) }
}
