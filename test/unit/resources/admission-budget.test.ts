import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { OperatingError } from '../../../shared/model/errors.ts'
import { AdmissionBudget } from '../../../shared/model/policy/admission-budget.ts'
import { createWidgetHarness, widget, widgets, type Harness } from '../api/harness.ts'

/** What all policies and webhooks of one request may take together. What that costs the process is measured beside. */
let harness: Harness
let calls = 0
/** What a webhook does before it answers. */
let before: () => Promise<void> | void = () => {}

async function post({ body, timeoutMs, url }: { body: string; timeoutMs: number; url: string }): Promise<string> {
  calls++
  const startMs = harness.clock.nowMs()
  await before()
  if (harness.clock.nowMs() - startMs > timeoutMs)
    throw new OperatingError('UNAVAILABLE', `Post "${url}": context deadline exceeded`)
  const { request } = JSON.parse(body) as { request: { uid: string } }
  const response = { uid: request.uid, allowed: true }
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response })
}

beforeEach(async () => {
  calls = 0
  before = () => {}
  harness = await createWidgetHarness({}, { post })
})
afterEach(() => harness.close())

async function callWebhooks(kind: 'mutating' | 'validating', count: number, more: object = {}): Promise<void> {
  const rules = [{ apiGroups: ['example.com'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }]
  for (let first = 0; first < count; first += 50) {
    const webhooks = Array.from({ length: Math.min(50, count - first) }, (_, i) => ({
      name: `h${i}.a.dev`,
      clientConfig: { url: 'https://a.dev' },
      rules,
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      ...more,
    }))
    const path = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`
    expect(await harness.send(`POST ${path}`, { body: { metadata: { name: `c${first}` }, webhooks } })).toMatchObject({
      status: 201,
    })
  }
}

const create = (text = '') => harness.send(`POST ${widgets}`, { body: widget('a', { color: `red${text}` }) })

describe('the work of a request', () => {
  it('is enough for fifty webhooks of each type over a small object', async () => {
    await callWebhooks('mutating', 50)
    await callWebhooks('validating', 50)
    expect(await create()).toMatchObject({ status: 201 })
    expect(calls).toBe(100)
  })

  it.each(['mutating', 'validating'] as const)('is not enough for two hundred %s webhooks', async (kind) => {
    await callWebhooks(kind, 200)
    const refused = await create()
    expect(refused).toMatchObject({ status: 413, body: { reason: 'RequestEntityTooLarge' } })
    expect(refused.body.message).toBe(
      'the policies and webhooks that are asked about this request take more work than one request may have: write a smaller object, or have fewer of them asked',
    )
    expect(calls).toBeLessThan(120)
  })

  it('is not enough for fifty webhooks over a large object, whatever their failurePolicy', async () => {
    await callWebhooks('validating', 50, { failurePolicy: 'Ignore' })
    expect(await create('x'.repeat(340_000))).toMatchObject({ status: 413 })
  })

  it('counts over all tries of a write, after which other writers are to blame', () => {
    const budget = new AdmissionBudget()
    budget.begin()
    budget.spend(1_000_000)
    budget.begin()
    expect(() => budget.spend(1_000_000)).toThrow(expect.objectContaining({ code: 'VERSION_CONFLICT' }))
  })
})

describe('the time of a request', () => {
  it('is half a minute for all webhooks, mutating and validating', async () => {
    await callWebhooks('mutating', 2)
    await callWebhooks('validating', 10)
    before = () => harness.clock.advance(9_000)
    const failed = await create()
    expect(failed).toMatchObject({ status: 500, body: { reason: 'InternalError' } })
    expect(failed.body.message).toMatch(/^Internal error occurred: failed calling webhook "h\d.a.dev": /)
    expect(failed.body.message).toMatch(/context deadline exceeded|the webhooks before took 30 s/)
  })

  it('counts over all tries of a write', async () => {
    await create()
    await callWebhooks('validating', 1, { failurePolicy: 'Fail', timeoutSeconds: 30 })
    let n = 0
    before = async () => {
      await harness.clock.advance(7_000)
      // Another writer, about whom nobody is asked.
      const kind = await harness.services.catalog.byPlural('example.com', 'v1', 'widgets')
      const patch = { type: 'merge', body: { metadata: { labels: { n: `${++n}` } } } } as const
      if (kind === undefined) throw new Error('widgets are not served')
      await harness.services.resources.patch(kind, { namespace: 'default', name: 'a' }, patch, { manager: 'other' })
    }
    const failed = await harness.send(`PATCH ${widgets}/a`, {
      body: { spec: { size: 2 } },
      type: 'application/merge-patch+json',
    })
    expect(failed).toMatchObject({ status: 500 })
    expect(n).toBeLessThan(6)
  })
})
