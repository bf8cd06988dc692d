import * as z from 'zod'
import {
  conditionOf,
  defineKind,
  ConfigMap,
  defineReconciler,
  done,
  type Condition,
  type Context,
  type Controller,
  type ObjectOf,
  type Outcome,
  type ReconcilerOptions,
  type StatusOf,
} from '../../../shared/index.ts'
import type { TestEnv } from '../../../shared/testing/test-env.ts'

/** The kind that most tests are about. */
export const Widget = defineKind({
  group: 'test.setpoint.dev',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ size: z.number().int().default(1), partsRef: z.object({ name: z.string() }).optional() }),
  status: z.object({ size: z.number().int(), seen: z.string() }).partial(),
})

export type WidgetObject = ObjectOf<typeof Widget>
export type WidgetStatus = StatusOf<WidgetObject>

/** A run that has been: of which object, and when. */
export interface RunRecord {
  readonly name: string
  readonly atMs: number
  readonly size: number
  readonly attempt: number
}

/** Milliseconds from a widget's first run to each. */
export function timesOf(runs: readonly RunRecord[], name = 'w'): readonly number[] {
  const own = runs.filter((run) => run.name === name)
  return own.map(({ atMs }) => atMs - (own[0]?.atMs ?? 0))
}

type WidgetRun = (widget: WidgetObject, ctx: Context) => Promise<Outcome<WidgetStatus>> | Outcome<WidgetStatus>

/** A reconciler of widgets that notes its runs. */
export function widgets(
  runs: RunRecord[],
  run: WidgetRun = () => done(),
  options: Partial<ReconcilerOptions<WidgetObject>> = {},
): Controller {
  return defineReconciler(Widget, {
    grants: [{ kind: ConfigMap, access: 'write' }],
    ...options,
    reconcile: async (widget, ctx) => {
      runs.push({ name: widget.metadata.name, atMs: ctx.now(), size: widget.spec.size, attempt: ctx.attempt })
      return run(widget, ctx)
    },
  })
}

/** Fails so often, then succeeds. */
export function failing(times: number, error: () => Error = () => new Error('no luck')): WidgetRun {
  let left = times
  return () => {
    if (left-- > 0) throw error()
    return done()
  }
}

/** The widget as clients see it. Throws if it is not there. */
export async function widgetOf(env: TestEnv, name = 'w'): Promise<WidgetObject> {
  const widget = await env.get(Widget, name)
  if (widget === undefined) throw new Error(`no widget ${name}`)
  return widget
}

export async function conditionOfWidget(env: TestEnv, type: string, name = 'w'): Promise<Condition | undefined> {
  return conditionOf(await widgetOf(env, name), type)
}
