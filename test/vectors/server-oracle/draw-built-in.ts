import type { Json, JsonObject } from '../../../shared/model/json.ts'
import type { Draw } from './draw.ts'
import type { Target } from './requests.ts'

/** A kind that comes with the control plane, in a namespace of the session's own. */
export function drawBuiltIn(draw: Draw, seed: number): Target {
  const namespace = `s${seed}`
  const { group, plural, kind, fields, pointers } = draw.pick(kinds)
  const root = group === '' ? '/api/v1' : `/apis/${group}/v1`
  return {
    before: [{ line: 'POST /api/v1/namespaces', body: { metadata: { name: namespace } } }],
    path: `${root}/namespaces/${namespace}/${plural}`,
    apiVersion: group === '' ? 'v1' : `${group}/v1`,
    kind,
    hasStatus: false,
    isStrategic: true,
    content: (odd) => ({
      ...Object.fromEntries(
        Object.entries(fields)
          .filter(([name]) => name === 'rules' || draw.chance(0.6))
          .map(([name, values]) => [name, draw.pick(draw.chance(odd) ? oddValues : values)]),
      ),
      ...(draw.chance(odd) && { unheard: 1 }),
    }),
    pointers,
  }
}

interface BuiltIn {
  readonly group: string
  readonly plural: string
  readonly kind: string
  readonly fields: Readonly<Record<string, readonly Json[]>>
  readonly pointers: readonly string[]
}

const oddValues: readonly Json[] = ['x', 1, true, ['x'], { a: 1 }, null]
const access = 'rbac.authorization.k8s.io'
const rule: JsonObject = { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }

const kinds: readonly BuiltIn[] = [
  {
    group: '',
    plural: 'configmaps',
    kind: 'ConfigMap',
    fields: {
      data: [{ a: '1' }, { a: '2', b: '' }, { 'a/b': '1' }, { a: null, c: '3' }],
      binaryData: [{ x: 'YQ==' }, { x: 'YQ' }, { z: 'YQ==' }, { y: '' }],
      immutable: [true, false],
    },
    pointers: ['/data', '/data/a', '/data/z', '/binaryData/x', '/immutable'],
  },
  {
    group: '',
    plural: 'secrets',
    kind: 'Secret',
    fields: {
      data: [{ a: 'YQ==' }, { a: 'YWI=', b: '' }, { a: '!' }, { a: null, c: 'Yw==' }],
      stringData: [{ a: 'text' }, { 'b/c': 'x' }, { a: '' }],
      type: ['Opaque', 'Opaque', 'kubernetes.io/tls', 'kubernetes.io/basic-auth', 'mine.dev/own'],
      immutable: [true, false],
    },
    pointers: ['/data', '/data/a', '/stringData', '/type', '/immutable'],
  },
  {
    group: '',
    plural: 'serviceaccounts',
    kind: 'ServiceAccount',
    fields: {
      secrets: [[{ name: 'x' }], [{ name: 'x' }, { name: 'y' }]],
      imagePullSecrets: [[{ name: 'p' }], [{ name: 'q' }], [{ name: 'p' }, { name: 'p' }]],
      automountServiceAccountToken: [true, false],
    },
    pointers: ['/secrets', '/secrets/0', '/secrets/-', '/imagePullSecrets', '/automountServiceAccountToken'],
  },
  {
    group: access,
    plural: 'roles',
    kind: 'Role',
    fields: {
      rules: [
        [rule],
        [rule, { ...rule, resourceNames: ['x'] }],
        [{ verbs: [], apiGroups: [''], resources: ['a'] }],
        [{ verbs: ['get'] }],
        [{ verbs: ['get'], nonResourceURLs: ['/a'] }],
        [{ ...rule, resources: [] }],
      ],
    },
    pointers: ['/rules/0', '/rules/-', '/rules/0/verbs', '/rules/0/verbs/-'],
  },
  {
    group: access,
    plural: 'rolebindings',
    kind: 'RoleBinding',
    fields: {
      roleRef: [
        { apiGroup: access, kind: 'Role', name: 'r' },
        { apiGroup: access, kind: 'Role', name: 'r' },
        { apiGroup: access, kind: 'ClusterRole', name: 'view' },
        { kind: 'Role', name: 'r' },
        { apiGroup: access, kind: 'Other', name: 'r' },
        { apiGroup: access, kind: 'Role', name: '' },
      ],
      subjects: [
        [{ kind: 'User', name: 'u', apiGroup: access }],
        [{ kind: 'ServiceAccount', name: 's', namespace: 'n' }],
        [{ kind: 'ServiceAccount', name: 's' }],
        [{ kind: 'Group', name: 'g' }],
        [{ kind: 'Other', name: 'g' }],
      ],
    },
    pointers: ['/subjects', '/subjects/0', '/subjects/-', '/roleRef', '/roleRef/name'],
  },
  {
    group: 'coordination.k8s.io',
    plural: 'leases',
    kind: 'Lease',
    fields: {
      spec: [
        { holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 },
        { holderIdentity: 'b', renewTime: '2024-01-01T00:00:00.000000Z', acquireTime: '2024-01-01T00:00:00.000000Z' },
        { holderIdentity: '' },
        { leaseDurationSeconds: 0 },
        { leaseTransitions: -1 },
        {},
      ],
    },
    pointers: ['/spec', '/spec/holderIdentity', '/spec/leaseTransitions'],
  },
]
