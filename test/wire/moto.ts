import { loadOnce } from '../../shared/model/load-once.ts'
import { startPeer, type Peer } from './peer.ts'
import { fetchPython, pythonOf } from './python.ts'

const version = '5.2.5'
/** It is among what moto needs: here it is of one version, too. */
const linterVersion = '1.58.0'
const home = `moto-${version}-cfn-lint-${linterVersion}`
const fetch = loadOnce(() => fetchPython(home, [`moto[server]==${version}`, `cfn-lint==${linterVersion}`]))
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
  fetch,
  start: () => startPeer([pythonOf(home), '-c', oneThread], { says }),
}

/** A second one, for queues and events, where a request may wait and others must not wait with it. */
export const motoOfQueues: Peer = {
  ...moto,
  name: 'moto (queues)',
  variable: 'SETPOINT_WIRE_MOTO_QUEUES',
  start: () => startPeer([pythonOf(home), '-m', 'moto.server', '-H', '127.0.0.1', '-p', '0'], { says }),
}

/** cfn-lint, in the same Python, which it is run by: it holds templates against AWS's schemas of resources. */
export const cfnLint: Peer = {
  name: 'cfn-lint',
  version: linterVersion,
  variable: 'SETPOINT_WIRE_CFN_LINT',
  fetch,
  start: async () => ({ endpoint: pythonOf(home), [Symbol.asyncDispose]: async () => {} }),
}
