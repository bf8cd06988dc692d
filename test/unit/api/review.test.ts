import { describe, expect, it } from 'vitest'
import { createReview } from '../../../shared/api/reviews/review.ts'
import { isReview, reviewKinds } from '../../../shared/api/reviews/review-kinds.ts'
import { createAccessBook } from '../../../shared/model/access/access-book.ts'
import type { Json, JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import type { Authenticator } from '../../../shared/ports/authenticator.ts'
import type { TokenSigner } from '../../../shared/ports/token-signer.ts'
import { callOf, plainKind } from './called.ts'
import { endOf } from './end-of.ts'
import { fakeServices, storedOf } from './fake-services.ts'

const kindOf = (name: string) => reviewKinds.find(({ kind }) => kind === name) as ServedKind

function bookOf() {
  const book = createAccessBook()
  const subjects = [
    { kind: 'User', name: 'ann' },
    { kind: 'Group', name: 'team' },
  ]
  const rules = [
    { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
    { verbs: ['list'], apiGroups: [''], resources: ['pods'] },
    { verbs: ['get'], nonResourceURLs: ['/x'] },
  ]
  for (const object of [
    { kind: 'ClusterRole', metadata: { name: 'r' }, rules },
    { kind: 'ClusterRoleBinding', metadata: { name: 'b' }, roleRef: { kind: 'ClusterRole', name: 'r' }, subjects },
  ])
    book.note(object as unknown as ApiObject)
  return book
}

function open({ book = bookOf(), reviewToken, tokens }: Partial<Parts> = {}) {
  const services = {
    ...fakeServices({ get: () => storedOf({ uid: 'u' }) }),
    readAccess: () => book,
    ...(reviewToken && { reviewToken }),
    ...(tokens && { tokens }),
  }
  return (name: string, body: JsonObject, path = '/apis/authorization.k8s.io/v1/xs') =>
    endOf(async () => {
      const response = await createReview(services)(callOf(`POST ${path}`, { kind: kindOf(name), body }))
      const answer = JSON.parse(response.body as string) as JsonObject
      return { code: response.status, warning: response.headers['warning'], ...answer }
    })
}

interface Parts {
  readonly book: ReturnType<typeof createAccessBook>
  readonly reviewToken: Authenticator
  readonly tokens: TokenSigner
}

const statusOf = async (name: string, spec: Json, path?: string) => {
  const end = await open()(name, { spec }, path)
  return typeof end === 'string' ? end : (end as JsonObject)['status']
}
const pods = (verb: string, name: string) => ({ resourceAttributes: { verb, resource: 'pods', name } })
const path = (value: string) => ({ nonResourceAttributes: { verb: 'get', path: value } })
const annMay = { allowed: true, reason: 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "ann"' }
const teamMay = { allowed: true, reason: 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to Group "team"' }
const invalid = (kind: string, why: string) => `INVALID: ${kind}.authorization.k8s.io "" is invalid: ${why}`
const oneOf = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'

describe('a review', () => {
  it('comes back as it was asked, with the answer', async () => {
    const body = { metadata: { name: 'mine' }, spec: path('/x'), status: { allowed: false }, odd: 1 }
    expect(await open()('SelfSubjectAccessReview', body)).toStrictEqual({
      code: 201,
      warning: '299 - "unknown field \\"odd\\""',
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      metadata: { creationTimestamp: null, name: 'mine' },
      spec: path('/x'),
      status: annMay,
    })
    expect(await open()('SelfSubjectAccessReview', { spec: path('/x') })).toMatchObject({
      warning: undefined,
      metadata: { creationTimestamp: null },
    })
  })

  it.each(['xy', ['x'], 5])('has no metadata of %j', async (metadata) => {
    const end = await open()('SelfSubjectReview', { metadata })
    expect(end).toMatchObject({ metadata: { creationTimestamp: null } })
    expect(Object.keys((end as { metadata: object }).metadata)).toEqual(['creationTimestamp'])
  })

  it('has no name in its path', async () => {
    expect(await open()('SelfSubjectReview', {}, '/apis/authentication.k8s.io/v1/xs/a')).toMatch(/^METHOD_NOT_ALLOWED/)
  })

  it('is refused with a field of another type, and may have fields without values', async () => {
    expect(await statusOf('SubjectAccessReview', { user: 5 })).toMatch(
      /^BAD_REQUEST: SubjectAccessReview in version "v1" cannot be handled as a SubjectAccessReview: spec.user: /,
    )
    expect(await statusOf('SelfSubjectAccessReview', { ...path('/x'), resourceAttributes: null })).toEqual(annMay)
    const none = { nonResourceAttributes: { verb: 'get', path: '/x', other: null } }
    expect(await statusOf('SelfSubjectAccessReview', none)).toEqual(annMay)
  })

  it('is of a few kinds', () => {
    expect([isReview(kindOf('TokenReview')), isReview(plainKind)]).toEqual([true, false])
  })
})

it('who one is comes with groups and uid', async () => {
  expect(await open()('SelfSubjectReview', {})).toMatchObject({
    status: { userInfo: { username: 'ann', groups: [] } },
  })
})

describe('what one may do', () => {
  it.each<[JsonObject, Json]>([
    [path('/x'), annMay],
    [path('/y'), { allowed: false }],
    [pods('get', 'a'), annMay],
    [pods('get', 'b'), { allowed: false }],
    [pods('list', ''), annMay],
    [{ resourceAttributes: { ...pods('list', '').resourceAttributes, group: 'g.dev' } }, { allowed: false }],
    [{ resourceAttributes: { ...pods('list', '').resourceAttributes, subresource: 'log' } }, { allowed: false }],
    [{}, expect.stringContaining(oneOf) as never],
    [{ ...path('/x'), ...pods('get', 'a') }, expect.stringContaining(oneOf) as never],
  ])('by %j', async (spec, status) => {
    expect(await statusOf('SelfSubjectAccessReview', spec)).toEqual(status)
  })

  it('is asked in a spec', async () => {
    expect(await open()('SelfSubjectAccessReview', {})).toMatch(oneOf)
  })
})

describe('what another may do', () => {
  it.each<[JsonObject, Json]>([
    [{ user: 'ann', ...path('/x') }, annMay],
    [{ groups: ['team'], ...path('/x') }, teamMay],
    [{ user: '', groups: ['team'], ...path('/x') }, teamMay],
    [{ user: 'bob', ...path('/x') }, { allowed: false }],
    [{ groups: ['system:masters'], ...path('/y') }, { allowed: true }],
  ])('by %j', async (spec, status) => {
    expect(await statusOf('SubjectAccessReview', spec)).toEqual(status)
  })

  const nobody = 'spec.user: Required value: at least one of user or group must be specified'
  it.each<[JsonObject, RegExp | string]>([
    [path('/x'), invalid('SubjectAccessReview', nobody)],
    [{ groups: [], ...path('/x') }, invalid('SubjectAccessReview', nobody)],
    [{ user: 'ann' }, new RegExp(oneOf)],
    [{}, new RegExp(`\\[${nobody}, .*${oneOf}\\]`)],
  ])('by %j is refused', async (spec, why) => {
    expect(await statusOf('SubjectAccessReview', spec)).toMatch(why)
  })

  const inN = '/apis/authorization.k8s.io/v1/namespaces/n/xs'
  const local = (namespace: string) => ({
    user: 'ann',
    resourceAttributes: { verb: 'list', resource: 'pods', namespace },
  })
  const place = (value: string) =>
    `spec.resourceAttributes.namespace: Invalid value: "${value}": must match metadata.namespace`
  it.each<[JsonObject, Json]>([
    [local('n'), annMay],
    [local('m'), invalid('LocalSubjectAccessReview', place('m'))],
    [local(''), invalid('LocalSubjectAccessReview', place(''))],
    [
      { user: 'ann', ...path('/x') },
      expect.stringMatching(/spec.nonResourceAttributes: Invalid value: .*: disallowed/) as never,
    ],
    [{ ...local('m'), ...path('/x') }, expect.stringMatching(/\[spec.nonResourceAttributes: .*must match/) as never],
    [{ user: 'ann' }, expect.stringContaining(oneOf) as never],
  ])('in a namespace by %j', async (spec, status) => {
    expect(await statusOf('LocalSubjectAccessReview', spec, inN)).toEqual(status)
  })
})

describe('all that one may do in a namespace', () => {
  it('is told by rules, and by what of them could not be found', async () => {
    const rules = {
      resourceRules: [
        { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
        { verbs: ['list'], apiGroups: [''], resources: ['pods'] },
      ],
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
      incomplete: false,
    }
    expect(await statusOf('SelfSubjectRulesReview', { namespace: 'n' })).toStrictEqual(rules)
    const book = createAccessBook()
    const subjects = [{ kind: 'User', name: 'ann' }]
    const roleRef = { kind: 'ClusterRole', name: 'gone' }
    book.note({ kind: 'ClusterRoleBinding', metadata: { name: 'b' }, roleRef, subjects } as unknown as ApiObject)
    expect(await open({ book })('SelfSubjectRulesReview', { spec: { namespace: 'n' } })).toMatchObject({
      status: {
        resourceRules: [],
        nonResourceRules: [],
        incomplete: true,
        evaluationError: 'clusterrole.rbac.authorization.k8s.io "gone" not found',
      },
    })
  })

  it.each([{}, { namespace: '' }])('is asked of a namespace, and not by %j', async (spec) => {
    expect(await statusOf('SelfSubjectRulesReview', spec)).toBe('BAD_REQUEST: no namespace on request')
  })
})

describe('whose a token is', () => {
  const reviewToken: Authenticator = (authorization) =>
    authorization === 'Bearer good' ? { name: 'ann', groups: ['team'] } : undefined
  const subject = 'system:serviceaccount:n:a'
  const bound = { namespace: 'n', serviceaccount: { name: 'a', uid: 'u' } }
  const verify = async (token: string) => (token === 'robot' ? { audiences: ['x'], subject, bound } : undefined)
  const tokens = { verify } as unknown as TokenSigner
  const review = async (spec: JsonObject, parts: Partial<Parts> = { reviewToken, tokens }) => {
    const end = await open(parts)('TokenReview', { spec })
    return typeof end === 'string' ? end : (end as JsonObject)['status']
  }
  const ann = { authenticated: true, user: { username: 'ann', groups: ['team'] }, audiences: ['https://setpoint'] }
  const unknown = { authenticated: false, error: 'the token is not known' }

  it.each<[JsonObject, Json]>([
    [{ token: 'good' }, ann],
    [{ token: 'good', audiences: [] }, ann],
    [{ token: 'good', audiences: ['y', 'https://setpoint'] }, ann],
    [{ token: 'good', audiences: ['y'] }, unknown],
    [{ token: 'bad' }, unknown],
    [{ token: 'robot' }, unknown],
    [
      { token: 'robot', audiences: ['x', 'y'] },
      { authenticated: true, user: { username: subject }, audiences: ['x'] },
    ],
    [{}, 'BAD_REQUEST: token is required for TokenReview in authentication'],
    [{ token: '' }, 'BAD_REQUEST: token is required for TokenReview in authentication'],
  ])('is told of %j', async (spec, status) => {
    const found = await review(spec)
    if (typeof status === 'string') expect(found).toBe(status)
    else expect(found).toMatchObject(status as object)
  })

  it('is told of accounts only where others are not known', async () => {
    const error = 'it is no token of a ServiceAccount for this audience, and others are not known here'
    expect(await review({ token: 'good' }, { tokens })).toEqual({ authenticated: false, error })
    expect(await review({ token: 'robot', audiences: ['x'] }, { tokens })).toMatchObject({ authenticated: true })
  })
})
