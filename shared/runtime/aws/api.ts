import type { APIGatewayProxyEvent } from 'aws-lambda'
import { requestOf, streamResponse, type StreamedResponse } from '../../adapters/aws/lambda-http.ts'
import { credentialsOf } from '../../adapters/aws/sign-in/principal.ts'
import type { KeyFetch } from '../../adapters/node/oidc-verifier.ts'
import { createApi } from '../../api/api.ts'
import type { ApiServices } from '../../api/call.ts'
import { allControllers } from '../../engine/loops/control-loops.ts'
import { withDirectWake } from '../../engine/wake/direct-wake.ts'
import { createExplain } from '../../engine/insight/explain/explain.ts'
import { OperatingError } from '../../model/errors.ts'
import { createIdSequence } from '../../model/id-sequence.ts'
import type { Authenticator } from '../../ports/authenticator.ts'
import type { HttpHandler } from '../../ports/http-handler.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import { openTokenSigner } from './account-tokens.ts'
import type { AwsBoundary } from './boundary.ts'
import { isAudited, type Audit } from '../../ports/audit.ts'
import { auditOf } from './environment.ts'
import { createKnownUsers } from './known-users.ts'
import type { FunctionOptions } from './open.ts'
import { awsComputed, awsPages, setLogLevelElsewhere } from './pages.ts'
import { openAwsQueues } from './queues.ts'
import { apiKindsMaxAgeMs, createAwsServices, type AwsServices } from './services.ts'
import { openAwsTable } from './table.ts'
import { openTokenReview } from './token-review.ts'
import { lazy } from '../../model/lazy.ts'
import { createReadiness } from '../readiness.ts'
import { setpointVersion } from '../setpoint-version.ts'
import { withRequestSpans } from '../spans.ts'

/** Answers one request; a watch ends a moment before the function's time does. */
export type AnswerEvent = (event: APIGatewayProxyEvent, timeMs: number) => Promise<Answer>
export type Answer = StreamedResponse

/**
 * The function behind the gateway. A definition that was changed is known to all of its processes within ten seconds.
 */
export function createAnswering({ boundary, seeing, controllers }: FunctionOptions, fetch: KeyFetch): AnswerEvent {
  const answer = lazy(() => {
    const ports = openAwsTable(boundary, { patienceMs, logger: seeing.logger })
    const queues = openAwsQueues(boundary, controllers, ports.checkpoint)
    const direct = { controllers, queueOf: queues.queueOf, clock: boundary.clock, logger: seeing.logger }
    const wrapStore = (store: ObjectStore): ObjectStore => withDirectWake(store, direct)
    const options = { boundary, ports, controllers, kindsMaxAgeMs: apiKindsMaxAgeMs, wrapStore, ...seeing }
    const services = createAwsServices(options)
    const { environment } = boundary
    const tokens = openTokenSigner(boundary)
    const reviewToken = openTokenReview(boundary, fetch)
    return createAnswer(services, {
      ...(tokens && { tokens }),
      ...(reviewToken && { reviewToken }),
      isReady: createReadiness(ports.checkpoint('probe'), boundary.clock),
      pages: awsPages(services, environment),
      computed: awsComputed({ ...services, ...queues }, environment),
      ...auditTo(boundary),
    })
  })
  return (event, timeMs) => answer()(event, timeMs)
}

/** By then a client is told to come back. */
const patienceMs = 5_000

/** What of a function's time is left when a watch is told to end. */
const goodbyeMs = 3_000

function createAnswer(services: AwsServices, shown: Shown): AnswerEvent {
  const { clock } = services
  const api = createAwsApi(services, createKnownUsers(), shown)

  return async (event, timeMs) => {
    const over = new AbortController()
    void clock.sleep(Math.max(0, timeMs - goodbyeMs), over.signal).then(() => over.abort(outOfTime))
    const response = await api(requestOf(event, credentialsOf(event), over.signal))
    const answer = streamResponse(response)
    if (typeof answer.body === 'string') over.abort(outOfTime)
    else answer.body.once('close', () => over.abort(outOfTime))
    return answer
  }
}

/** Requests are recorded in the log of the function, each as a line. */
function auditTo({ environment, random, write }: AwsBoundary): Pick<ApiServices, 'audit' | 'newAuditId'> {
  const scope = auditOf(environment)
  if (scope === 'off') return {}
  const audit: Audit = {
    isRecorded: (request) => isAudited(scope, request),
    record: (record) => write(`${record.line()}\n`),
  }
  return { audit, newAuditId: createIdSequence(random.uuid()) }
}

/** Services beside those for stored objects: pages, computed kinds, the record of requests, tokens, health. */
type Shown = Pick<ApiServices, 'pages' | 'computed' | 'audit' | 'newAuditId' | 'tokens' | 'reviewToken' | 'isReady'>

/** The API without a gateway. */
export function createAwsApi(
  services: AwsServices,
  authenticate: Authenticator,
  shown: Shown = { pages: new Map() },
): HttpHandler {
  const api = createApi({
    ...services,
    explain: createExplain({ ...services, controllers: allControllers(services) }),
    ...shown,
    operations: new Map([['log-level', setLogLevelElsewhere]]),
    authenticate,
    version: setpointVersion,
  })
  return services.tracing === undefined ? api : withRequestSpans(api, services.tracing)
}

const outOfTime = new OperatingError('DEADLINE_EXCEEDED', 'the time of the function is over')
