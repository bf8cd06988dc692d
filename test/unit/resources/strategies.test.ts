import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import { apiVersionOf } from '../../../shared/model/object.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import { builtInKinds } from '../../../shared/resources/built-in-kinds.ts'
import { createsOnUpdate, mustNameVersion, normalizeBody, strategyOf } from '../../../shared/resources/strategies.ts'
import { processorMs } from '../../support/processor-time.ts'

/** The built-in kinds for which it holds, by their names. */
function thoseThat(holds: (kind: ServedKind) => boolean): readonly string[] {
  return builtInKinds
    .filter(holds)
    .map(({ kind }) => kind)
    .toSorted()
}

function strategyFor({ group, version, kind }: ServedKind) {
  const metadata = { name: 'a', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '' }
  return strategyOf({ apiVersion: apiVersionOf(group, version), kind, metadata })
}

const access = ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding']

describe('of the built-in kinds', () => {
  it('these are created by a PUT', () => {
    expect(thoseThat(createsOnUpdate)).toEqual([...access, 'Event', 'Lease'].toSorted())
  })

  it('these are replaced only by who names their version', () => {
    const policies = ['MutatingAdmissionPolicy', 'ValidatingAdmissionPolicy'].flatMap((name) => [
      name,
      `${name}Binding`,
    ])
    const webhooks = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']
    expect(thoseThat(mustNameVersion)).toEqual(
      [...policies, ...webhooks, 'CustomResourceDefinition', 'Lease'].toSorted(),
    )
  })

  it('these have finalizers that name whose they are', () => {
    const core = ['ConfigMap', 'Event', 'Lease', 'Namespace', 'ResourceQuota', 'Secret', 'ServiceAccount']
    expect(thoseThat((kind) => strategyFor(kind).qualifiesFinalizers === true)).toEqual([...access, ...core].toSorted())
  })

  it('these have names that stand in a path', () => {
    expect(thoseThat((kind) => strategyFor(kind).nameRule === 'path segment')).toEqual(access)
  })
})

it('a kind of users’ own is replaced by who names its version, and is not created by a PUT', () => {
  const own = { ...(builtInKinds[0] as ServedKind), group: 'g.dev', kind: 'K', builtIn: false }
  expect([mustNameVersion(own), createsOnUpdate(own)]).toEqual([true, false])
})

describe('a body', () => {
  const core = (kind: string) => ({ group: '', kind })
  const webhooks = { group: 'admissionregistration.k8s.io', kind: 'MutatingWebhookConfiguration' }
  const definition = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' }
  const lease = { group: 'coordination.k8s.io', kind: 'Lease' }
  const second = '2026-11-01T00:00:00Z'
  const micro = '2026-11-01T00:00:00.000000Z'
  const exact = '2026-11-01T00:00:00.123456Z'

  it.each<[{ group: string; kind: string }, JsonObject, JsonObject]>([
    [
      core('Event'),
      { eventTime: second, series: { lastObservedTime: second, count: 2 } },
      { eventTime: micro, series: { lastObservedTime: micro, count: 2 } },
    ],
    [core('Event'), { eventTime: second }, { eventTime: micro }],
    [core('Event'), { series: { lastObservedTime: second } }, { series: { lastObservedTime: micro } }],
    [lease, { spec: { acquireTime: second, renewTime: exact } }, { spec: { acquireTime: micro, renewTime: exact } }],
    [lease, { spec: { acquireTime: second, renewTime: second } }, { spec: { acquireTime: micro, renewTime: micro } }],
    [
      core('ConfigMap'),
      { data: { a: null, b: 'x' }, binaryData: { c: null } },
      { data: { a: '', b: 'x' }, binaryData: { c: '' } },
    ],
    [core('Secret'), { stringData: { a: 'x' } }, { data: { a: 'eA==' } }],
    [
      core('Secret'),
      { data: { a: null, b: 'eA==' }, stringData: { b: 'y', c: null } },
      { data: { a: '', b: 'eQ==', c: '' } },
    ],
    [core('Secret'), { data: { a: 'e\nA==\r\n', b: 'eA==' } }, { data: { a: 'eA==', b: 'eA==' } }],
    [
      core('ConfigMap'),
      { data: { a: 'x\n' }, binaryData: { c: 'eA==\n' } },
      { data: { a: 'x\n' }, binaryData: { c: 'eA==' } },
    ],
    [
      webhooks,
      { webhooks: ['x', { clientConfig: { caBundle: 'e\nA==' } }, { clientConfig: { url: 'u' } }] },
      { webhooks: ['x', { clientConfig: { caBundle: 'eA==' } }, { clientConfig: { url: 'u' } }] },
    ],
    [
      definition,
      { spec: { conversion: { webhook: { clientConfig: { caBundle: 'eA==\n' } } } } },
      { spec: { conversion: { webhook: { clientConfig: { caBundle: 'eA==' } } } } },
    ],
  ])('of %j, %j, means %j', (kind, body, means) => {
    expect(normalizeBody(kind, body)).toStrictEqual(means)
  })

  it.each<[{ group: string; kind: string }, JsonObject]>([
    [core('Event'), { eventTime: exact, series: { lastObservedTime: exact } }],
    [core('Event'), { eventTime: null, series: null }],
    [core('Event'), { eventTime: 'soon', series: { lastObservedTime: 5 } }],
    [core('Event'), { eventTime: [second] }],
    [core('Event'), {}],
    [lease, { spec: 'x' }],
    [lease, { spec: { holderIdentity: 'a' } }],
    [core('ConfigMap'), { data: { a: 'x' }, binaryData: { c: 'eA==' } }],
    [core('ConfigMap'), { data: null, binaryData: ['x'] }],
    [core('Secret'), { data: { a: 'eA==' } }],
    [core('Secret'), { data: {}, stringData: 'x' }],
    [core('Secret'), { data: 'odd', stringData: { a: 'x' } }],
    [core('Secret'), { data: { a: 5 }, type: 'x\n' }],
    [webhooks, { webhooks: { clientConfig: { caBundle: 5 } } }],
    [definition, { spec: { conversion: { webhook: ['x'] } } }],
    [{ group: 'g.dev', kind: 'Secret' }, { stringData: { a: 'x' } }],
  ])('of %j, %j, means what it says', (kind, body) => {
    expect(normalizeBody(kind, body)).toBe(body)
  })

  it.each([
    ['data', 'eA==\n'],
    ['data', null],
    ['stringData', 'x'],
  ])('of a Secret with thousands of entries of %s that say %j is read in time by its length', (field, text) => {
    const entries = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, text]))
    expect(processorMs(() => void normalizeBody(core('Secret'), { [field]: entries }))).toBeLessThan(400)
  })
})
