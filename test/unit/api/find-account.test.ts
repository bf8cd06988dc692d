import { describe, expect, it } from 'vitest'
import { findAccount, withAccounts } from '../../../shared/api/access/account-tokens.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { Authenticator, User } from '../../../shared/ports/authenticator.ts'
import type { TokenClaims, TokenSigner } from '../../../shared/ports/token-signer.ts'
import type { Resources } from '../../../shared/resources/resources.ts'
import { processorMsOf } from '../../support/processor-time.ts'

const api = 'https://setpoint'
const subject = 'system:serviceaccount:n:a'
const bound = { namespace: 'n', serviceaccount: { name: 'a', uid: 'ua' } }
const claims: TokenClaims = { audiences: [api, 'x'], subject, bound, id: 'i' }
const user = {
  name: subject,
  groups: ['system:serviceaccounts', 'system:serviceaccounts:n', 'system:authenticated'],
  uid: 'ua',
}
const extra = { 'authentication.kubernetes.io/credential-id': ['JTI=i'] }

type Objects = Readonly<Record<string, { readonly uid: string; readonly deletionTimestamp?: string }>>
const there: Objects = { 'ServiceAccount n/a': { uid: 'ua' }, 'Secret n/s': { uid: 'us' } }

function servicesOf(said: TokenClaims | undefined, objects: Objects = there) {
  const get = async (kind: { readonly kind: string }, at: { readonly namespace?: string; readonly name: string }) => {
    const metadata = objects[`${kind.kind} ${at.namespace}/${at.name}`]
    if (metadata === undefined) throw new OperatingError('NOT_FOUND', 'not found')
    return { object: { metadata }, engine: {} }
  }
  const verify = async (token: string) => (token === 'good' ? said : undefined)
  return { resources: { get } as unknown as Resources, tokens: { verify } as unknown as TokenSigner }
}

describe('a token', () => {
  const secret = { name: 's', uid: 'us' }
  const { id: _, ...nameless } = claims
  it.each<[string, TokenClaims | undefined, Objects, object | undefined]>([
    ['of an account that is there', claims, there, { user: { ...user, extra }, audiences: [api] }],
    ['without a name of its own', nameless, there, { user, audiences: [api] }],
    ['that is not known', undefined, there, undefined],
    ['for others', { ...claims, audiences: ['x'] }, there, undefined],
    ['of somebody else', { ...claims, subject: 'system:serviceaccount:n:b' }, there, undefined],
    ['of an account that is gone', claims, {}, undefined],
    ['of an account that was made anew', claims, { 'ServiceAccount n/a': { uid: 'other' } }, undefined],
    [
      'of an account that goes',
      claims,
      { 'ServiceAccount n/a': { uid: 'ua', deletionTimestamp: '2026-01-01T00:00:00Z' } },
      undefined,
    ],
    ['with its Secret', { ...nameless, bound: { ...bound, secret } }, there, { user, audiences: [api] }],
    ['whose Secret is gone', { ...claims, bound: { ...bound, secret: { ...secret, name: 't' } } }, there, undefined],
    ['whose Secret is another', { ...claims, bound: { ...bound, secret: { ...secret, uid: 'x' } } }, there, undefined],
  ])('%s', async (_what, said, objects, found) => {
    expect(await findAccount('good', [api], servicesOf(said, objects))).toEqual(found)
  })

  it('is for those of its audiences that are asked for', async () => {
    const audiencesFor = async (...wanted: readonly string[]) =>
      (await findAccount('good', wanted, servicesOf(claims)))?.audiences
    expect([await audiencesFor('x', 'y'), await audiencesFor('x', api), await audiencesFor('y')]).toEqual([
      ['x'],
      [api, 'x'],
      undefined,
    ])
  })

  it('is asked about for tens of thousands of audiences in time by their number', async () => {
    const names = (first: string) => Array.from({ length: 50_000 }, (_name, i) => `${first}${i}`)
    const services = servicesOf({ ...claims, audiences: [...names('a'), 'b7'] })
    const tookMs = await processorMsOf(async () => {
      expect((await findAccount('good', names('b'), services))?.audiences).toEqual(['b7'])
    })
    expect(tookMs).toBeLessThan(300)
  })

  it('is of the same user each time', async () => {
    const services = servicesOf({ ...claims })
    const first = await findAccount('good', [api], services)
    expect((await findAccount('good', [api], services))?.user).toBe(first?.user)
  })

  it('is of nobody where there are no tokens, and a failure is no answer', async () => {
    const { resources } = servicesOf(claims)
    expect(await findAccount('good', [api], { resources })).toBeUndefined()
    const get = () => Promise.reject(new OperatingError('UNAVAILABLE', 'down'))
    const broken = { ...servicesOf(claims), resources: { get } as unknown as Resources }
    await expect(findAccount('good', [api], broken)).rejects.toThrow('down')
  })
})

describe('who asks', () => {
  const ann: User = { name: 'ann', groups: [] }
  const known: Authenticator = (authorization) => (authorization === 'Bearer ann' ? ann : undefined)

  it.each<[string | undefined, string | undefined]>([
    ['Bearer ann', 'ann'],
    ['Bearer good', subject],
    ['Bearer bad', undefined],
    ['Basic good', undefined],
    [undefined, undefined],
  ])('with %j is %j', async (authorization, name) => {
    for (const authenticate of [known, async (text: string | undefined) => known(text)])
      expect((await withAccounts(authenticate, servicesOf(claims))(authorization))?.name).toBe(name)
  })

  it('is not looked up where there are no tokens', () => {
    const { resources } = servicesOf(claims)
    expect(withAccounts(known, { resources })).toBe(known)
  })

  it('is known at once to whom it is known without', () => {
    expect(withAccounts(known, servicesOf(claims))('Bearer ann')).toBe(ann)
  })
})
