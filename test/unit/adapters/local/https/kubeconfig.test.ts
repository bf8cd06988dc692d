import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import {
  isOwnKubeconfig,
  writeKubeconfig,
  type KubeconfigAccess,
} from '../../../../../shared/adapters/local/https/kubeconfig.ts'
import { temporaryDirectory } from '../../../../support/temporary-directory.ts'

const url = 'https://127.0.0.1:8443'

it.each<[string, KubeconfigAccess, object]>([
  ['nothing but a token', { authority: undefined, token: 't' }, {}],
  ['an authority', { authority: 'PEM', token: 't' }, { 'certificate-authority-data': 'UEVN' }],
  ['another name', { authority: undefined, token: 't', name: 'setpoint' }, { 'tls-server-name': 'setpoint' }],
  ['an address of IPv6 for a name', { authority: undefined, token: 't', name: '[::1]' }, { 'tls-server-name': '::1' }],
])('says what kubectl needs: %s', (_what, access, trust) => {
  using directory = temporaryDirectory('kubeconfig')
  const file = join(directory.path, 'config')
  writeKubeconfig(file, url, access)
  expect(parse(readFileSync(file, 'utf8'))).toEqual({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'setpoint', cluster: { server: url, ...trust } }],
    users: [{ name: 'setpoint', user: { token: 't' } }],
    contexts: [{ name: 'setpoint', context: { cluster: 'setpoint', user: 'setpoint' } }],
    'current-context': 'setpoint',
  })
})

it('leaves a file alone that says so already, and writes one that says something else', () => {
  using directory = temporaryDirectory('kubeconfig')
  const file = join(directory.path, 'config')
  const write = (token: string): number => {
    writeKubeconfig(file, url, { authority: undefined, token })
    return statSync(file).mtimeMs
  }
  write('a')
  utimesSync(file, 1, 1)
  expect(write('a')).toBe(1_000)
  expect(write('b')).not.toBe(1_000)
})

it('may be written over where there is none, or one of ours', () => {
  using directory = temporaryDirectory('kubeconfig')
  const file = join(directory.path, 'config')
  expect(isOwnKubeconfig(file)).toBe(true)
  writeKubeconfig(file, url, { authority: undefined, token: 't' })
  expect(isOwnKubeconfig(file)).toBe(true)
  for (const text of ['', 'apiVersion: v1\nkind: Config\nclusters: []\n']) {
    writeFileSync(file, text)
    expect(isOwnKubeconfig(file)).toBe(false)
  }
})
