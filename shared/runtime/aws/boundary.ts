import type { createDynamodbClient } from '../../adapters/aws/dynamodb/dynamodb-client.ts'
import { createEmfTelemetry, type EmfTelemetry } from '../../adapters/aws/emf-telemetry.ts'
import { createJsonLogger } from '../../adapters/node/json-logger.ts'
import { systemClock } from '../../adapters/node/system-clock.ts'
import { createHttpsWebhooks } from '../../adapters/node/https-webhooks.ts'
import { systemRandom } from '../../adapters/node/system-random.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Random } from '../../ports/random.ts'
import type { Webhooks } from '../../ports/webhooks.ts'
import type { Tracing } from '../../ports/tracing.ts'
import { setpointVersion } from '../setpoint-version.ts'
import { asksForTraces } from '../spans.ts'
import { logLevelOf, metricNamespaceOf, type Environment } from './environment.ts'

/** All that a function takes from around it; tests bring their own. */
export interface AwsBoundary {
  readonly environment: Environment
  readonly clock: Clock
  readonly random: Random
  /** To the log: lines for people, and the numbers that CloudWatch makes metrics of. */
  readonly write: (line: string) => void
  /** Goes into the clients; empty on Lambda, where they find everything by themselves. */
  readonly dynamodb: ClientSettings
  readonly sqs: ClientSettings
  readonly eventbridge: ClientSettings
  readonly sts?: ClientSettings
  readonly vault?: ClientSettings
  readonly cloudformation?: ClientSettings
  /** Servers that admission asks. Left out, none can be asked. */
  readonly webhooks?: Webhooks
  /** Ends the process, without an answer: what of the batch was not deleted comes again. */
  readonly retire: () => void
}

/** What of a client's settings a test replaces; the same for all clients. */
export type ClientSettings = Pick<
  NonNullable<Parameters<typeof createDynamodbClient>[0]>,
  'requestHandler' | 'region' | 'endpoint' | 'credentials'
>

/** As it is in Lambda. */
export const lambdaBoundary: AwsBoundary = {
  environment: process.env,
  clock: systemClock,
  random: systemRandom,
  write: (line) => process.stdout.write(line),
  dynamodb: {},
  sqs: {},
  eventbridge: {},
  webhooks: createHttpsWebhooks(),
  retire: () => process.exit(1),
}

export interface Seeing {
  readonly logger: Logger
  readonly telemetry: EmfTelemetry
  /** Left out where nobody asked for traces. */
  readonly traces?: AwsTraces
}

/** Spans, and what sends them: a function stands still between its invocations. */
export interface AwsTraces {
  readonly tracing: Tracing
  flush(): Promise<void>
}

export type OpenAwsTraces = (version: string) => AwsTraces

/** The log, the numbers in it, and traces if the variables of OpenTelemetry ask for them. */
export function createSeeing({ environment, clock, write }: AwsBoundary, openTraces?: OpenAwsTraces): Seeing {
  return {
    ...(openTraces && asksForTraces(environment) && { traces: openTraces(setpointVersion) }),
    logger: createJsonLogger({ write, clock, level: logLevelOf(environment) }),
    telemetry: createEmfTelemetry({ write, clock, ...metricNamespaceOf(environment) }),
  }
}
