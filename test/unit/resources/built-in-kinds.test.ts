import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../shared/model/json.ts'
import { interpretSchema } from '../../../shared/model/schema/validate.ts'
import { builtInKinds, twinKinds } from '../../../shared/resources/built-in-kinds.ts'

/** `Kind plural`, of those for which it holds. */
const thoseWith = (holds: (kind: (typeof builtInKinds)[number]) => boolean | undefined) =>
  builtInKinds.filter((kind) => holds(kind) === true).map(({ kind }) => kind)

describe('the kinds that come with the control plane', () => {
  it('are in namespaces, but for these', () => {
    expect(thoseWith(({ namespaced }) => !namespaced)).toEqual([
      'Namespace',
      'ClusterRole',
      'ClusterRoleBinding',
      'ValidatingAdmissionPolicy',
      'ValidatingAdmissionPolicyBinding',
      'MutatingAdmissionPolicy',
      'MutatingAdmissionPolicyBinding',
      'ValidatingWebhookConfiguration',
      'MutatingWebhookConfiguration',
      'CustomResourceDefinition',
    ])
  })

  it('have a path for their status: these', () => {
    const all = ['Namespace', 'ResourceQuota', 'ValidatingAdmissionPolicy', 'CustomResourceDefinition']
    expect(thoseWith(({ hasStatus }) => hasStatus)).toEqual(all)
  })

  it('show no generation: these', () => {
    const names = ['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding']
    const core = ['Namespace', 'ConfigMap', 'Secret', 'Event', 'ServiceAccount']
    const all = [...core, ...names, 'ResourceQuota', 'Lease']
    expect(thoseWith(({ hidesGeneration }) => hidesGeneration)).toEqual(all)
  })

  it('are confidential: Secrets', () => {
    expect(thoseWith(({ isConfidential }) => isConfidential)).toEqual(['Secret'])
  })

  it('are built in, and the twins of some of them, too', () => {
    expect([...builtInKinds, ...twinKinds].every(({ builtIn }) => builtIn)).toBe(true)
  })
})

function faultsOf(name: string, body: JsonObject): readonly string[] {
  const kind = builtInKinds.find((one) => one.kind === name)
  if (kind === undefined) throw new Error(`no kind ${name}`)
  return [...new Set(interpretSchema(kind.schema, body).map(({ field }) => field))]
}

describe('what these kinds take', () => {
  const rule = { apiGroups: null, nonResourceURLs: null, resourceNames: null, resources: null, verbs: null }
  const nothing = { key: 'a', operator: 'Exists', values: null }
  const selector = { matchLabels: null, matchExpressions: [nothing] }

  it.each<[string, JsonObject]>([
    ['Role', { rules: null }],
    ['Role', { rules: [rule] }],
    ['ClusterRole', { aggregationRule: null }],
    ['ClusterRole', { aggregationRule: { clusterRoleSelectors: null } }],
    ['ClusterRole', { aggregationRule: { clusterRoleSelectors: [selector, { matchExpressions: null }] } }],
    ['RoleBinding', { subjects: null }],
    ['ServiceAccount', { automountServiceAccountToken: null, imagePullSecrets: null, secrets: null }],
    ['Event', { firstTimestamp: null, eventTime: null }],
    ['Lease', { spec: { acquireTime: null, renewTime: null } }],
    ['Namespace', { status: { conditions: [{ type: 'a', status: 'True', lastTransitionTime: null }] } }],
  ])('%s takes null where Kubernetes does: %j', (kind, body) => {
    expect(faultsOf(kind, body)).toEqual([])
  })

  it.each<[string, JsonObject, readonly string[]]>([
    ['Secret', { data: { a: '', b: 'eA==' } }, []],
    ['Secret', { data: { a: 'x' } }, ['data.a']],
    ['ConfigMap', { binaryData: { a: '?' } }, ['binaryData.a']],
    ['Lease', { spec: { leaseDurationSeconds: 1, leaseTransitions: 0 } }, []],
    [
      'Lease',
      { spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } },
      ['spec.leaseDurationSeconds', 'spec.leaseTransitions'],
    ],
  ])('%s with %j has faults in %j', (kind, body, fields) => {
    expect(faultsOf(kind, body)).toEqual(fields)
  })

  it.each<[string, string]>([
    ['Role', 'rules'],
    ['RoleBinding', 'roleRef'],
    ['RoleBinding', 'subjects'],
  ])('%s is applied with %s as one piece', (name, field) => {
    const { properties = {} } = builtInKinds.find(({ kind }) => kind === name)?.schema ?? {}
    const { 'x-kubernetes-list-type': list, 'x-kubernetes-map-type': map } = properties[field] as Record<string, Json>
    expect(list ?? map).toBe('atomic')
  })
})
