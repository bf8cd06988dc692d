import { OperatingError } from '../../model/errors.ts'
import type { JsonObject } from '../../model/json.ts'
import { policyMessages } from './policy-messages.ts'
import { definitionMessages } from './definition-messages.ts'
import {
  bytesMap,
  conditions,
  int,
  selectorMessage,
  many,
  message,
  objectMeta,
  one,
  pointer,
  quantityMap,
  string,
  stringMap,
  manyStrings,
} from './fields.ts'
import { decodeMessage, fieldBytes, type Message } from './wire.ts'

/**
 * The built-in kinds that kubectl (1.32 and later) and client-go send as protobuf, with no way back to JSON if it is
 * refused. Field numbers from `generated.proto` of k8s.io/api and k8s.io/apimachinery at v1.37. Replies stay JSON,
 * which they accept.
 */

/**
 * An object in Kubernetes' envelope: magic, `runtime.Unknown`, message. Throws UNSUPPORTED_MEDIA_TYPE for a kind that
 * is not known.
 */
export function decodeObject(bytes: Uint8Array): JsonObject {
  if (!magic.every((byte, i) => bytes[i] === byte))
    throw new OperatingError('BAD_REQUEST', 'the body is not protobuf of Kubernetes: its first bytes are not "k8s\\0"')
  const envelope = bytes.subarray(magic.length)
  const { apiVersion = '', kind = '' } = decodeMessage(fieldBytes(envelope, 1), typeMeta)
  // A typed client names its own group, whatever it deletes.
  const body = kind === 'DeleteOptions' ? deleteOptions : messages[`${String(apiVersion)}/${String(kind)}`]
  if (body === undefined) {
    throw new OperatingError(
      'UNSUPPORTED_MEDIA_TYPE',
      `${String(kind)} of ${String(apiVersion)} is not accepted as protobuf: send it as application/json`,
    )
  }
  return { apiVersion, kind, ...decodeMessage(fieldBytes(envelope, 2), body) }
}

const magic = [0x6b, 0x38, 0x73, 0x00]

const typeMeta = message({ 1: string('apiVersion'), 2: string('kind') })

const resourceAttributes = message({
  1: string('namespace'),
  2: string('verb'),
  3: string('group'),
  4: string('version'),
  5: string('resource'),
  6: string('subresource'),
  7: string('name'),
})
const accessReviewSpec = message({
  1: one('resourceAttributes', resourceAttributes),
  2: one('nonResourceAttributes', message({ 1: string('path'), 2: string('verb') })),
})
const subjectReviewSpec = message({
  ...accessReviewSpec.fields,
  3: string('user'),
  4: manyStrings('groups'),
  5: one('extra', { map: message({ 1: manyStrings('items') }, ({ items = [] }) => items) }),
  6: string('uid'),
})
const deleteOptions = message({
  1: pointer('gracePeriodSeconds', 'int'),
  2: one('preconditions', message({ 1: pointer('uid', 'string'), 2: pointer('resourceVersion', 'string') })),
  3: pointer('orphanDependents', 'bool'),
  4: pointer('propagationPolicy', 'string'),
  5: manyStrings('dryRun'),
  6: pointer('ignoreStoreReadErrorWithClusterBreakingPotential', 'bool'),
})

const policyRules = many(
  'rules',
  message({
    1: manyStrings('verbs'),
    2: manyStrings('apiGroups'),
    3: manyStrings('resources'),
    4: manyStrings('resourceNames'),
    5: manyStrings('nonResourceURLs'),
  }),
)
const role = message({ 1: objectMeta, 2: policyRules })
const binding = message({
  1: objectMeta,
  2: many('subjects', message({ 1: string('kind'), 2: string('apiGroup'), 3: string('name'), 4: string('namespace') })),
  3: one('roleRef', message({ 1: string('apiGroup'), 2: string('kind'), 3: string('name') })),
})
const objectReference = message({
  1: string('kind'),
  2: string('namespace'),
  3: string('name'),
  4: string('uid'),
  5: string('apiVersion'),
  6: string('resourceVersion'),
  7: string('fieldPath'),
})
const scopeSelector = message({
  1: many('matchExpressions', message({ 1: string('scopeName'), 2: string('operator'), 3: manyStrings('values') })),
})
const eventSource = message({ 1: string('component'), 2: string('host') })
const eventSeries = message({ 1: int('count'), 2: one('lastObservedTime', 'microTime') })
const leaseSpec = message({
  1: pointer('holderIdentity', 'string'),
  2: pointer('leaseDurationSeconds', 'int'),
  3: pointer('acquireTime', 'microTime'),
  4: pointer('renewTime', 'microTime'),
  5: pointer('leaseTransitions', 'int'),
  6: pointer('strategy', 'string'),
  7: pointer('preferredHolder', 'string'),
})

const messages: { readonly [type: string]: Message } = {
  ...policyMessages,
  ...definitionMessages,
  'v1/Namespace': message({
    1: objectMeta,
    2: one('spec', message({ 1: manyStrings('finalizers') })),
    3: one('status', message({ 1: string('phase'), 2: conditions })),
  }),
  'v1/ConfigMap': message({
    1: objectMeta,
    2: one('data', stringMap),
    3: one('binaryData', bytesMap),
    4: pointer('immutable', 'bool'),
  }),
  'v1/Secret': message({
    1: objectMeta,
    2: one('data', bytesMap),
    3: string('type'),
    4: one('stringData', stringMap),
    5: pointer('immutable', 'bool'),
  }),
  'v1/ServiceAccount': message({
    1: objectMeta,
    2: many('secrets', objectReference),
    3: many('imagePullSecrets', message({ 1: string('name') })),
    4: pointer('automountServiceAccountToken', 'bool'),
  }),
  'v1/ResourceQuota': message({
    1: objectMeta,
    2: one(
      'spec',
      message({ 1: one('hard', quantityMap), 2: manyStrings('scopes'), 3: one('scopeSelector', scopeSelector) }),
    ),
    3: one('status', message({ 1: one('hard', quantityMap), 2: one('used', quantityMap) })),
  }),
  'rbac.authorization.k8s.io/v1/Role': role,
  'rbac.authorization.k8s.io/v1/ClusterRole': message({
    ...role.fields,
    3: one('aggregationRule', message({ 1: many('clusterRoleSelectors', selectorMessage) })),
  }),
  'rbac.authorization.k8s.io/v1/RoleBinding': binding,
  'rbac.authorization.k8s.io/v1/ClusterRoleBinding': binding,
  'v1/Event': message({
    1: objectMeta,
    2: one('involvedObject', objectReference),
    3: string('reason'),
    4: string('message'),
    5: one('source', eventSource),
    6: one('firstTimestamp', 'time'),
    7: one('lastTimestamp', 'time'),
    8: int('count'),
    9: string('type'),
    10: one('eventTime', 'microTime'),
    11: one('series', eventSeries),
    12: string('action'),
    13: one('related', objectReference),
    14: string('reportingComponent'),
    15: string('reportingInstance'),
  }),
  'events.k8s.io/v1/Event': message({
    1: objectMeta,
    2: one('eventTime', 'microTime'),
    3: one('series', eventSeries),
    4: string('reportingController'),
    5: string('reportingInstance'),
    6: string('action'),
    7: string('reason'),
    8: one('regarding', objectReference),
    9: one('related', objectReference),
    10: string('note'),
    11: string('type'),
    12: one('deprecatedSource', eventSource),
    13: one('deprecatedFirstTimestamp', 'time'),
    14: one('deprecatedLastTimestamp', 'time'),
    15: int('deprecatedCount'),
  }),
  'coordination.k8s.io/v1/Lease': message({ 1: objectMeta, 2: one('spec', leaseSpec) }),
  'authorization.k8s.io/v1/SelfSubjectAccessReview': message({ 1: objectMeta, 2: one('spec', accessReviewSpec) }),
  'authorization.k8s.io/v1/SubjectAccessReview': message({ 1: objectMeta, 2: one('spec', subjectReviewSpec) }),
  'authorization.k8s.io/v1/LocalSubjectAccessReview': message({ 1: objectMeta, 2: one('spec', subjectReviewSpec) }),
  'authentication.k8s.io/v1/TokenRequest': message({
    1: objectMeta,
    2: one(
      'spec',
      message({
        1: manyStrings('audiences'),
        3: one(
          'boundObjectRef',
          message({ 1: string('kind'), 2: string('apiVersion'), 3: string('name'), 4: string('uid') }),
        ),
        4: pointer('expirationSeconds', 'int'),
      }),
    ),
  }),
  'authentication.k8s.io/v1/TokenReview': message({
    1: objectMeta,
    2: one('spec', message({ 1: string('token'), 2: manyStrings('audiences') })),
  }),
  'authorization.k8s.io/v1/SelfSubjectRulesReview': message({
    1: objectMeta,
    2: one('spec', message({ 1: string('namespace') })),
  }),
  'authentication.k8s.io/v1/SelfSubjectReview': message({ 1: objectMeta }),
}
