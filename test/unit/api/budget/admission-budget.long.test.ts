import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createHttpsWebhooks } from '../../../../shared/adapters/node/https-webhooks.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import { createHarness, type Harness } from '../harness.ts'
import { heldMs, heldMsMax, longestSliceMs, type Hostile } from './held.ts'
import { bodyOf, pathOf, serveHostileKinds, type HostileKind } from './hostile-kinds.ts'

/**
 * All policies and webhooks of one request together hold the process for no tenth of a second, however many there are
 * and whatever they answer: what is more is refused. The webhooks run in a thread of their own.
 */
let harness: Harness
let worker: Worker
let server: { readonly url: string; readonly caBundle: string }
beforeAll(async () => {
  worker = new Worker(new URL('../../../support/webhook-worker.ts', import.meta.url))
  ;[server] = (await once(worker, 'message')) as [typeof server]
  harness = await createHarness({}, createHttpsWebhooks())
  await serveHostileKinds(harness)
  const kept = { ...bodyOf('free', { s: [1] }, 'kept'), status: {} }
  await harness.send(`POST ${pathOf('free')}`, { body: kept })
})
afterAll(async () => {
  harness.close()
  await worker.terminate()
})

const root = '/apis/admissionregistration.k8s.io/v1'
const made: string[] = []

async function make(plural: string, name: string, rest: JsonObject): Promise<void> {
  const body = { metadata: { name }, ...rest }
  expect(await harness.send(`POST ${root}/${plural}`, { body })).toMatchObject({ status: 201 })
  made.push(`${root}/${plural}/${name}`)
}

afterEach(async () => {
  for (const path of made.splice(0)) await harness.send(`DELETE ${path}`)
})

const rules = [{ apiGroups: ['hostile.dev'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }]

/** Configurations of fifty webhooks each, all of which answer as the path says. */
async function callWebhooks(kind: 'mutating' | 'validating', path: string, count: number): Promise<void> {
  for (let first = 0; first < count; first += 50) {
    const webhooks = Array.from({ length: Math.min(50, count - first) }, (_, i) => ({
      name: `h${i}.${path}.dev`,
      clientConfig: { url: `${server.url}/${path}`, caBundle: server.caBundle },
      rules,
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      ...(kind === 'mutating' && { reinvocationPolicy: 'IfNeeded' }),
    }))
    await make(`${kind}webhookconfigurations`, `${path}${first}`, { webhooks })
  }
}

async function mutateByPolicies(count: number, expression: string): Promise<void> {
  for (let i = 0; i < count; i++) {
    await make('mutatingadmissionpolicies', `p${i}.dev`, {
      spec: {
        matchConstraints: { resourceRules: rules },
        reinvocationPolicy: 'IfNeeded',
        mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
      },
    })
    await make('mutatingadmissionpolicybindings', `p${i}`, { spec: { policyName: `p${i}.dev` } })
  }
}

/** A policy that looks through all of a kind for its parameters. */
async function lookThrough(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await make('validatingadmissionpolicies', `v${i}.dev`, {
      spec: {
        matchConstraints: { resourceRules: rules },
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        validations: [{ expression: 'true' }],
      },
    })
    const paramRef = { selector: {}, namespace: 'default', parameterNotFoundAction: 'Allow' }
    const spec = { policyName: `v${i}.dev`, paramRef, validationActions: ['Deny'] }
    await make('validatingadmissionpolicybindings', `v${i}`, { spec })
  }
}

async function fillConfigMaps(count: number, length: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const body = { metadata: { name: `c${i}` }, data: { text: 'x'.repeat(length) } }
    await harness.send('POST /api/v1/namespaces/default/configmaps', { body })
    made.push(`/api/v1/namespaces/default/configmaps/c${i}`)
  }
}

const texts = { s: Array.from({ length: 40_000 }, (_, i) => `w${i}`) }
const numbers = { s: Array.from({ length: 165_000 }, () => 1) }
const small = { s: [1] }

interface Row {
  readonly because: string
  readonly prepare: () => Promise<void>
  readonly spec: JsonObject
  readonly status: number
}

const rows: readonly Row[] = [
  {
    because: 'fifty webhooks over a small object',
    prepare: () => callWebhooks('validating', 'allow', 50),
    spec: small,
    status: 201,
  },
  {
    because: 'two hundred webhooks over a small object',
    prepare: () => callWebhooks('validating', 'allow', 200),
    spec: small,
    status: 413,
  },
  {
    because: 'fifty webhooks over a large object',
    prepare: () => callWebhooks('validating', 'allow', 50),
    spec: texts,
    status: 413,
  },
  {
    because: 'fifty webhooks that change a large object',
    prepare: () => callWebhooks('mutating', 'patch', 50),
    spec: texts,
    status: 413,
  },
  {
    because: 'fifty webhooks that replace a large object',
    prepare: () => callWebhooks('mutating', 'replace', 50),
    spec: texts,
    status: 413,
  },
  {
    because: 'fifty webhooks that replace a list of numbers',
    prepare: () => callWebhooks('mutating', 'replace', 50),
    spec: numbers,
    status: 413,
  },
  {
    because: 'fifty webhooks that shift a long list',
    prepare: () => callWebhooks('mutating', 'shift', 50),
    spec: numbers,
    status: 413,
  },
  {
    because: 'fifty webhooks with much to say',
    prepare: () => callWebhooks('validating', 'talk', 50),
    spec: small,
    status: 413,
  },
  {
    because: 'thirty policies that change a large object',
    prepare: () => mutateByPolicies(30, "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'a': 'b'}}]"),
    spec: numbers,
    status: 413,
  },
  {
    because: 'policies that shift a long list',
    prepare: () => mutateByPolicies(5, "[1,2,3,4,5,6,7,8,9].map(i, JSONPatch{op: 'add', path: '/spec/s/0', value: 1})"),
    spec: numbers,
    status: 413,
  },
  {
    because: 'ten policies that look through many parameters',
    prepare: async () => {
      await fillConfigMaps(400, 10)
      await lookThrough(10)
    },
    spec: small,
    status: 413,
  },
  {
    because: 'a policy that looks through large parameters',
    prepare: async () => {
      await fillConfigMaps(30, 340_000)
      await lookThrough(1)
    },
    spec: small,
    status: 413,
  },
]

it.each(rows)('$because: they hold the process for no tenth of a second', async ({ prepare, spec, status }) => {
  await prepare()
  const sent = { body: JSON.stringify(bodyOf('free', spec, 'b')) }
  const row = { line: `POST ${pathOf('free')}?dryRun=All`, sent }
  const answer = await harness.send(row.line, sent)
  expect(answer.status).toBe(status)
  expect(await heldMs(row, harness)).toBeLessThan(heldMsMax)
})

/** What takes the most work by itself, close to its own limits. */
const bodies: readonly (readonly [kind: HostileKind, what: string, spec: JsonObject])[] = [
  ['free', 'a long list', numbers],
  ['texts', 'strings that are none of many', { s: Array.from({ length: 35_000 }, (_, i) => `w${i}`) }],
  ['choices', 'objects that are none of many', { s: Array.from({ length: 9_000 }, (_, i) => ({ b: 'y', a: i })) }],
  ['maps', 'objects with keys of their own', { s: Array.from({ length: 19_000 }, (_, i) => ({ a: i, b: 1 })) }],
  ['anyOf', 'alternatives, of which the last holds', { s: Array.from({ length: 35_000 }, () => 'x2999') }],
  ['patterns', 'a pattern of a thousand steps', { s: Array.from({ length: 60 }, () => 'a'.repeat(5_000)) }],
  ['wide', 'unknown fields', Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`q${i}`, i]))],
]

function rowsOf(kind: HostileKind, spec: JsonObject): readonly Hostile[] {
  const body = JSON.stringify(bodyOf(kind, spec, 'b'))
  const applied = { body, type: 'application/apply-patch+yaml' }
  return [
    { line: `POST ${pathOf(kind)}?dryRun=All`, sent: { body } },
    { line: `PATCH ${pathOf(kind)}/b?fieldManager=x&dryRun=All`, sent: applied },
  ]
}

const newLabels = "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'a': 'b'}}]"

/** Spends all that the expressions of a request may take. */
async function countFor(steps: number): Promise<void> {
  const numbersText = `[${Array.from({ length: 60 }, (_, i) => i).join()}]`
  const expression = `${numbersText}.all(a, ${numbersText}.all(b, a + b < ${steps}))`
  for (let i = 0; i < 10; i++) {
    await make('validatingadmissionpolicies', `e${i}.dev`, {
      spec: { matchConstraints: { resourceRules: rules }, failurePolicy: 'Ignore', validations: [{ expression }] },
    })
    const spec = { policyName: `e${i}.dev`, validationActions: ['Deny'] }
    await make('validatingadmissionpolicybindings', `e${i}`, { spec })
  }
}

const spenders: readonly (readonly [what: string, prepare: () => Promise<void>])[] = [
  ['policies that change it', () => mutateByPolicies(2, newLabels)],
  ['more policies than may change it', () => mutateByPolicies(6, newLabels)],
  ['webhooks that read it', () => callWebhooks('mutating', 'allow', 12)],
  ['webhooks that replace it', () => callWebhooks('mutating', 'patch', 4)],
  [
    'policies that change it, and many expressions',
    async () => {
      await mutateByPolicies(2, newLabels)
      await countFor(1_000)
    },
  ],
]

describe('a request near its own limits, and all that may be asked about it', () => {
  it.each(spenders)('with %s: no slice takes a tenth of a second', async (_, prepare) => {
    await prepare()
    for (const [kind, what, spec] of bodies)
      for (const row of rowsOf(kind, spec)) {
        const { status } = await harness.send(row.line, row.sent)
        expect(status).toBeLessThan(500)
        expect(await longestSliceMs(row, harness), `${what}: ${row.line}`).toBeLessThan(heldMsMax)
      }
  })
})
