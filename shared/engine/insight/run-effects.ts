import { equal } from '../../model/json.ts'
import type { ApiObject, ManagedFieldsEntry } from '../../model/object.ts'
import { keyOf, keyText } from '../../model/object-key.ts'
import type { OutsideVerb } from '../../reconciler/context.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Resources, Written } from '../../resources/resources.ts'

/** What a run did to the objects it can reach through its context, counted as it goes. */
export interface RunEffects {
  reads: number
  readonly written: { [outcome in WriteEffect]: number }
  /** What was missing or changed by somebody else, and was corrected: children, and entities outside. */
  drift: number
  /** Calls of somebody else's API. Left out while there is none. */
  outside?: Map<OutsideCall, number>
}

export type OutsideCall = `${OutsideVerb} ${'success' | 'error'}`

/** What a run tells of its doings outside. */
export interface OutsideCounts {
  recordCall(verb: OutsideVerb, result: 'success' | 'error'): void
  recordDrift(): void
}

/** Counts into the effects of a run. */
export function outsideCounts(effects: RunEffects): OutsideCounts {
  return {
    recordCall: (verb, result) => {
      const call: OutsideCall = `${verb} ${result}`
      const outside = (effects.outside ??= new Map<OutsideCall, number>())
      outside.set(call, (outside.get(call) ?? 0) + 1)
    },
    recordDrift: () => {
      effects.drift++
    },
  }
}

export type WriteEffect = Written['outcome'] | 'deleted'

export function noEffects(): RunEffects {
  return { reads: 0, written: { created: 0, updated: 0, unchanged: 0, deleted: 0 }, drift: 0 }
}

export interface EffectsOptions {
  readonly effects: RunEffects
  /** The controller: who writes. */
  readonly manager: string
  /** The object had converged: children that need mending now were somebody else's doing. */
  readonly wasConverged: boolean
  readonly logger: Logger
}

/** The verbs, with what is done through them noted. */
export function noteEffects(
  resources: Resources,
  { effects, manager, wasConverged, logger }: EffectsOptions,
): Resources {
  const noteDrift = (written: Written): void => {
    const drift = driftOf(written, manager)
    if (drift === undefined) return
    effects.drift++
    logger.info('drift corrected', { child: keyText(keyOf(written.stored.object)), ...drift })
  }
  return {
    ...resources,
    get: (kind, at) => {
      effects.reads++
      return resources.get(kind, at)
    },
    list: (kind, options) => {
      effects.reads++
      return resources.list(kind, options)
    },
    patch: async (kind, at, patch, options) => {
      const written = await resources.patch(kind, at, patch, options)
      effects.written[written.outcome]++
      if (wasConverged && patch.type === 'apply') noteDrift(written)
      return written
    },
    create: async (kind, object, options) => {
      const written = await resources.create(kind, object, options)
      effects.written[written.outcome]++
      return written
    },
    delete: async (kind, at, options) => {
      const deleted = await resources.delete(kind, at, options)
      effects.written.deleted++
      return deleted
    },
  }
}

interface Drift {
  readonly found: 'missing' | 'changed'
  /** The last to write it, where that is known. */
  readonly by?: string
}

/** What was wrong with a child that its controller applied as it had before; `undefined` if nothing was. */
function driftOf({ outcome, stored, before }: Written, manager: string): Drift | undefined {
  if (outcome === 'created') return { found: 'missing' }
  if (outcome !== 'updated' || before === undefined) return undefined
  const [was, is] = [before.object, stored.object].map((object) => findApplyEntry(manager, object))
  if (was === undefined || equal(was.fieldsV1, is?.fieldsV1)) return undefined
  const by = lastOther(manager, before.object)
  return { found: 'changed', ...(by === undefined ? {} : { by }) }
}

/** Whoever changes a field takes it from its owner, so fields that came back to us were changed by somebody. */
function findApplyEntry(manager: string, { metadata }: ApiObject): ManagedFieldsEntry | undefined {
  return metadata.managedFields?.find((entry) => entry.manager === manager && entry.operation === 'Apply')
}

function lastOther(self: string, { metadata }: ApiObject): string | undefined {
  const others = (metadata.managedFields ?? []).filter(({ manager }) => manager !== self)
  return others.toSorted((a, b) => ((a.time ?? '') < (b.time ?? '') ? 1 : -1))[0]?.manager
}
