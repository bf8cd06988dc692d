import { startPeer, type Peer } from './peer.ts'
import { fetchPython, pythonOf } from './python.ts'

const version = '5.2.5'
const home = `moto-${version}`
const says = /Running on (http:\/\/127\.0\.0\.1:\d+)/

/**
 * Its own way to start has a thread for each request, and then of two conditional writes of an item both may succeed.
 * It also hands each record of a stream to a container, whether there is one or not, and the write fails where the
 * record has bytes.
 */
const oneThread = `
from moto.awslambda.models import LambdaBackend
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple
LambdaBackend.send_dynamodb_items = lambda *of: True
run_simple("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=False)
`

/**
 * moto, from PyPI: DynamoDB with Streams, SQS, EventBridge, CloudFormation and more on one endpoint. This one is for
 * the table.
 */
export const moto: Peer = {
  name: 'moto',
  version,
  variable: 'SETPOINT_WIRE_MOTO',
  fetch: () => fetchPython(home, [`moto[server]==${version}`]),
  start: () => startPeer([pythonOf(home), '-c', oneThread], { says }),
}

/** A second one, for queues and events, where a request may wait and others must not wait with it. */
export const motoOfQueues: Peer = {
  ...moto,
  name: 'moto (queues)',
  variable: 'SETPOINT_WIRE_MOTO_QUEUES',
  start: () => startPeer([pythonOf(home), '-m', 'moto.server', '-H', '127.0.0.1', '-p', '0'], { says }),
}
