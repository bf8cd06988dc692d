import type { OpenTracing } from '../../adapters/tracing/otlp-tracing.ts'
import { setpointVersion } from '../setpoint-version.ts'
import { asksForTraces } from '../spans.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface TracesOptions {
  readonly environment: Environment
  /** Told what to type where the packages are not installed: the control plane goes on without traces. */
  readonly warn: (message: string) => void
  readonly load?: () => Promise<OpenTracingModule>
}

interface OpenTracingModule {
  readonly openOtlpTracing: (version: string) => OpenTracing
}

/** Loads OpenTelemetry if it is asked for: its variables often stand in the environment of everything on a machine. */
export async function openTraces({
  environment,
  warn,
  load = loadTracing,
}: TracesOptions): Promise<OpenTracing | undefined> {
  if (!asksForTraces(environment)) return undefined
  try {
    const { openOtlpTracing } = await load()
    return openOtlpTracing(setpointVersion)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    warn(`no traces, which OTEL_… asks for: type npm i ${tracingPackages}, or OTEL_SDK_DISABLED=true`)
    return undefined
  }
}

const loadTracing = (): Promise<OpenTracingModule> => import('../../adapters/tracing/otlp-tracing.ts')

const tracingPackages = '@opentelemetry/{api,exporter-trace-otlp-http,instrumentation-undici,resources,sdk-trace-node}'
