import { describe, expect, it } from 'vitest'
import { Meter } from '../../../shared/model/cel/meter.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import { AdmissionBudget } from '../../../shared/model/policy/admission-budget.ts'
import { compileConditions } from '../../../shared/model/policy/compile-policy.ts'
import type { WebhookSpec } from '../../../shared/model/policy/webhook.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import type { WebhookCall } from '../../../shared/ports/webhooks.ts'
import {
  callTogether,
  callWebhook,
  concernsWebhook,
  formFor,
  webhookRules,
  type CallOptions,
  type StoredWebhook,
} from '../../../shared/resources/call-webhooks.ts'
import type { Reviewed } from '../../../shared/resources/policy-review.ts'

const nowMs = 1_000_000
const kind = {
  group: 'example.com',
  version: 'v1',
  storageVersion: 'v1',
  servedVersions: ['v1', 'v2'],
  kind: 'Thing',
  plural: 'things',
  namespaced: true,
} as unknown as ServedKind
const wide = { ...kind, namespaced: false } as ServedKind

function thing(labels?: Record<string, string>): ApiObject {
  const metadata = { name: 't', namespace: 'default', ...(labels && { labels }) }
  return { apiVersion: 'example.com/v1', kind: 'Thing', metadata, spec: { size: 1 } } as unknown as ApiObject
}

function hookOf(spec: Partial<WebhookSpec> = {}): StoredWebhook {
  const { conditions: compiled } = compileConditions(spec.matchConditions ?? [], 'x')
  const whole = { name: 'h.example.com', clientConfig: { url: 'https://h' }, ...spec }
  return { configuration: 'c', spec: whole, compiled, asksRights: false }
}

const creation: Reviewed = {
  operation: 'CREATE',
  dryRun: false,
  kind,
  object: thing(),
  subresource: '',
  user: { name: 'ann', groups: [] },
}
const { object: _, ...rest } = creation
const deletion: Reviewed = { ...rest, operation: 'DELETE', old: thing({ a: '1' }) }

describe('the rules of a webhook', () => {
  const rule = { apiGroups: ['*'], operations: ['*'], resources: ['*'] } as const

  it('are those of a policy that fits equivalent versions, unless it says that they are exact', () => {
    expect(webhookRules(hookOf().spec)).toEqual({ resourceRules: [], matchPolicy: 'Equivalent' })
    expect(webhookRules(hookOf({ rules: [rule], matchPolicy: 'Exact' }).spec)).toEqual({
      resourceRules: [rule],
      matchPolicy: 'Exact',
    })
  })

  it.each([
    [['v1', 'v2'], 'v1'],
    [['v2'], 'v2'],
    [['v3'], 'v1'],
  ])('of versions %j have it asked in %s', (apiVersions, version) => {
    expect(formFor(hookOf({ rules: [{ ...rule, apiVersions }] }), creation).version).toBe(version)
  })
})

describe('whether a webhook is asked', () => {
  const isA = { matchLabels: { a: '1' } }
  const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default', labels: { a: '1' } } }
  const condition = (expression: string) => [{ name: 'c', expression }]
  const throwing = condition('object.spec.none == 1')

  it.each<[string, Partial<WebhookSpec>, Partial<Reviewed>, unknown, boolean]>([
    ['without selectors', {}, {}, undefined, true],
    ['of a namespace that fits', { namespaceSelector: isA }, {}, space, true],
    ['of a namespace that does not fit', { namespaceSelector: { matchLabels: { a: '2' } } }, {}, space, false],
    ['of a namespace without labels', { namespaceSelector: isA }, {}, { metadata: {} }, false],
    ['of a namespace that is not there', { namespaceSelector: isA }, {}, undefined, false],
    ['of an object of the cluster', { namespaceSelector: isA }, { kind: wide }, undefined, true],
    ['of an object that fits', { objectSelector: isA }, { object: thing({ a: '1' }) }, undefined, true],
    ['of an object without labels', { objectSelector: isA }, {}, undefined, false],
    ['of an object that did fit', { objectSelector: isA }, { old: thing({ a: '1' }) }, undefined, true],
    ['whose condition holds', { matchConditions: condition('object.spec.size == 1') }, {}, undefined, true],
    ['whose condition does not hold', { matchConditions: condition('object.spec.size == 2') }, {}, undefined, false],
    ['whose condition asks what was', { matchConditions: condition('oldObject == null') }, {}, undefined, true],
    [
      'whose condition asks for the request',
      { matchConditions: condition('request.userInfo.username == "ann"') },
      {},
      undefined,
      true,
    ],
    [
      'whose condition asks for the namespace',
      { matchConditions: condition('namespaceObject.metadata.labels.a == "1"') },
      {},
      space,
      true,
    ],
    [
      'whose condition fails and is ignored',
      { matchConditions: throwing, failurePolicy: 'Ignore' },
      {},
      undefined,
      false,
    ],
  ])('%s', (...row) => {
    const [, spec, more, namespaceObject, isAsked] = row
    const around = { namespaceObject: namespaceObject as ApiObject | undefined, meter: new Meter(10_000) }
    expect(concernsWebhook(hookOf(spec), { ...creation, ...more }, around)).toBe(isAsked)
  })

  it.each<[string, Reviewed, string]>([
    ['a creation', creation, 'things.example.com "t"'],
    ['a deletion', deletion, 'things.example.com "t"'],
    [
      'what has no name yet',
      { ...creation, object: { ...thing(), metadata: {} } as ApiObject },
      'things.example.com ""',
    ],
    ['what is written by its path', { ...creation, resource: { ...kind, plural: 'others' } }, 'others.example.com "t"'],
    [
      'an update',
      { ...creation, old: { ...thing(), metadata: { name: 'before' } } as ApiObject },
      'things.example.com "t"',
    ],
  ])('of which nobody can tell is forbidden: %s', (_what, asked, whose) => {
    const around = { namespaceObject: undefined, meter: new Meter(10_000) }
    const broken = hookOf({ matchConditions: condition('[1][5] == 1') })
    expect(() => concernsWebhook(broken, asked, around)).toThrow(`${whose} is forbidden: expression '[1][5] == 1'`)
  })

  it('that costs too much is forbidden, or ignored; what else is thrown is thrown', () => {
    const costly = { matchConditions: condition('object.spec.size == 1') }
    const around = { namespaceObject: undefined, meter: new Meter(0) }
    expect(() => concernsWebhook(hookOf(costly), creation, around)).toThrow('running out of cost budget')
    expect(concernsWebhook(hookOf({ ...costly, failurePolicy: 'Ignore' }), creation, around)).toBe(false)
    const broken = {
      spend: () => {
        throw new RangeError('odd')
      },
    } as unknown as Meter
    expect(() => concernsWebhook(hookOf(costly), creation, { ...around, meter: broken })).toThrow(RangeError)
  })
})

/** A call of a webhook that answers so. */
function open({
  response = { allowed: true },
  answer,
  leftMs = 30_000,
  ...more
}: {
  readonly response?: object
  readonly answer?: () => Promise<string>
  /** Of the time of all webhooks. */
  readonly leftMs?: number
} & Partial<CallOptions> = {}) {
  const calls: WebhookCall[] = []
  const spent: number[] = []
  const post = async (call: WebhookCall): Promise<string> => {
    calls.push(call)
    const whole = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid: 'u', ...response } }
    return answer === undefined ? JSON.stringify(whole) : answer()
  }
  const budget = { endFrom: (ms: number) => ms + leftMs, spend: (steps: number) => void spent.push(steps) }
  const options = {
    webhooks: { post },
    random: { uuid: () => 'u' },
    clock: { nowMs: () => nowMs },
    meter: new Meter(0),
    budget: budget as unknown as AdmissionBudget,
    ...more,
  } as unknown as CallOptions
  return { calls, spent, options }
}

async function endOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work
  } catch (error) {
    return error instanceof OperatingError ? `${error.code}: ${error.message}` : error
  }
}

const said = 'HOOK_FAILED: Internal error occurred: failed calling webhook "h.example.com"'

describe('a call of a webhook', () => {
  it('sends a review, with the time that there is, and costs what is sent and received', async () => {
    const { calls, spent, options } = open({ response: { allowed: true, warnings: ['w'] } })
    expect(await callWebhook(hookOf(), creation, false, options)).toMatchObject({ allowed: true, warnings: ['w'] })
    const body = calls[0]?.body ?? ''
    expect(calls).toStrictEqual([{ url: 'https://h', body, timeoutMs: 10_000, answerBytesMax: 1_500_000 }])
    expect(JSON.parse(body)).toMatchObject({
      apiVersion: 'admission.k8s.io/v1',
      request: { uid: 'u', operation: 'CREATE', object: thing(), oldObject: null },
    })
    const answer =
      '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u","allowed":true,"warnings":["w"]}}'
    expect(spent).toEqual([12_000, Math.ceil(body.length / 8), answer.length / 2])
  })

  it.each([
    [3, 30_000, 3_000],
    [3, 2_000, 2_000],
    [undefined, 1, 1],
  ])('that may take %s s, of %d ms that are left, takes %d ms', async (timeoutSeconds, leftMs, timeoutMs) => {
    const { calls, options } = open({ leftMs })
    await callWebhook(hookOf(timeoutSeconds === undefined ? {} : { timeoutSeconds }), creation, false, options)
    expect(calls.map((call) => call.timeoutMs)).toEqual([timeoutMs])
  })

  it.each([
    ['', undefined],
    [btoa('-----BEGIN CERTIFICATE-----'), '-----BEGIN CERTIFICATE-----'],
    ['???', undefined],
  ])('with the bundle %j trusts %s', async (caBundle, authorities) => {
    const { calls, options } = open()
    await callWebhook(hookOf({ clientConfig: { url: 'https://h', caBundle } }), creation, false, options)
    expect(calls.map((call) => call.authorities)).toEqual([authorities])
  })

  it('may patch if it is one that changes, and only then', async () => {
    const response = { allowed: true, patch: btoa('[{"op":"remove","path":"/spec"}]'), patchType: 'JSONPatch' }
    const patch = [{ op: 'remove', path: '/spec' }]
    expect(await callWebhook(hookOf(), creation, true, open({ response }).options)).toMatchObject({ patch })
    expect(await endOf(callWebhook(hookOf(), creation, false, open({ response }).options))).toBe(
      `${said}: received invalid webhook response: validating webhook may not return response.patch`,
    )
  })

  it('has its notes written under its name, though it denies', async () => {
    const notes: string[] = []
    const asked = { ...creation, annotate: (name: string, value: string) => void notes.push(`${name}=${value}`) }
    const response = { allowed: false, auditAnnotations: { a: '1', b: '2' }, status: { message: 'no' } }
    for (const failurePolicy of ['Fail', 'Ignore'] as const)
      expect(await endOf(callWebhook(hookOf({ failurePolicy }), asked, false, open({ response }).options))).toBe(
        'FORBIDDEN: admission webhook "h.example.com" denied the request: no',
      )
    expect(notes.slice(0, 2)).toEqual(['h.example.com/a=1', 'h.example.com/b=2'])
  })

  it.each<[string, Parameters<typeof open>[0], string]>([
    ['this process calls none', { webhooks: undefined }, 'failed to call webhook: this process calls no webhooks'],
    ['the time is over', { leftMs: 0 }, 'failed to call webhook: the webhooks before took 30 s'],
    [
      'there is no answer that counts',
      { response: { uid: 'x' } },
      'received invalid webhook response: expected response.uid="u", got "x"',
    ],
    [
      'the server is away',
      { answer: async () => Promise.reject(new OperatingError('UNAVAILABLE', 'away')) },
      'failed to call webhook: away',
    ],
    [
      'the answer is too large',
      { answer: async () => Promise.reject(new OperatingError('TOO_LARGE', 'large')) },
      'failed to call webhook: large',
    ],
  ])('keeps the write back, or is ignored, where %s', async (_what, given, why) => {
    expect(await endOf(callWebhook(hookOf(), creation, false, open(given).options))).toBe(`${said}: ${why}`)
    const { options } = open(given)
    expect(await callWebhook(hookOf({ failurePolicy: 'Ignore' }), creation, false, options)).toBeUndefined()
  })

  it('asks nobody where there is no time or no budget', async () => {
    const late = open({ leftMs: 0 })
    await endOf(callWebhook(hookOf(), creation, false, late.options))
    const poor = open()
    const spend = (): never => {
      throw new OperatingError('TOO_LARGE', 'too much')
    }
    const options = { ...poor.options, budget: { endFrom: () => nowMs + 1, spend } as unknown as AdmissionBudget }
    const ignoring = hookOf({ failurePolicy: 'Ignore' })
    expect(await endOf(callWebhook(ignoring, creation, false, options))).toBe('TOO_LARGE: too much')
    expect([late.calls, late.spent, poor.calls]).toEqual([[], [], []])
  })

  it('has its time left when the clock of the machine is put ahead', async () => {
    let ms = nowMs
    const { calls, options } = open({
      clock: { nowMs: () => (ms += 60_000), steadyMs: () => 7, sleep: async () => {} },
      budget: new AdmissionBudget(),
    })
    for (let i = 0; i < 2; i++) await callWebhook(hookOf(), creation, false, options)
    expect(calls.map(({ timeoutMs }) => timeoutMs)).toEqual([10_000, 10_000])
  })

  it('that breaks otherwise is not ignored', async () => {
    const odd = new RangeError('odd')
    const { options } = open({ answer: async () => Promise.reject(odd) })
    expect(await endOf(callWebhook(hookOf({ failurePolicy: 'Ignore' }), creation, false, options))).toBe(odd)
  })
})

describe('webhooks that change nothing', () => {
  /** So many, the answers of which are given in turn. */
  function many(answers: readonly object[], failurePolicy: 'Fail' | 'Ignore' = 'Fail') {
    let [begun, atOnce, mostAtOnce] = [0, 0, 0]
    const answer = async (): Promise<string> => {
      const response = answers[begun++]
      mostAtOnce = Math.max(mostAtOnce, ++atOnce)
      await new Promise(setImmediate)
      atOnce--
      const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid: 'u', ...response } }
      return JSON.stringify(review)
    }
    const hooks = answers.map((__, i) => ({ hook: hookOf({ name: `h${i}`, failurePolicy }), asked: creation }))
    return { end: endOf(callTogether(hooks, open({ answer }).options)), seen: () => [begun, mostAtOnce] }
  }

  it('are asked eight at a time, and their warnings come in their order', async () => {
    const { end, seen } = many(Array.from({ length: 17 }, (__, i) => ({ allowed: true, warnings: [`w${i}`] })))
    expect(await end).toEqual(Array.from({ length: 17 }, (__, i) => `w${i}`))
    expect(seen()).toEqual([17, 8])
  })

  it('are asked no more behind those of whom one denies; the first one counts', async () => {
    const answers = Array.from({ length: 9 }, (__, i) => ({ allowed: i < 3 }))
    const { end, seen } = many(answers)
    expect(await end).toBe('FORBIDDEN: admission webhook "h3" denied the request without explanation')
    expect(seen()).toEqual([8, 8])
  })

  it('warn of nothing where they are ignored', async () => {
    expect(await many([{ uid: 'x' }, { allowed: true, warnings: ['w'] }], 'Ignore').end).toEqual(['w'])
  })

  it('may not patch', async () => {
    const patching = { allowed: true, patch: btoa('[]'), patchType: 'JSONPatch' }
    expect(await many([patching]).end).toMatch('validating webhook may not return response.patch')
  })
})
