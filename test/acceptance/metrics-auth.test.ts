import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { startLocalControlPlane, type LocalControlPlane } from '../../shared/runtime/local/control-plane.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: { readonly 'certificate-authority-data': string } }]
  readonly users: readonly [{ readonly user: { readonly token: string } }]
}

const directory = temporaryDirectory('metrics')
let plane: LocalControlPlane
let config: Kubeconfig
beforeAll(async () => {
  plane = await startLocalControlPlane({ port: 0, dataDirectory: directory.path, controllers: () => [] })
  config = parse(readFileSync(plane.kubeconfig, 'utf8')) as Kubeconfig
})
afterAll(async () => {
  await plane.stop(1_000)
  directory[Symbol.dispose]()
})

/** The status of a GET over the wire, with or without a bearer token. */
function statusOf(path: string, token?: string): Promise<number | undefined> {
  const ca = Buffer.from(config.clusters[0].cluster['certificate-authority-data'], 'base64')
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return new Promise((resolve, reject) => {
    const sent = request(`${plane.url}${path}`, { ca, headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.on('error', reject)
    sent.end()
  })
}

it.each(['/metrics', '/doctor'])('D19 %s is for those who are known, and for nobody else', async (path) => {
  expect(await statusOf(path)).toBe(401)
  expect(await statusOf(path, 'guess')).toBe(401)
  expect(await statusOf(path, config.users[0].user.token)).toBe(200)
})
