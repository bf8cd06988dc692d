import { generateKeyPairSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { issueCertificate } from '../../shared/adapters/local/https/x509-certificate.ts'
import { openApiClient } from '../support/api-client.ts'
import { root } from '../support/control-plane-process.ts'
import { findKubectls } from '../support/kubectl.ts'
import { runProgram } from '../support/program.ts'
import { setpointIn, type StartedPlane } from '../support/setpoint-command.ts'
import { isLong } from '../support/strength.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** A control plane that other machines may call, with a certificate of somebody's own. */
const directory = temporaryDirectory('listen')
const cwd = directory.path
const command = setpointIn(cwd)
const entry = join(root, 'examples/greeting')
const at = (name: string): string => join(cwd, name)
const start = (...flags: readonly string[]): Promise<StartedPlane> => command.start(entry, ...flags)
afterAll(() => directory[Symbol.dispose]())

const dayMs = 86_400_000
const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const authorityKey = newKey()

function writeCertificate(name: string, lastsMs: number): void {
  const nowMs = Date.now()
  const key = newKey()
  const times = { notBeforeMs: nowMs - 2 * dayMs, notAfterMs: nowMs + lastsMs }
  const hosts = [{ dns: 'localhost' }] as const
  const use = { as: 'server', hosts } as const
  const certificate = issueCertificate({ subject: 's', issuer: 'mine', key, issuerKey: authorityKey, ...times, use })
  writeFileSync(at(`${name}.crt`), certificate)
  writeFileSync(at(`${name}.key`), key.export({ type: 'pkcs8', format: 'pem' }))
}

const own = ['--certificate', 'own.crt', '--certificate-key', 'own.key', '--authority', 'ca.crt'] as const

beforeAll(() => {
  const times = { notBeforeMs: Date.now() - dayMs, notAfterMs: Date.now() + dayMs }
  const signed = { subject: 'mine', issuer: 'mine', key: authorityKey, issuerKey: authorityKey }
  writeFileSync(at('ca.crt'), issueCertificate({ ...signed, ...times, use: { as: 'authority' } }))
  writeCertificate('own', dayMs)
  writeCertificate('other', dayMs)
  writeCertificate('ended', -dayMs)
})

describe('setpoint start --listen', () => {
  it.each([
    [['0.0.0.0'], 'name yours (--certificate FILE --certificate-key FILE)'],
    [['0.0.0.0', ...own], 'nobody has a token of their own: start without --listen, and type setpoint token add NAME'],
    [['example.com', ...own], '--listen: example.com is no address'],
    [['127.0.0.1', '--certificate', 'own.crt'], '--certificate FILE and --certificate-key FILE go together'],
    [['127.0.0.1', '--certificate', 'own.crt', '--certificate-key', 'none'], 'cannot read none'],
    [['127.0.0.1', '--certificate', 'own.key', '--certificate-key', 'own.key'], 'own.key is not PEM'],
    [
      ['127.0.0.1', '--certificate', 'own.crt', '--certificate-key', 'other.key'],
      'other.key is not the key of own.crt',
    ],
    [['127.0.0.1', '--certificate', 'ended.crt', '--certificate-key', 'ended.key'], 'ended.crt ended at'],
  ])('refuses %j in a line', async (flags, message) => {
    const refusal = await start('--listen', ...flags).catch(String)
    expect(refusal).toContain(message)
  })

  it('lets other machines in once somebody has a token, with a certificate that they can check', async () => {
    await (await start()).stop()
    await command.call('token', 'add', 'alice')
    await using program = await start('--listen', '0.0.0.0', ...own)
    const port = Number(/https:\/\/0\.0\.0\.0:(\d+)/.exec(program.stdout)?.[1])
    const here = readFileSync(at('.setpoint/kubeconfig'), 'utf8')
    expect(here).toContain(`server: https://127.0.0.1:${port}\n`)
    expect(here).toContain('tls-server-name: localhost\n')

    // As a machine that knows the authority, by an address of this one that is not loopback, where it has one.
    const address = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .find(({ internal, family }) => !internal && family === 'IPv4')?.address
    const status = await new Promise((resolve, reject) => {
      const ca = readFileSync(at('ca.crt'))
      const options = { host: address ?? '127.0.0.1', port, path: '/livez', ca, servername: 'localhost' }
      request(options, (response) => resolve(response.resume().statusCode))
        .once('error', reject)
        .end()
    })
    expect(status).toBe(200)

    // A person's kubeconfig calls it by the name in the certificate.
    await command.call('token', 'rotate', 'alice', '--out', 'alice.kubeconfig')
    expect(readFileSync(at('alice.kubeconfig'), 'utf8')).toContain(`server: https://localhost:${port}\n`)
    using client = openApiClient(at('alice.kubeconfig'))
    await expect.poll(() => client.send('GET /version'), { timeout: 60_000 }).toMatchObject({ status: 200 })
    expect(await command.call('backup', 'one.backup')).toMatchObject({ code: 0, stderr: '' })

    if (!isLong || (await findKubectls()).length === 0) return
    const env = { KUBECONFIG: at('.setpoint/kubeconfig') }
    expect(await runProgram('kubectl', ['get', 'namespaces'], { cwd, env })).toMatchObject({ code: 0 })
  })
})
