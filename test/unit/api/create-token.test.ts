import { describe, expect, it } from 'vitest'
import { createCreateToken } from '../../../shared/api/verbs/create-token.ts'
import type { Json, JsonObject } from '../../../shared/model/json.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import type { TokenClaims, TokenSigner } from '../../../shared/ports/token-signer.ts'
import { serviceAccountKind } from '../../../shared/resources/access-kinds.ts'
import { callOf } from './called.ts'
import { endOf } from './end-of.ts'
import { fakeServices, storedOf } from './fake-services.ts'

const api = 'https://setpoint'
const bound = { namespace: 'n', serviceaccount: { name: 'a', uid: 'u' } }

function open(isThere = true) {
  const signed: (readonly [TokenClaims, number])[] = []
  const sign = async (claims: TokenClaims, seconds: number) => {
    signed.push([claims, seconds])
    return { token: 'TOKEN', endsAtMs: Date.parse('2026-01-01T01:00:00Z') }
  }
  const services = fakeServices(
    { get: ({ kind }) => storedOf({ namespace: 'n', uid: kind === 'Secret' ? 'us' : 'u' }) },
    isThere ? { tokens: { sign } as unknown as TokenSigner } : {},
  )
  const ask = (spec: Json, query = '', more: JsonObject = {}) =>
    endOf(async () => {
      const line = `POST /api/v1/namespaces/n/serviceaccounts/a/token?${query}`
      const body: JsonObject = spec === null ? more : { ...more, spec }
      const call = callOf(line, { kind: serviceAccountKind, body })
      const { status, body: text } = await createCreateToken(services)(call)
      return [status, JSON.parse(text as string) as JsonObject]
    })
  return { ask, signed, asked: () => services.asked.map(([, kind, at]) => [(kind as ServedKind).kind, at]) }
}

const request = {
  kind: 'TokenRequest',
  apiVersion: 'authentication.k8s.io/v1',
  metadata: { name: 'a', namespace: 'n', creationTimestamp: null },
}
const status = { token: 'TOKEN', expirationTimestamp: '2026-01-01T01:00:00Z' }

describe('a token', () => {
  it.each<[Json, JsonObject, readonly string[], number]>([
    [null, { audiences: [api], expirationSeconds: 3_600 }, [api], 3_600],
    [{}, { audiences: [api], expirationSeconds: 3_600 }, [api], 3_600],
    [{ audiences: [] }, { audiences: [api], expirationSeconds: 3_600 }, [api], 3_600],
    [{ audiences: ['x', 'y'] }, { audiences: ['x', 'y'], expirationSeconds: 3_600 }, ['x', 'y'], 3_600],
    [{ expirationSeconds: 600 }, { audiences: [api], expirationSeconds: 600 }, [api], 600],
    [{ expirationSeconds: 1e12 }, { audiences: [api], expirationSeconds: 31_536_000 }, [api], 31_536_000],
  ])('asked for by %j is for %j', async (spec, answered, audiences, seconds) => {
    const { ask, signed, asked } = open()
    expect(await ask(spec)).toEqual([201, { ...request, spec: answered, status }])
    expect(signed).toStrictEqual([[{ audiences, subject: 'system:serviceaccount:n:a', bound }, seconds]])
    expect(asked()).toEqual([['ServiceAccount', { namespace: 'n', name: 'a' }]])
  })

  it('is not signed in a dry run', async () => {
    const { ask, signed } = open()
    const spec = { audiences: [api], expirationSeconds: 3_600 }
    expect(await ask({}, 'dryRun=All')).toEqual([201, { ...request, spec, status: {} }])
    expect(signed).toEqual([])
  })

  const uidless = { kind: 'Secret', name: 's' }
  it.each<[string, JsonObject]>([
    ['of a name', uidless],
    ['of a name and its uid', { ...uidless, uid: 'us' }],
    ['of a name and no uid', { ...uidless, uid: '' }],
  ])('can be bound to a Secret %s', async (_what, boundObjectRef) => {
    const { ask, signed, asked } = open()
    await ask({ boundObjectRef })
    expect(signed[0]?.[0].bound).toStrictEqual({ ...bound, secret: { name: 's', uid: 'us' } })
    expect(asked()[1]).toEqual(['Secret', { namespace: 'n', name: 's' }])
  })

  const invalid = 'INVALID: TokenRequest.authentication.k8s.io "" is invalid:'
  const short = `${invalid} spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes`
  const nameless = `${invalid} spec.boundObjectRef.name: Required value`
  it.each<[JsonObject, string]>([
    [{ expirationSeconds: 599 }, short],
    [
      { boundObjectRef: { kind: 'Pod', name: 's' } },
      `${invalid} spec.boundObjectRef.kind: Invalid value: "Pod": a token can be bound to a Secret`,
    ],
    [{ boundObjectRef: { kind: 'Secret' } }, nameless],
    [{ boundObjectRef: { kind: 'Secret', name: '' } }, nameless],
    [
      { boundObjectRef: { ...uidless, uid: 'other' } },
      'VERSION_CONFLICT: Operation cannot be fulfilled on secrets "a": the UID in the bound object reference (other) does not match',
    ],
  ])('asked for by %j is refused', async (spec, why) => {
    const { ask, signed } = open()
    expect(await ask(spec)).toBe(why)
    expect(signed).toEqual([])
  })

  const otherPlace =
    'BAD_REQUEST: the namespace of the provided object does not match the namespace sent on the request'
  const otherName = `INVALID: TokenRequest.authentication.k8s.io "a" is invalid: metadata.name: Invalid value: "b": must match the service account name if specified`
  it.each<[JsonObject, string]>([
    [{ name: 'b' }, otherName],
    [{ name: 'a', namespace: 'm' }, otherPlace],
  ])('of another place than its path, as %j says, is refused', async (metadata, why) => {
    const { ask, signed } = open()
    expect(await ask({}, '', { metadata })).toBe(why)
    expect(signed).toEqual([])
  })

  it('may say its place', async () => {
    const answers = [{}, { name: '', namespace: '' }, { name: 'a', namespace: 'n' }].map(async (metadata) =>
      open().ask({}, '', { metadata }),
    )
    for (const answer of await Promise.all(answers)) expect(answer).toMatchObject([201, request])
  })

  it('is not there where nobody signs', async () => {
    expect(await open(false).ask({})).toBe(
      'NOT_FOUND: the server could not find the requested resource: serviceaccounts have no subresource "token"',
    )
  })
})
