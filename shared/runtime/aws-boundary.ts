import { createEmfTelemetry, type EmfTelemetry } from '../adapters/aws/emf-telemetry.ts'
import { createJsonLogger } from '../adapters/local/json-logger.ts'
import { systemClock } from '../adapters/local/system-clock.ts'
import { systemRandom } from '../adapters/local/system-random.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Random } from '../ports/random.ts'
import { logLevelOf, type Environment } from './aws-environment.ts'

/** All that a function takes from around it; tests bring their own. */
export interface AwsBoundary {
  readonly environment: Environment
  readonly clock: Clock
  readonly random: Random
  /** To the log: lines for people, and the numbers that CloudWatch makes metrics of. */
  readonly write: (line: string) => void
  /** Goes into every AWS client; empty on Lambda, where the clients find everything by themselves. */
  readonly client: ClientSettings
  /** Ends the process once the answer is on its way. */
  readonly retire: () => void
}

/** What of the clients' settings a test replaces. */
export interface ClientSettings {
  readonly requestHandler?: object
  readonly region?: string
  readonly endpoint?: string
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string }
  readonly maxAttempts?: number
}

/** As it is in Lambda. */
export const lambdaBoundary: AwsBoundary = {
  environment: process.env,
  clock: systemClock,
  random: systemRandom,
  write: (line) => process.stdout.write(line),
  client: {},
  retire: () => void setTimeout(() => process.exit(1), retireMs),
}

/** Long enough for an answer to reach the runtime; what is cut off comes again. */
const retireMs = 100

export interface Seeing {
  readonly logger: Logger
  readonly telemetry: EmfTelemetry
}

/** The log, and the numbers in it. */
export function createSeeing({ environment, clock, write }: AwsBoundary): Seeing {
  return {
    logger: createJsonLogger({ write, clock, level: logLevelOf(environment) }),
    telemetry: createEmfTelemetry({ write, clock }),
  }
}
