import { startPeer, type Peer } from './peer.ts'
import { fetchPython, pythonOf } from './python.ts'

const version = '5.2.5'
const home = `moto-${version}`

/** moto, from PyPI: DynamoDB with Streams, SQS, EventBridge, CloudFormation and more on one endpoint. This one is for the table. */
export const moto: Peer = {
  name: 'moto',
  version,
  variable: 'SETPOINT_WIRE_MOTO',
  fetch: () => fetchPython(home, [`moto[server]==${version}`]),
  start: () =>
    startPeer([pythonOf(home), '-m', 'moto.server', '-H', '127.0.0.1', '-p', '0'], {
      says: /Running on (http:\/\/127\.0\.0\.1:\d+)/,
      // It would start containers for the functions of a stack.
      env: { DOCKER_HOST: 'tcp://127.0.0.1:1' },
    }),
}

/** A second one, since one process of Python does one thing at a time: for queues and events. */
export const motoOfQueues: Peer = { ...moto, name: 'moto (queues)', variable: 'SETPOINT_WIRE_MOTO_QUEUES' }
