import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createJsonLogger } from '../../../../shared/adapters/node/json-logger.ts'
import { systemClock } from '../../../../shared/adapters/node/system-clock.ts'
import { addUser, removeUser } from '../../../../shared/adapters/local/https/users-editor.ts'
import type { ClientCertificate } from '../../../../shared/ports/authenticator.ts'
import { createLocalAuthenticator, signInOf } from '../../../../shared/runtime/local/sign-in.ts'
import { startOidcIssuer } from '../../../support/oidc-issuer.ts'
import { temporaryDirectory } from '../../../support/temporary-directory.ts'

const logger = createJsonLogger({ write: () => {}, clock: systemClock, level: 'error' })

describe('the words of a command line', () => {
  it('say who is let in', () => {
    expect(signInOf({})).toEqual({})
    expect(signInOf({ 'client-ca-file': 'ca.pem' })).toEqual({ clientAuthority: 'ca.pem' })
    expect(
      signInOf({ 'oidc-issuer-url': 'https://i.example.com', 'oidc-client-id': 'c', 'oidc-groups-claim': 'roles' }),
    ).toEqual({ oidc: { issuer: 'https://i.example.com', clientId: 'c', groupsClaim: 'roles' } })
  })

  it('say nothing where they are empty, so that a prefix without text is the default one', () => {
    const issuer = { 'oidc-issuer-url': 'https://i.example.com', 'oidc-client-id': 'c' }
    const words = {
      'oidc-username-claim': '',
      'oidc-username-prefix': '',
      'oidc-groups-claim': '',
      'oidc-groups-prefix': '',
    }
    expect(signInOf({ ...issuer, ...words })).toEqual(signInOf(issuer))
  })

  it.each([
    [{ 'oidc-issuer-url': 'https://i' }, '--oidc-issuer-url: --oidc-issuer-url and --oidc-client-id go together'],
    [{ 'oidc-client-id': 'c' }, '--oidc-client-id: --oidc-issuer-url and --oidc-client-id go together'],
    [{ 'oidc-groups-claim': 'g' }, '--oidc-groups-claim: --oidc-issuer-url and --oidc-client-id go together'],
    [{ 'oidc-issuer-url': 'http://i', 'oidc-client-id': 'c' }, '--oidc-issuer-url: "http://i" is no URL'],
    [{ 'oidc-issuer-url': 'i', 'oidc-client-id': 'c' }, '--oidc-issuer-url: "i" is no URL'],
    [{ 'oidc-issuer-url': 'https://i?a', 'oidc-client-id': 'c' }, '--oidc-issuer-url: "https://i?a" is no URL'],
  ])('%j are refused', (words, why) => expect(() => signInOf(words)).toThrow(why))
})

describe('who signs in', () => {
  it('is found by a certificate, a token of ours, or one of the issuer', async () => {
    using directory = temporaryDirectory('sign-in')
    await using issuer = await startOidcIssuer()
    const authority = join(directory.path, 'issuer.pem')
    writeFileSync(authority, issuer.authority)
    const usersFile = join(directory.path, 'users')
    const oidc = { issuer: issuer.url, clientId: 'setpoint', authority }
    const authenticate = createLocalAuthenticator({
      token: 't',
      usersFile,
      signIn: { oidc },
      clock: systemClock,
      logger,
    })
    const certificate = { commonName: 'carol', organizations: ['ops'], endsAtMs: Infinity }
    expect(await authenticate(undefined, certificate)).toMatchObject({
      name: 'carol',
      groups: ['ops', 'system:authenticated'],
    })
    expect(await authenticate('Bearer t', { ...certificate, endsAtMs: 0 })).toMatchObject({ name: 'setpoint-admin' })
    expect(await authenticate(`Bearer ${await issuer.token({ sub: 'dave' })}`)).toMatchObject({
      name: `${issuer.url}#dave`,
    })
    expect(await authenticate('Bearer x')).toBeUndefined()
    expect(await authenticate('')).toBeUndefined()
  })

  it('is remembered, and no longer than the file knows them; a certificate goes first, and the administrator stays', () => {
    using directory = temporaryDirectory('sign-in')
    const usersFile = join(directory.path, 'users')
    let nowMs = 0
    const clock = { ...systemClock, nowMs: () => nowMs }
    const authenticate = createLocalAuthenticator({ token: 'master', usersFile, signIn: {}, clock, logger })
    const nameOf = (authorization?: string, shown?: ClientCertificate) => {
      const user = authenticate(authorization, shown)
      return user instanceof Promise ? 'later' : user?.name
    }
    const token = addUser(usersFile, 'ann', ['team'])
    const certificate = { commonName: 'carol', organizations: [], endsAtMs: Infinity }
    for (let i = 0; i < 2; i++) {
      expect(nameOf(`Bearer ${token}`)).toBe('ann')
      expect(nameOf(`Bearer ${token}`, certificate)).toBe('carol')
      expect(nameOf('Bearer master')).toBe('setpoint-admin')
      expect(nameOf('Bearer other')).toBeUndefined()
      expect(nameOf()).toBeUndefined()
    }
    removeUser(usersFile, 'ann')
    nowMs += 50
    expect(nameOf(`Bearer ${token}`)).toBeUndefined()
    const again = addUser(usersFile, 'master', [])
    expect(nameOf(`Bearer ${again}`)).toBe('master')
    expect(nameOf('Bearer master')).toBe('setpoint-admin')
  })

  it('is not found out by files that cannot be read', () => {
    using directory = temporaryDirectory('sign-in')
    const authority = join(directory.path, 'issuer.pem')
    const oidc = { issuer: 'https://i', clientId: 'c', authority }
    const open = () =>
      createLocalAuthenticator({ token: 't', usersFile: '', signIn: { oidc }, clock: systemClock, logger })
    expect(open).toThrow(`--oidc-ca-file: ${authority} cannot be read: ENOENT`)
    writeFileSync(authority, 'nothing')
    expect(open).toThrow(`--oidc-ca-file: ${authority} holds no certificate in PEM`)
  })
})
