import { describe, expect, it } from 'vitest'
import { readReview, writeReview, type WebhookVerdict } from '../../../shared/model/admission-review.ts'
import { bytesToBase64, toBase64 } from '../../../shared/model/base64.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import { storedWidget } from '../../support/stored-object.ts'

const v1 = { uid: 'u', version: 'v1', isMutating: true } as const
const beta = { ...v1, version: 'v1beta1' } as const
const validating = { ...v1, isMutating: false }
const head = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }
const allowed: WebhookVerdict = {
  allowed: true,
  patch: [],
  warnings: [],
  notes: [],
  status: { code: 400, reason: '', message: '', details: {} },
}
const operations = [{ op: 'remove', path: '/a' }]
const patch = toBase64(JSON.stringify(operations))
const patchType = 'JSONPatch'
const details = { name: 'w', group: 'g.dev', kind: 'Widget', uid: 'u', retryAfterSeconds: 5 }
const cause = { reason: 'FieldValueInvalid', message: 'Invalid value: 5', field: 'spec.size' }
const nothing = { reason: '', message: '' }
const copies = <One>(count: number, one: One) => Array.from({ length: count }, () => one)

function read(response: JsonObject, question: Parameters<typeof readReview>[1] = v1) {
  return readReview(JSON.stringify({ ...head, response: { uid: 'u', allowed: true, ...response } }), question)
}

it.each(['v1', 'v1beta1'] as const)('a question in %s has its objects as they are', (version) => {
  const { object } = storedWidget('w')
  const request = { uid: 'other', operation: 'UPDATE', a: { b: '"}' } }
  const written = { version, uid: 'u', request, object, oldObject: undefined }
  expect(JSON.parse(writeReview(written))).toEqual({
    apiVersion: `admission.k8s.io/${version}`,
    kind: 'AdmissionReview',
    request: { ...request, object, oldObject: null },
  })
  expect(JSON.parse(writeReview({ ...written, object: undefined, oldObject: object, request: {} }))).toMatchObject({
    request: { uid: 'u', object: null, oldObject: object },
  })
})

describe('an answer', () => {
  it.each<[string, JsonObject, Partial<WebhookVerdict>]>([
    ['that allows', {}, {}],
    ['that denies', { allowed: false }, { allowed: false }],
    ['that says nothing', { allowed: undefined }, { allowed: false }],
    ['that says null', { allowed: null }, { allowed: false }],
    ['with a patch', { patch, patchType }, { patch: operations }],
    ['with an empty patch', { patch: '', patchType: null }, {}],
    ['with a patch that is null', { patch: null }, {}],
    ['that denies with a patch', { allowed: false, patch, patchType: 'x' }, { allowed: false }],
    ['with warnings', { warnings: ['a', 5, 'b'.repeat(300)] }, { warnings: ['a', 'b'.repeat(256)] }],
    ['with many warnings', { warnings: Array(11).fill('a') }, { warnings: Array(10).fill('a') as string[] }],
    ['with warnings that are none', { warnings: 'a' }, {}],
    [
      'with notes',
      { auditAnnotations: { a: 'x', b: 5, c: '' } },
      {
        notes: [
          ['a', 'x'],
          ['c', ''],
        ],
      },
    ],
    ['with notes that are none', { auditAnnotations: ['x'] }, {}],
    [
      'with a reason',
      { status: { code: 403, reason: 'r'.repeat(101), message: 'm'.repeat(1_001) } },
      { status: { code: 403, reason: 'r'.repeat(100), message: 'm'.repeat(1_000), details: {} } },
    ],
    [
      'with details of what it denies',
      { status: { code: 422, details: { ...details, causes: [{ ...cause, other: 1 }, 'no', { message: 5 }, {}] } } },
      { status: { ...allowed.status, code: 422, details: { ...details, causes: [cause, nothing, nothing] } } },
    ],
    [
      'with long details and many causes',
      { status: { details: { name: 'n'.repeat(1_001), causes: copies(101, { field: 'f'.repeat(1_001) }) } } },
      {
        status: {
          ...allowed.status,
          details: { name: 'n'.repeat(1_000), causes: copies(100, { ...nothing, field: 'f'.repeat(1_000) }) },
        },
      },
    ],
    [
      'with details of other types',
      { status: { details: { name: 5, group: '', kind: null, causes: {}, retryAfterSeconds: -1 } } },
      {},
    ],
    ['with details that are none', { status: { details: 'no' } }, {}],
    ['with a status that is none', { status: 'no' }, {}],
    ['with other types in its status', { status: { code: '403', reason: 5, message: {} } }, {}],
  ])('%s', (_what, response, verdict) => {
    expect(read(response)).toEqual({ ...allowed, ...verdict })
  })

  it.each([
    [399, 400],
    [400, 400],
    [401, 401],
    [599, 599],
    [600, 400],
    [403.5, 400],
    [200, 400],
  ])('that denies with the code %d is answered %d', (code, answered) => {
    expect(read({ allowed: false, status: { code } })).toMatchObject({ status: { code: answered } })
  })

  it('has twenty notes at most', () => {
    const notes = Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`n${i}`, 'x']))
    expect(read({ auditAnnotations: notes })).toMatchObject({ notes: Object.entries(notes).slice(0, 20) })
  })

  it.each<[string, JsonObject, string]>([
    ['of another request', { uid: 'x' }, 'expected response.uid="u", got "x"'],
    ['of no request', { uid: 5 }, 'expected response.uid="u", got ""'],
    ['that says neither yes nor no', { allowed: 'yes' }, 'response.allowed must be true or false'],
    ['with a patch of no type', { patch }, 'webhook returned response.patch but not response.patchType'],
    ['with a type of no patch', { patchType }, 'webhook returned response.patchType but not response.patch'],
    ['with a patch of another type', { patch, patchType: 'x' }, 'unsupported patch type "x"'],
    ['with a patch that is no base64', { patch: '!', patchType }, 'received undecodable patch in webhook response: '],
    [
      'with a patch that is no UTF-8',
      { patch: bytesToBase64(Uint8Array.of(0x5b, 0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d, 0x5d)), patchType },
      'received undecodable patch in webhook response: it is no base64 of UTF-8',
    ],
    [
      'with a patch that ends too soon',
      { patch: toBase64('['), patchType },
      'received undecodable patch in webhook response: it is no JSON',
    ],
    [
      'with a patch that is no JSON',
      { patch: toBase64('s3cret'), patchType },
      'received undecodable patch in webhook response: it is no JSON',
    ],
    [
      'with a patch that is no list',
      { patch: toBase64('{}'), patchType },
      'received undecodable patch in webhook response: it is no list of operations',
    ],
    [
      'with a patch of no objects',
      { patch: toBase64('[{},5]'), patchType },
      'received undecodable patch in webhook response: it is no list of operations',
    ],
  ])('%s is none', (_what, response, fault) => {
    expect(read(response)).toEqual({ fault: expect.stringMatching(`^${fault.replaceAll('.', '\\.')}`) as string })
  })

  it.each<[string, JsonObject, string | undefined]>([
    ['nothing', {}, undefined],
    ['an empty patch', { patch: '' }, undefined],
    ['a patch', { patch, patchType }, 'validating webhook may not return response.patch'],
    ['a type', { patchType }, 'validating webhook may not return response.patchType'],
  ])('of a webhook that may change nothing may return %s: %s', (_what, response, fault) => {
    expect(read(response, validating)).toEqual(fault === undefined ? allowed : { fault })
  })

  it.each([
    ['', 'webhook response was absent'],
    ['[]', 'webhook response was absent'],
    ['{"response":5}', 'webhook response was absent'],
    [
      JSON.stringify({ ...head, kind: 'Other', response: { uid: 'u' } }),
      'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1, Kind=Other',
    ],
    [
      JSON.stringify({ ...head, apiVersion: 'v1', response: { uid: 'u' } }),
      'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got v1, Kind=AdmissionReview',
    ],
  ])('that reads %j is none', (answer, fault) => {
    expect(readReview(answer, v1)).toEqual({ fault })
  })

  it('has a patch of ten thousand operations at most', () => {
    const many = (count: number) => ({ patch: toBase64(`[${Array(count).fill('{}').join()}]`), patchType })
    expect(read(many(10_000))).toHaveProperty('patch.length', 10_000)
    expect(read(many(10_001))).toEqual({ fault: 'the patch has more than 10000 operations' })
  })

  it.each<[string, JsonObject, Parameters<typeof readReview>[1], readonly JsonObject[]]>([
    ['its patch is taken without a type', { patch }, beta, operations],
    ['its patch is none if it denies', { patch, allowed: false }, beta, []],
    ['its patch is none if it is empty', { patch: '' }, beta, []],
    ['its patch is none if it may change nothing', { patch }, { ...beta, isMutating: false }, []],
  ])('in v1beta1: %s', (_what, response, question, taken) => {
    const answer = JSON.stringify({ response: { allowed: true, ...response } })
    expect(readReview(answer, question)).toEqual({ ...allowed, allowed: response['allowed'] !== false, patch: taken })
  })
})
