import { temporaryDirectory } from '../support/temporary-directory.ts'
import { freePort, startPeer, type Peer } from './peer.ts'
import { fetchPython, pythonOf } from './python.ts'

/** The last version but two under Apache-2.0 that needs no account, and the first of those that runs on Python 3.11. */
const version = '4.9.2'
const home = `localstack-${version}`

/** It asks for no upper limits, and later versions of these took away what it calls. */
const older = ['cbor2==5.9.0', 'cryptography==43.0.3', 'moto-ext==5.1.54', 'pyopenssl==24.2.1']

/**
 * LocalStack's SQS, from PyPI: much of it is tested against AWS by those who write it. Nothing else of it is started.
 */
export const localstack: Peer = {
  name: "LocalStack's SQS",
  version,
  variable: 'SETPOINT_WIRE_LOCALSTACK',
  fetch: () => fetchPython(home, [`localstack-core[base-runtime]==${version}`, ...older]),
  start: async () => {
    const port = await freePort()
    const directory = temporaryDirectory('localstack')
    const { path } = directory
    const places = { HOME: path, FILESYSTEM_ROOT: path, TMPDIR: path }
    const alone = { DISABLE_EVENTS: '1', SKIP_SSL_CERT_DOWNLOAD: '1', DNS_ADDRESS: '0' }
    const env = {
      ...places,
      ...alone,
      SERVICES: 'sqs',
      STRICT_SERVICE_LOADING: '1',
      GATEWAY_SERVER: 'hypercorn',
      GATEWAY_LISTEN: `127.0.0.1:${port}`,
    }
    const command = [pythonOf(home), '-m', 'localstack.runtime.main']
    const peer = await startPeer(command, { env, says: /^Ready\.$/m, endpoint: `http://127.0.0.1:${port}` })
    return {
      ...peer,
      [Symbol.asyncDispose]: async () => {
        await peer[Symbol.asyncDispose]()
        directory[Symbol.dispose]()
      },
    }
  },
}
