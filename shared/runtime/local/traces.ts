import { systemClock } from '../../adapters/node/system-clock.ts'
import type { OpenTracing } from '../../adapters/tracing/otlp-tracing.ts'
import { setpointVersion } from '../setpoint-version.ts'
import { asksForTraces } from '../spans.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface TracesOptions {
  readonly environment: Environment
  /** Told what to type where the packages are not installed, and that traces are lost: all else goes on. */
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
    const opened = openOtlpTracing(setpointVersion)
    return { ...opened, close: () => closeInTime(opened, warn) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    warn(`no traces, which OTEL_… asks for: type npm i ${tracingPackages}, or OTEL_SDK_DISABLED=true`)
    return undefined
  }
}

/** A collector that does not answer, for which the exporter would wait for ten seconds, holds up no stop. */
const closeMsMax = 2_000

/** Never rejects: with traces alone nothing of the control plane is lost. */
async function closeInTime(opened: OpenTracing, warn: TracesOptions['warn']): Promise<void> {
  const over = new AbortController()
  const late = systemClock.sleep(closeMsMax, over.signal).then(() => 'the collector did not take them in time')
  const closed = opened.close().then(() => '', String)
  const why = await Promise.race([closed, late])
  over.abort('closed')
  if (why !== '') warn(`the last traces are lost: ${why}`)
}

const loadTracing = (): Promise<OpenTracingModule> => import('../../adapters/tracing/otlp-tracing.ts')

const tracingPackages = '@opentelemetry/{api,exporter-trace-otlp-http,instrumentation-undici,resources,sdk-trace-node}'
