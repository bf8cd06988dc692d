import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { clients } from '../clients/clients.ts'

const reference = readFileSync(new URL('../../docs/reference.md', import.meta.url), 'utf8')
const [, section = ''] = /### Clients\n([^]*?)\n### /.exec(reference) ?? []

/** The matrix of rights is no client of others. */
const described = clients.filter(({ name }) => name !== 'rbac')

it.each(described)('the reference names $name in its version', ({ version }) => {
  expect(section).toContain(version)
})
