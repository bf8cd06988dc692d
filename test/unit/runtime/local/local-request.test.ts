import { afterAll, expect, it } from 'vitest'
import { openLocalRequest } from '../../../../shared/runtime/local/local-request.ts'
import { ok, useServers } from '../../adapters/local/https/server-harness.ts'

/** How commands ask the control plane of a data directory. */
const { serve, authority } = useServers('lean')
const warnings: string[] = []
const listen = (warning: Error): void => void warnings.push(warning.message)
process.on('warning', listen)
afterAll(() => process.off('warning', listen))

it.each([
  [undefined, 200],
  ['localhost', 200],
  ['::1', 200],
  ['127.0.0.1', 200],
  ['192.0.2.7', "IP: 192.0.2.7 is not in the cert's list"],
  ['other.example.com', "Host: other.example.com. is not in the cert's altnames"],
])('a server is asked by the name in its certificate: %s', async (name, answer) => {
  const { url } = await serve(async () => ok('x'))
  const access = { server: url, authority: authority(), name, token: 't' }
  const asked = openLocalRequest(access, { method: 'GET', path: 'livez' })
  if (typeof answer === 'string') await expect(asked).rejects.toThrow(answer)
  else expect((await asked)?.resume().statusCode).toBe(answer)
  expect(warnings).toEqual([])
})
