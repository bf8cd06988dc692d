import { Token } from 'aws-cdk-lib'
import * as iam from 'aws-cdk-lib/aws-iam'
import * as lambda from 'aws-cdk-lib/aws-lambda'
import type { Construct } from 'constructs'

/**
 * Where a function sends its spans, by OTLP over HTTP: to an `endpoint`, or to a collector of ADOT that it has with
 * it.
 */
export interface SentTraces {
  /**
   * Of a collector: `https://collector.example.com:4318`, or `http://localhost:4318` for one in a layer of your own.
   * @default - that of `adot`
   */
  readonly endpoint?: string
  /**
   * With a key of the collector, for example. They stand in the function's variables. A value that CloudFormation
   * fills in, such as that of a secret, must have no comma and no `%`.
   */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Of how many traces the spans are kept that begin here, from 0 to 1. The sender of a `traceparent` decides for
   * itself.
   * @default 0.05
   */
  readonly ratio?: number
  /** A collector of your own in the function. */
  readonly layer?: lambda.ILayerVersion
  /**
   * The collector of the AWS Distro for OpenTelemetry, in AWS's own layer. It hands spans on to X-Ray, unless its
   * configuration says otherwise.
   * @default - none
   */
  readonly adot?: AdotCollector
}

export interface AdotCollector {
  /**
   * Of the layer, for this Region and for arm64: https://aws-otel.github.io/docs/getting-started/lambda.
   * @default - the newest that this version of the CDK knows, in the stack's Region
   */
  readonly layerArn?: string
  /**
   * Where its configuration is, such as `s3://bucket.s3.eu-west-1.amazonaws.com/collector.yaml`. Grant the functions
   * what they need to read it.
   * @default - that of the layer: spans go to X-Ray
   */
  readonly configuration?: string
}

/** What of a function's properties traces make. */
export interface TracedProps {
  readonly environment: Readonly<Record<string, string>>
  readonly layers?: lambda.ILayerVersion[]
}

/** An invocation does not wait long for its collector. */
const sendingMs = 2_000

/** The collector's receiver in its layer. */
const beside = 'http://localhost:4318'

/** Throws for traces that would go nowhere, or to two places. */
export function traceProps(scope: Construct, id: string, { traces, service }: SendingTraces): TracedProps {
  const { headers = {}, ratio = 0.05, adot, layer } = traces
  const told = Object.entries(headers).map(([name, value]) => `${name}=${encoded(value)}`)
  const layers = [...(layer ? [layer] : []), ...(adot ? [adotLayer(scope, `${id}Adot`, adot)] : [])]
  return {
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: endpointOf(traces),
      ...(told.length > 0 && { OTEL_EXPORTER_OTLP_HEADERS: told.join(',') }),
      OTEL_EXPORTER_OTLP_TIMEOUT: String(sendingMs),
      OTEL_SERVICE_NAME: service,
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: String(ratio),
      ...(adot?.configuration !== undefined && { OPENTELEMETRY_COLLECTOR_CONFIG_URI: adot.configuration }),
    },
    ...(layers.length > 0 && { layers }),
  }
}

/** As the variable wants it. What CloudFormation fills in must be that already: nobody can encode it here. */
function encoded(value: string): string {
  return Token.isUnresolved(value) ? value : encodeURIComponent(value)
}

interface SendingTraces {
  readonly traces: SentTraces
  /** Whose spans they are. */
  readonly service: string
}

/** Lets the collector in a function hand spans on to X-Ray. */
export function allowAdot(worker: lambda.Function): void {
  worker.addToRolePolicy(
    new iam.PolicyStatement({ actions: ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], resources: ['*'] }),
  )
}

function endpointOf({ endpoint, adot, layer, ratio = 0.05 }: SentTraces): string {
  if (!(ratio >= 0 && ratio <= 1)) throw new Error(`ratio of traces must be from 0 to 1, not ${ratio}`)
  if (endpoint !== undefined && !Token.isUnresolved(endpoint) && !/^https?:\/\/[^/]/.test(endpoint))
    throw new Error(`the endpoint of traces must begin with https:// or http://, not be ${JSON.stringify(endpoint)}`)
  if (adot === undefined && endpoint !== undefined) return endpoint
  if (adot === undefined) throw new Error('traces need the endpoint of a collector, or adot')
  const both = endpoint === undefined ? layer && 'layer' : 'endpoint'
  if (both !== undefined) throw new Error(`traces with adot go to its collector: they have no ${both}`)
  return beside
}

/** Our functions make their spans themselves: of AWS's layers it is the one with the collector and nothing else. */
function adotLayer(scope: Construct, id: string, { layerArn }: AdotCollector): lambda.ILayerVersion {
  const arn = layerArn ?? lambda.AdotLambdaLayerGenericVersion.LATEST.layerArn(scope, lambda.Architecture.ARM_64)
  return lambda.LayerVersion.fromLayerVersionArn(scope, id, arn)
}
