import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { Webhooks } from '../../../shared/ports/webhooks.ts'
import { pick } from '../../support/strength.ts'
import { createHarness, type Harness } from './harness.ts'

/**
 * Which mutating webhooks are asked, and asked again, in which order: as Kubernetes did. `test/vectors/README.md` says
 * how it was asked. Each one that changes the object writes its letter behind the others.
 */
interface Vector {
  readonly policy: boolean
  readonly hooks: readonly Hook[]
  readonly want: { readonly calls: string; readonly order: string }
}

interface Hook {
  readonly again: boolean
  readonly changes: 'always' | 'never' | 'first' | 'later'
}

const vectors = gunzipSync(readFileSync(new URL('../../vectors/reinvocation-vectors.jsonl.gz', import.meta.url)))
  .toString()
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Vector)

let harness: Harness
let hooks: readonly Hook[] = []
let calls = ''

/** The servers of all webhooks. */
const servers: Webhooks = {
  post: async ({ url, body }) => {
    const letter = new URL(url).pathname.slice(1)
    const { changes } = hooks['abc'.indexOf(letter)] ?? { changes: 'never' }
    const isFirst = !calls.includes(letter)
    calls += letter
    const { apiVersion, kind, request } = JSON.parse(body)
    const patch = [{ op: 'add', path, value: `${request.object.metadata.annotations.order}${letter}` }]
    const isChange = changes === 'always' || (changes === 'first' ? isFirst : changes === 'later' && !isFirst)
    const changed = isChange && {
      patchType: 'JSONPatch',
      patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
    }
    return JSON.stringify({ apiVersion, kind, response: { uid: request.uid, allowed: true, ...changed } })
  },
}

const path = '/metadata/annotations/order'
const admission = '/apis/admissionregistration.k8s.io/v1'
const maps = '/api/v1/namespaces/default/configmaps'
const rules = [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }]

beforeAll(async () => {
  harness = await createHarness({}, servers)
})
afterAll(() => harness.close())

async function send(line: string, body?: JsonObject): Promise<JsonObject> {
  const reply = await harness.send(line, body && { body })
  expect([reply.status < 300, reply.body.message]).toEqual([true, undefined])
  return reply.body as JsonObject
}

const webhooksOf = (all: readonly Hook[]): JsonObject => ({
  metadata: { name: 'm' },
  webhooks: all.map(({ again }, i) => ({
    name: `${'abc'[i]}.m.dev`,
    clientConfig: { url: `https://hooks.example/${'abc'[i]}`, caBundle: '' },
    rules,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    reinvocationPolicy: again ? 'IfNeeded' : 'Never',
  })),
})

const appending = `Object{metadata: Object.metadata{annotations: {"order": object.metadata.annotations["order"] + "p"}}}`

async function bindPolicy(): Promise<void> {
  await send(`POST ${admission}/mutatingadmissionpolicies`, {
    metadata: { name: 'p' },
    spec: {
      matchConstraints: { resourceRules: rules },
      reinvocationPolicy: 'IfNeeded',
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: appending } }],
    },
  })
  await send(`POST ${admission}/mutatingadmissionpolicybindings`, {
    metadata: { name: 'p' },
    spec: { policyName: 'p' },
  })
}

/** Creates an object under the webhooks of each vector; what is answered otherwise than by Kubernetes. */
async function differences(some: readonly Vector[]): Promise<readonly unknown[]> {
  const wrong: unknown[] = []
  for (const { want, ...vector } of some) {
    ;({ hooks } = vector)
    calls = ''
    await send(`POST ${admission}/mutatingwebhookconfigurations`, webhooksOf(hooks))
    const made = await send(`POST ${maps}`, { metadata: { name: 'x', annotations: { order: '' } } })
    const { order } = (made['metadata'] as { readonly annotations: Record<string, string> }).annotations
    await send(`DELETE ${maps}/x`)
    await send(`DELETE ${admission}/mutatingwebhookconfigurations/m`)
    if (calls !== want.calls || order !== want.order) wrong.push({ ...vector, want, calls, order })
  }
  return wrong
}

describe('mutating webhooks are asked and asked again as by Kubernetes', () => {
  it('alone', async () => {
    expect(await differences(pick(vectors.filter(({ policy }) => !policy)))).toEqual([])
  })

  it('behind a policy that changes the object in each round', async () => {
    await bindPolicy()
    expect(await differences(pick(vectors.filter(({ policy }) => policy)))).toEqual([])
  })
})
