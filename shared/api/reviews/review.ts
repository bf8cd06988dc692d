import { OperatingError } from '../../model/errors.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import { apiVersionOf } from '../../model/object.ts'
import { invalid } from '../../model/schema/field-error.ts'
import type { User } from '../../ports/authenticator.ts'
import type { VerbHandler } from '../call.ts'
import { json } from '../reply.ts'
import { readObject } from '../request-body.ts'
import { methodNotAllowed } from '../request-info.ts'

/**
 * `POST` of a review: the body comes back with the answer as its status. Until there are roles, who is known may do
 * everything.
 */
export const answerReview: VerbHandler = async (call) => {
  const { kind, info, request, user } = call
  if (info.name !== '') throw methodNotAllowed()
  const body = await readObject(request)
  const status = answers[kind.kind]?.(body, user) ?? {}
  return json(201, {
    ...body,
    apiVersion: apiVersionOf(kind.group, kind.version),
    kind: kind.kind,
    metadata: metadataOf(body),
    status,
  })
}

const answers: Readonly<Record<string, (body: JsonObject, user: User) => JsonObject>> = {
  SelfSubjectReview: (_body, { name, groups }) => ({ userInfo: { username: name, groups: [...groups] } }),
  SelfSubjectAccessReview: (body) => {
    checkAccessSpec(body['spec'])
    return { allowed: true, reason: 'every authenticated user is an administrator' }
  },
  SelfSubjectRulesReview: () => ({
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    incomplete: false,
  }),
}

function checkAccessSpec(spec: unknown): void {
  const { resourceAttributes, nonResourceAttributes } = isObject(spec) ? spec : {}
  if (isObject(resourceAttributes) !== isObject(nonResourceAttributes)) return
  const cause = invalid(
    'spec.resourceAttributes',
    spec ?? null,
    'exactly one of nonResourceAttributes or resourceAttributes must be specified',
  )
  throw new OperatingError(
    'INVALID',
    `SelfSubjectAccessReview.authorization.k8s.io "" is invalid: ${cause.field}: ${cause.message}`,
    {
      details: { group: 'authorization.k8s.io', kind: 'SelfSubjectAccessReview', causes: [cause] },
    },
  )
}

function metadataOf({ metadata }: JsonObject): JsonObject {
  return { creationTimestamp: null, ...(isObject(metadata) ? metadata : {}) }
}
