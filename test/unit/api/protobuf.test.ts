import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeObject } from '../../../shared/api/protobuf/messages.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import { enveloped, field, varint } from './protobuf-bytes.ts'

/** Bodies as kubectl 1.33 sent them, in base64. */
const sent = [
  {
    command: 'create ns demo',
    bytes: 'azhzAAoPCgJ2MRIJTmFtZXNwYWNlEhwKFAoEZGVtbxIAGgAiACoAMgA4AEIAEgAaAgoAGgAiAA==',
    object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'demo' }, spec: {}, status: {} },
  },
  {
    command: 'create cm conf --from-literal=a=1 --from-literal=b=zwei',
    bytes: 'azhzAAoPCgJ2MRIJQ29uZmlnTWFwEikKFAoEY29uZhIAGgAiACoAMgA4AEIAEgYKAWESATESCQoBYhIEendlaRoAIgA=',
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'conf' }, data: { a: '1', b: 'zwei' } },
  },
  {
    command: 'create cm conf2 --from-file=bin',
    bytes: 'azhzAAoPCgJ2MRIJQ29uZmlnTWFwEiIKFQoFY29uZjISABoAIgAqADIAOABCABoJCgNiaW4SAv/+GgAiAA==',
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'conf2' }, binaryData: { bin: '//4=' } },
  },
  {
    command: 'create secret generic sec --from-literal=password=geheim -n demo',
    bytes: 'azhzAAoMCgJ2MRIGU2VjcmV0Ei8KFwoDc2VjEgAaBGRlbW8iACoAMgA4AEIAEhIKCHBhc3N3b3JkEgZnZWhlaW0aABoAIgA=',
    object: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'sec', namespace: 'demo' },
      data: { password: 'Z2VoZWlt' },
    },
  },
  {
    command: 'auth whoami',
    bytes:
      'azhzAAotChhhdXRoZW50aWNhdGlvbi5rOHMuaW8vdjESEVNlbGZTdWJqZWN0UmV2aWV3EhoKEAoAEgAaACIAKgAyADgAQgASBgoECgASABoAIgA=',
    object: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: {} },
  },
  {
    command: 'auth can-i get widgets.example.com --subresource=status -n demo',
    bytes:
      'azhzAAoyChdhdXRob3JpemF0aW9uLms4cy5pby92MRIXU2VsZlN1YmplY3RBY2Nlc3NSZXZpZXcSTgoQCgASABoAIgAqADIAOABCABIwCi4KBGRlbW8SA2dldBoAIgAqE3dpZGdldHMuZXhhbXBsZS5jb20yBnN0YXR1czoAGggIABIAGgAgABoAIgA=',
    object: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      metadata: {},
      spec: {
        resourceAttributes: { namespace: 'demo', verb: 'get', resource: 'widgets.example.com', subresource: 'status' },
      },
    },
  },
  {
    command: 'auth can-i get /healthz',
    bytes:
      'azhzAAoyChdhdXRob3JpemF0aW9uLms4cy5pby92MRIXU2VsZlN1YmplY3RBY2Nlc3NSZXZpZXcSLwoQCgASABoAIgAqADIAOABCABIREg8KCC9oZWFsdGh6EgNnZXQaCAgAEgAaACAAGgAiAA==',
    object: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      metadata: {},
      spec: { nonResourceAttributes: { path: '/healthz', verb: 'get' } },
    },
  },
  {
    command: 'auth can-i --list -n demo',
    bytes:
      'azhzAAoxChdhdXRob3JpemF0aW9uLms4cy5pby92MRIWU2VsZlN1YmplY3RSdWxlc1JldmlldxIgChAKABIAGgAiACoAMgA4AEIAEgYKBGRlbW8aBBgAIgAaACIA',
    object: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectRulesReview',
      metadata: {},
      spec: { namespace: 'demo' },
    },
  },
]

const regarded = {
  kind: 'Widget',
  namespace: 'default',
  name: 'w',
  uid: 'u',
  apiVersion: 'example.com/v1',
  resourceVersion: '3',
  fieldPath: 'spec.a',
}

/** Bodies as client-go 0.37 encodes them. */
const encoded = [
  {
    what: 'Lease that nobody holds, with its owners of fields',
    bytes:
      'azhzAAofChZjb29yZGluYXRpb24uazhzLmlvL3YxEgVMZWFzZRKlAQqAAQoGbGVhZGVyEgAaB2RlZmF1bHQiACoAMgE3OABCAIoB' +
      'XwoBbRIGVXBkYXRlGhZjb29yZGluYXRpb24uazhzLmlvL3YxIggI7oOL2AYQADIIRmllbGRzVjE6JAoieyJmOnNwZWMiOnsiZjpo' +
      'b2xkZXJJZGVudGl0eSI6e319fUIAEiAKABAPGgsI7oOL2AYQgJTvOiILCO6Di9gGEICU7zooABoAIgA=',
    object: {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        name: 'leader',
        namespace: 'default',
        resourceVersion: '7',
        managedFields: [
          {
            manager: 'm',
            operation: 'Update',
            apiVersion: 'coordination.k8s.io/v1',
            time: '2026-11-22T10:20:30Z',
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:spec': { 'f:holderIdentity': {} } },
          },
        ],
      },
      spec: {
        holderIdentity: '',
        leaseDurationSeconds: 15,
        acquireTime: '2026-11-22T10:20:30.123456Z',
        renewTime: '2026-11-22T10:20:30.123456Z',
        leaseTransitions: 0,
      },
    },
  },
  {
    what: 'Event of the core group',
    bytes:
      'azhzAAoLCgJ2MRIFRXZlbnQShAEKGgoDdy4xEgAaB2RlZmF1bHQiACoAMgA4AEIAEjIKBldpZGdldBIHZGVmYXVsdBoBdyIBdSoO' +
      'ZXhhbXBsZS5jb20vdjEyATM6BnNwZWMuYRoBUiIBTSoGCgFjEgFoMggI7oOL2AYQADoICO6Di9gGEABAAkoGTm9ybWFsUgBiAHIA' +
      'egAaACIA',
    object: {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'w.1', namespace: 'default' },
      involvedObject: regarded,
      reason: 'R',
      message: 'M',
      source: { component: 'c', host: 'h' },
      firstTimestamp: '2026-11-22T10:20:30Z',
      lastTimestamp: '2026-11-22T10:20:30Z',
      count: 2,
      type: 'Normal',
    },
  },
  {
    what: 'Event of events.k8s.io',
    bytes:
      'azhzAAoZChBldmVudHMuazhzLmlvL3YxEgVFdmVudBKlAQoaCgN3LjISABoHZGVmYXVsdCIAKgAyADgAQgASCwjug4vYBhCAlO86' +
      'Gg8IAhILCO6Di9gGEICU7zoiAnJjKgJyaTIBQToBUkIyCgZXaWRnZXQSB2RlZmF1bHQaAXciAXUqDmV4YW1wbGUuY29tL3YxMgEz' +
      'OgZzcGVjLmFKDwoAEgAaAXIiACoAMgA6AFIBTloHV2FybmluZ2IECgASAGoAcgB4ABoAIgA=',
    object: {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'w.2', namespace: 'default' },
      eventTime: '2026-11-22T10:20:30.123456Z',
      series: { count: 2, lastObservedTime: '2026-11-22T10:20:30.123456Z' },
      reportingController: 'rc',
      reportingInstance: 'ri',
      action: 'A',
      reason: 'R',
      regarding: regarded,
      related: { name: 'r' },
      note: 'N',
      type: 'Warning',
      deprecatedSource: {},
    },
  },
  {
    what: 'CustomResourceDefinition with zeros that are meant',
    bytes:
      'azhzAAozChdhcGlleHRlbnNpb25zLms4cy5pby92MRIYQ3VzdG9tUmVzb3VyY2VEZWZpbml0aW9uEq8DChcKB2EuYi5kZXYSABoA' +
      'IgAqADIAOABCABKFAwoFYi5kZXYaCwoCYXMSACIBQSoAIgdDbHVzdGVyOuMCCgJ2MRAAGAEi0gIKzwIKABIAIgAqBm9iamVjdDIA' +
      'OgBQAGAAegCQAQDqAUAKAWESOwoAEgAiACoGbnVtYmVyMgA6AEIDCgEwSQAAAAAAAPi/UABZAAAAAAAAAABgAHoAkAEAqAIAuAIA' +
      'wAIA6gExCgFiEiwKABIAIgAqBnN0cmluZzIAOgBCBAoCIiJQAGAAcAB6AJABAKgCALgCAMACAOoBMgoBYxItCgASACIAKgdib29s' +
      'ZWFuMgA6AEIGCgRudWxsUABgAHoAkAEAqAIBuAIAwAIA6gEuCgFkEikKABIAIgAqBm9iamVjdDIAOgBQAGAAegCQAQDyAQIIAKgC' +
      'ALgCAMACAOoBSwoBZRJGCgASACIAKgVhcnJheTIAOgBQAGAAegCQAQDCASAKHgoAEgAiACoAMgA6AFAAYAB6AJABAKgCALgCAMAC' +
      'AKgCALgCAMACAKgCALgCAMACACoCCgA4AFAAGgwSCAoAEgAiACoAIAAaACIA',
    object: {
      kind: 'CustomResourceDefinition',
      apiVersion: 'apiextensions.k8s.io/v1',
      metadata: { name: 'a.b.dev' },
      spec: {
        group: 'b.dev',
        names: { plural: 'as', kind: 'A' },
        scope: 'Cluster',
        versions: [
          {
            name: 'v1',
            served: false,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  a: { type: 'number', default: 0, maximum: -1.5, minimum: 0 },
                  b: { type: 'string', default: '', minLength: 0 },
                  c: { type: 'boolean', default: null, nullable: true },
                  d: { type: 'object', additionalProperties: false },
                  e: { type: 'array', items: {} },
                },
              },
            },
            subresources: { status: {} },
          },
        ],
      },
      status: { acceptedNames: {} },
    },
  },
  {
    what: 'ValidatingWebhookConfiguration',
    bytes:
      'azhzAApBCh9hZG1pc3Npb25yZWdpc3RyYXRpb24uazhzLmlvL3YxEh5WYWxpZGF0aW5nV2ViaG9va0NvbmZpZ3VyYXRpb24SbAoR' +
      'CgF3EgAaACIAKgAyADgAQgASVwoHYS5iLmRldhIUEgNQRU0aDWh0dHBzOi8vYS5kZXYaKAoGQ1JFQVRFEh4KABICdjEaCmNvbmZp' +
      'Z21hcHMiCk5hbWVzcGFjZWQqADIETm9uZTgAQgJ2MRoAIgA=',
    object: {
      kind: 'ValidatingWebhookConfiguration',
      apiVersion: 'admissionregistration.k8s.io/v1',
      metadata: { name: 'w' },
      webhooks: [
        {
          name: 'a.b.dev',
          clientConfig: { url: 'https://a.dev', caBundle: 'UEVN' },
          rules: [
            {
              operations: ['CREATE'],
              apiGroups: [''],
              apiVersions: ['v1'],
              resources: ['configmaps'],
              scope: 'Namespaced',
            },
          ],
          namespaceSelector: {},
          sideEffects: 'None',
          timeoutSeconds: 0,
          admissionReviewVersions: ['v1'],
        },
      ],
    },
  },
]

describe('a protobuf body', () => {
  it.each(encoded)('of client-go: $what', ({ bytes, object }) => {
    expect(decodeObject(Buffer.from(bytes, 'base64'))).toEqual(object)
  })

  it('is refused where its JSON is none', () => {
    const entry = [...field(7, field(1, '{"f:spec"'))]
    const meta = [...field(1, 'a'), ...field(17, entry)]
    expect(() => decodeObject(enveloped('Namespace', field(1, meta)))).toThrow(
      expect.objectContaining({ code: 'BAD_REQUEST' }),
    )
  })

  it.each([
    ['{"a":9007199254740993}', 'a: it is a number that cannot be kept exactly'],
    ['['.repeat(300) + ']'.repeat(300), 'nested deeper than 200 levels'],
    ['{"__proto__":1}', 'a field cannot be called __proto__'],
  ])('is refused where its JSON would be as a body of its own: %s', (json, why) => {
    const meta = [...field(1, 'a'), ...field(17, field(7, field(1, json)))]
    expect(() => decodeObject(enveloped('Namespace', field(1, meta)))).toThrow(why)
  })

  it('has whole characters in its JSON', () => {
    const meta = [...field(1, 'a'), ...field(17, field(7, field(1, '{"a":"\\ud800"}')))]
    expect(JSON.stringify(decodeObject(enveloped('Namespace', field(1, meta))))).toContain('{"a":"\ufffd"}')
  })

  it.each(sent)('of kubectl $command says what was meant', ({ bytes, object }) => {
    expect(decodeObject(Buffer.from(bytes, 'base64'))).toEqual(object)
  })

  it('carries all metadata that a client may write', () => {
    const owner = [...field(1, 'Widget'), ...field(3, 'w1'), ...field(4, 'u1'), ...field(5, 'example.com/v1'), 6 * 8, 1]
    const created = [8, ...varint(1_777_636_800)]
    const meta = [
      ...field(1, 'a'),
      ...field(8, created),
      10 * 8,
      0,
      ...field(11, [...field(1, 'app'), ...field(2, 'x')]),
      ...field(12, [...field(1, 'note'), ...field(2, '')]),
      ...field(13, owner),
      ...field(14, 'example.com/one'),
      ...field(14, 'example.com/two'),
    ]
    expect(decodeObject(enveloped('Namespace', field(1, meta)))['metadata']).toEqual({
      name: 'a',
      creationTimestamp: '2026-05-01T12:00:00Z',
      labels: { app: 'x' },
      annotations: { note: '' },
      ownerReferences: [{ kind: 'Widget', name: 'w1', uid: 'u1', apiVersion: 'example.com/v1', controller: true }],
      finalizers: ['example.com/one', 'example.com/two'],
    })
  })

  it.each<[string, string, readonly number[], object]>([
    ['v1', 'ServiceAccount', [4 * 8, 0], { automountServiceAccountToken: false }],
    ['v1', 'ConfigMap', [4 * 8, 0], { immutable: false }],
    ['v1', 'Secret', [5 * 8, 0], { immutable: false }],
    [
      'v1',
      'Namespace',
      field(1, field(13, [...field(4, 'u'), 6 * 8, 0, 7 * 8, 0])),
      { metadata: { ownerReferences: [{ uid: 'u', controller: false, blockOwnerDeletion: false }] } },
    ],
    ['authentication.k8s.io/v1', 'TokenRequest', field(2, [4 * 8, 0]), { spec: { expirationSeconds: 0 } }],
    [
      'v1',
      'DeleteOptions',
      [8, 0, ...field(2, [...field(1, ''), ...field(2, '')]), 3 * 8, 0, 6 * 8, 0],
      {
        gracePeriodSeconds: 0,
        preconditions: { uid: '', resourceVersion: '' },
        orphanDependents: false,
        ignoreStoreReadErrorWithClusterBreakingPotential: false,
      },
    ],
  ])('of %s %s says what is false, 0 or empty where Go says nothing by leaving it out', (...row) => {
    const [apiVersion, kind, bytes, said] = row
    expect(decodeObject(enveloped(kind, bytes, apiVersion))).toEqual({ apiVersion, kind, ...said })
  })

  it('has texts as they are sent, with a mark of the order of bytes ahead of them', () => {
    const text = '\uFEFFa,b'
    const entry = field(2, [...field(1, 'table.csv'), ...field(2, text)])
    expect(decodeObject(enveloped('ConfigMap', entry))['data']).toEqual({ 'table.csv': text })
  })

  it('has no time where no calendar has one', () => {
    const meta = [...field(1, 'a'), ...field(8, [8, ...varint(2 ** 52)])]
    expect(decodeObject(enveloped('Namespace', field(1, meta)))['metadata']).toEqual({ name: 'a' })
  })

  it('may have fields that are not known', () => {
    const unknown = [
      ...field(99, 'later'),
      98 * 8,
      3,
      97 * 8 + 1,
      1,
      2,
      3,
      4,
      5,
      6,
      7,
      8,
      96 * 8 + 5,
      1,
      2,
      3,
      4,
    ].flatMap((byte) => (byte < 256 ? [byte] : varint(byte)))
    expect(decodeObject(enveloped('Namespace', [...unknown, ...field(1, field(1, 'a'))]))['metadata']).toEqual({
      name: 'a',
    })
  })

  const refused = [
    { bytes: Buffer.from('{"kind":"Namespace"}'), code: 'BAD_REQUEST', because: 'it has no magic number' },
    { bytes: Buffer.alloc(0), code: 'BAD_REQUEST', because: 'it is empty' },
    { bytes: enveloped('Pod', []), code: 'UNSUPPORTED_MEDIA_TYPE', because: 'the kind is not known in protobuf' },
    {
      bytes: enveloped('Namespace', field(1, field(1, 'a'))).subarray(0, -1),
      code: 'BAD_REQUEST',
      because: 'it is cut off',
    },
    { bytes: enveloped('Namespace', [8, 1]), code: 'BAD_REQUEST', because: 'a message is a number' },
    {
      bytes: enveloped('Namespace', [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]),
      code: 'BAD_REQUEST',
      because: 'a number has no end',
    },
    {
      bytes: enveloped('Namespace', field(1, field(8, [8, ...varint(2 ** 52)]).slice(0, -1))),
      code: 'BAD_REQUEST',
      because: 'a time is cut off',
    },
    {
      bytes: enveloped('ConfigMap', field(2, [...field(1, '__proto__'), ...field(2, 'x')])),
      code: 'BAD_REQUEST',
      because: 'a key is __proto__',
    },
  ]
  it.each(refused)('is refused when $because', ({ bytes, code }) => {
    expect(() => decodeObject(bytes)).toThrow(expect.objectContaining({ code }))
  })

  it('has no more levels than a schema may have', () => {
    let schema: number[] = []
    for (let depth = 0; depth < 300; depth++) schema = field(28, schema)
    const definition = field(2, field(7, field(4, field(1, schema))))
    const body = enveloped('CustomResourceDefinition', definition, 'apiextensions.k8s.io/v1')
    expect(() => decodeObject(body)).toThrow('nested more than 200 messages deep')
  })

  it.each([-1, -606, -(2 ** 31), -(2 ** 53) + 1])('has the number %d', (wanted) => {
    const number = [...BigInt.asUintN(64, BigInt(wanted)).toString(2).padStart(70, '0').matchAll(/.{7}/g)]
    const bytes = number.toReversed().map(([bits], i) => Number.parseInt(bits, 2) + (i < 9 ? 128 : 0))
    const event = enveloped('Event', [8 * 8, ...bytes])
    expect(decodeObject(event)['count']).toBe(wanted)
  })

  it.each(['SubjectAccessReview', 'LocalSubjectAccessReview'])(
    'of a %s says who it asks about, and what for',
    (kind) => {
      const extra = [...field(1, 'scopes'), ...field(2, [...field(1, 'openid'), ...field(1, 'mail')])]
      const spec = [
        ...field(1, field(2, 'get')),
        ...field(2, [...field(1, '/metrics'), ...field(2, 'list')]),
        ...field(3, 'ann'),
        ...field(4, 'staff'),
        ...field(4, 'all'),
        ...field(5, extra),
        ...field(6, 'u1'),
      ]
      const body = enveloped(kind, [...field(1, field(1, 'x')), ...field(2, spec)], 'authorization.k8s.io/v1')
      expect(decodeObject(body)).toEqual({
        apiVersion: 'authorization.k8s.io/v1',
        kind,
        metadata: { name: 'x' },
        spec: {
          resourceAttributes: { verb: 'get' },
          nonResourceAttributes: { path: '/metrics', verb: 'list' },
          user: 'ann',
          groups: ['staff', 'all'],
          extra: { scopes: ['openid', 'mail'] },
          uid: 'u1',
        },
      })
    },
  )

  it('of a definition says which versions of ConversionReview its webhook speaks', () => {
    const conversion = [...field(1, 'Webhook'), ...field(2, [...field(3, 'v1'), ...field(3, 'v1beta1')])]
    const definition = enveloped('CustomResourceDefinition', field(2, field(9, conversion)), 'apiextensions.k8s.io/v1')
    expect(decodeObject(definition)['spec']).toMatchObject({
      conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1', 'v1beta1'] } },
    })
  })

  it.each(['v1', 'meta.k8s.io/v1', 'rbac.authorization.k8s.io/v1', 'coordination.k8s.io/v1', 'example.com/v1'])(
    'has the options of a delete by the name of any group, as typed clients of Go send them: %s',
    (apiVersion) => {
      const decoded = decodeObject(enveloped('DeleteOptions', field(4, 'Background'), apiVersion))
      expect(decoded).toEqual({ apiVersion, kind: 'DeleteOptions', propagationPolicy: 'Background' })
      const dry = decodeObject(enveloped('DeleteOptions', field(5, 'All'), apiVersion))
      expect(dry).toEqual({ apiVersion, kind: 'DeleteOptions', dryRun: ['All'] })
    },
  )

  it.each(['v1', 'v1beta1', 'v1alpha1'])('has mutating policies and their bindings in %s', (version) => {
    const apiVersion = `admissionregistration.k8s.io/${version}`
    const policy = enveloped('MutatingAdmissionPolicy', field(2, field(7, 'Never')), apiVersion)
    expect(decodeObject(policy)['spec']).toEqual({ reinvocationPolicy: 'Never' })
    const binding = enveloped('MutatingAdmissionPolicyBinding', field(2, field(1, 'p')), apiVersion)
    expect(decodeObject(binding)['spec']).toEqual({ policyName: 'p' })
    const unknown = enveloped('MutatingAdmissionPolicyBinding', field(3, field(1, 'x')), apiVersion)
    expect(decodeObject(unknown)).not.toHaveProperty('status')
  })

  it('has the status of a namespace', () => {
    const condition = [...field(1, 'T'), ...field(2, 'True'), ...field(4, [8, 60]), ...field(5, 'R'), ...field(6, 'm')]
    const status = [...field(1, 'Active'), ...field(2, condition)]
    const lastTransitionTime = '1970-01-01T00:01:00Z'
    expect(decodeObject(enveloped('Namespace', field(3, status)))['status']).toEqual({
      phase: 'Active',
      conditions: [{ type: 'T', status: 'True', lastTransitionTime, reason: 'R', message: 'm' }],
    })
  })

  it('may have a number in more bytes than it needs', () => {
    const event = enveloped('Event', [8 * 8, 0x85, ...Array.from({ length: 8 }, () => 0x80), 0])
    expect(decodeObject(event)['count']).toBe(5)
  })

  it('never breaks anything, whatever the bytes', () => {
    const bytes = fc.uint8Array({ maxLength: 200 })
    const definitions = ['CustomResourceDefinition', 'apiextensions.k8s.io/v1'] as const
    const kinds = [['Namespace'], ['Secret'], ['ConfigMap'], ['DeleteOptions'], definitions] as const
    fc.assert(
      fc.property(fc.constantFrom(...kinds), bytes, ([kind, apiVersion], content) => {
        try {
          decodeObject(enveloped(kind, [...content], apiVersion))
        } catch (error) {
          expect(error).toBeInstanceOf(OperatingError)
        }
      }),
    )
  })
})
