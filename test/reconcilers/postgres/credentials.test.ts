/** What the Secret of a database says. */
import { expect, it } from 'vitest'
import { connectionUrl, derivePassword } from '../../../functions/reconcilers/postgres/credentials.ts'

it('has a URL that means its own parts, whatever the password that somebody chose', () => {
  const login = {
    host: 'db.internal',
    port: 5432,
    user: 'orders',
    password: 'p@evil.example:1/x?y#%41',
    database: 'orders',
  }
  const url = new URL(connectionUrl(login))
  expect([url.hostname, url.port, url.username, decodeURIComponent(url.password), url.pathname, url.search]).toEqual([
    'db.internal',
    '5432',
    'orders',
    login.password,
    '/orders',
    '',
  ])
})

it('gives a role the same password each time, and another to each role, object and superuser', () => {
  const role = { uid: '6a1f', role: 'orders' }
  const passwords = [
    derivePassword('superuser', role),
    derivePassword('superuser', { ...role, role: 'reports' }),
    derivePassword('superuser', { ...role, uid: '6a20' }),
    derivePassword('another', role),
  ]
  expect(new Set(passwords).size).toBe(passwords.length)
  expect(derivePassword('superuser', role)).toBe(passwords[0])
  for (const password of passwords) expect(password).toMatch(/^[\w-]{24}$/)
})
