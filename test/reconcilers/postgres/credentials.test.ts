/** What the Secret of a database says. */
import { expect, it } from 'vitest'
import { connectionUrl } from '../../../functions/reconcilers/postgres/credentials.ts'

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
