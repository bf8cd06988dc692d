import type { ApiObject, JsonObject } from '../../shared/index.ts'
import type { HttpResponse } from '../../shared/ports/http-handler.ts'
import { Relic } from './kinds/relic.ts'
import type { Plane } from './plane.ts'
import type { Step } from './scenario.ts'
import { manifestOf, pathOf } from './addresses.ts'
import type { World } from './world.ts'

type Act = (step: Step) => Promise<HttpResponse | undefined>

export interface RuleActsOptions {
  readonly world: World
  readonly plane: Plane
  readonly report: (violation: string) => void
  /** Told of whom somebody is about to let go. */
  readonly freed: Set<string>
}

export const foreignFinalizer = 'example.com/hold'

type RuleAct = 'enact' | 'repeal' | 'compare' | 'migrate' | 'hold' | 'free' | 'retain' | 'pace'

/** What those do who rule what others may write, and who look after its versions. */
export function createRuleActs({ world, plane, report, freed }: RuleActsOptions): Readonly<Record<RuleAct, Act>> {
  const apply: Act = (step) => plane.request(`PATCH ${pathOf(step)}?fieldManager=ruler&force=true`, manifestOf(step))

  const annotate = (step: Step, name: string, value: string | null): ReturnType<Act> =>
    plane.request(`PATCH ${pathOf(step)}`, { metadata: { annotations: { [`setpoint.dev/${name}`]: value } } })

  /** On condition that nobody else wrote meanwhile. */
  const changeHolders: (
    step: Step,
    change: (finalizers: readonly string[]) => readonly string[],
  ) => ReturnType<Act> = async (step, change) => {
    const found = await plane.request(`GET ${pathOf(step)}`)
    if (found?.status !== 200) return found
    const { metadata } = JSON.parse(String(found.body)) as ApiObject
    const { uid, resourceVersion, finalizers = [] } = metadata
    const next = change(finalizers)
    if (next.length === finalizers.length) return found
    if (next.length < finalizers.length) freed.add(uid)
    return plane.request(`PATCH ${pathOf(step)}`, { metadata: { resourceVersion, finalizers: next } })
  }

  const untilTaken = async (request: () => ReturnType<Act>): ReturnType<Act> => {
    for (;;) {
      const reply = await request()
      if (reply !== undefined && [200, 404].includes(reply.status)) return reply
      await world.sleep(1_000)
    }
  }

  return {
    hold: (step) => changeHolders(step, (finalizers) => [...finalizers, foreignFinalizer]),
    free: (step) =>
      untilTaken(() => changeHolders(step, (finalizers) => finalizers.filter((one) => one !== foreignFinalizer))),
    retain: (step) => annotate(step, 'deletion-policy', step.value === 1 ? 'Retain' : 'Delete'),
    pace: (step) =>
      step.value === 0 ? untilTaken(() => annotate(step, 'resync', null)) : annotate(step, 'resync', `${step.value}m`),
    enact: async (step) => {
      const reply = await apply(step)
      if (!isBound(step) || reply === undefined || reply.status >= 300) return reply
      return apply(bindingOf(step))
    },
    // Half of the policies lose their bindings only.
    repeal: (step) => plane.request(`DELETE ${pathOf(isBound(step) && step.size > 1 ? bindingOf(step) : step)}`),
    compare: async (step) => {
      const [is, was] = [await read(step), await read({ ...step, version: 'v1alpha1' })]
      if (is === undefined || was === undefined || is.version !== was.version) return is?.reply
      const { width, height } = is.spec
      const isSame = was.spec['size'] === `${String(width)}x${String(height)}`
      const isSameStatus = String(is.status['area']) === String(was.status['covers'])
      if (!isSame || !isSameStatus)
        report(
          `versions: Relic ${step.name} is ${textOfBoth(is)} in its version, and ${textOfBoth(was)} in the older one`,
        )
      return is.reply
    },
    migrate: async () => {
      let token = ''
      for (;;) {
        const query = token === '' ? '' : `?continue=${encodeURIComponent(token)}`
        const reply = await plane.request(`POST ${definitions}/${definitionName}/migrate${query}`, {})
        if (reply?.status !== 200) {
          await world.sleep(2_000)
          if (reply?.status === 410) token = ''
          continue
        }
        const page = JSON.parse(String(reply.body)) as { readonly continue?: string; readonly failed: JsonObject[] }
        for (const failure of page.failed) report(`versions: a Relic cannot be migrated: ${JSON.stringify(failure)}`)
        if (page.continue === undefined) return reply
        token = page.continue
      }
    },
  }

  async function read(step: Step) {
    const reply = await plane.request(`GET ${pathOf(step)}`)
    if (reply?.status !== 200) return
    const {
      metadata,
      spec,
      status = {},
    } = JSON.parse(String(reply.body)) as {
      readonly metadata: { readonly resourceVersion: string }
      readonly spec: JsonObject
      readonly status?: JsonObject
    }
    return { reply, version: metadata.resourceVersion, spec, status }
  }
}

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const definitionName = Relic.definition?.metadata.name ?? ''

function isBound({ kind }: Step): boolean {
  return kind === 'Policy' || kind === 'Tint'
}

function bindingOf(policy: Step): Step {
  const kind = policy.kind === 'Tint' ? 'TintBinding' : 'Binding'
  return { ...policy, kind, name: `${policy.name}-binding`, to: policy.name }
}

function textOfBoth({
  spec,
  status: { area, covers },
}: {
  readonly spec: JsonObject
  readonly status: JsonObject
}): string {
  return JSON.stringify({ spec, status: { area, covers } })
}
