import type { ApiObject, JsonObject } from '../../shared/index.ts'
import type { HttpResponse } from '../../shared/ports/http-handler.ts'
import { isDeleting } from '../../shared/model/object.ts'
import { timestamp } from '../../shared/model/time.ts'
import { batchOf, batchOfContent, collectionOf, isBatched, pathOf, simGroup, textOf } from './addresses.ts'
import type { Plane } from './plane.ts'
import type { KindName, Step } from './scenario.ts'
import type { World } from './world.ts'

type Reply = Promise<HttpResponse | undefined>
type Act = (step: Step) => Reply

/** An object of which a user was told. */
interface Told {
  readonly kind: KindName
  readonly name: string
  readonly specs: ReadonlySet<string>
  mustExist: boolean
}

export interface MeddlingActsOptions {
  readonly world: World
  readonly plane: Plane
  readonly report: (violation: string) => void
  readonly expectations: ReadonlyMap<string, Told>
  /** Somebody has begun to delete this. */
  readonly noteDeleted: (step: Step) => void
  readonly meddled: Meddled
}

/** What people have done by hand to what the control plane writes. By uid. */
export interface Meddled {
  /** The messages that an object's condition of their own may have; undefined: it may have none. */
  readonly audits: Map<string, Set<string | undefined>>
  /** Whose status they may have written. */
  readonly dubbed: Set<string>
  /** Whose controller's finalizer they have begun to take away. */
  readonly unleashed: Set<string>
}

/** The type of the condition that is nobody's but theirs. */
export const auditType = 'Audited'

type MeddlingAct = 'dub' | 'nudge' | 'sweep' | 'unleash'

/** What people do by hand who have the rights for it: they write statuses, sweep collections, and force deletions. */
export function createMeddlingActs(options: MeddlingActsOptions): Readonly<Record<MeddlingAct, Act>> {
  return {
    dub: createDub(options),
    nudge: createNudge(options),
    sweep: createSweep(options),
    unleash: createUnleash(options),
  }
}

async function read(plane: Plane, step: Step): Promise<ApiObject | HttpResponse | undefined> {
  const found = await plane.request(`GET ${pathOf(step)}`)
  return found?.status === 200 ? (JSON.parse(String(found.body)) as ApiObject) : found
}

function createDub({ world, plane, meddled: { audits, dubbed } }: MeddlingActsOptions): Act {
  const noteAudit = (uid: string, message: string | undefined, reply: HttpResponse | undefined): void => {
    const isUnknown = reply === undefined || reply.status >= 500 || reply.status === 429
    const before = isUnknown ? (audits.get(uid) ?? [undefined]) : []
    if (isUnknown || reply.status < 300) audits.set(uid, new Set([...before, message]))
  }

  const put = async (step: Step, object: ApiObject, audit?: string): Reply => {
    const status = audit === undefined ? ownFieldsOf(step) : withAudit(object.status ?? {}, audit, world.nowMs())
    const reply = await plane.request(`PUT ${pathOf(step)}/status`, { ...object, status })
    noteAudit(object.metadata.uid, audit, reply)
    return reply
  }

  /** Says what its reconciler has not said. */
  const claim = (step: Step, { metadata: { generation } }: ApiObject): Reply => {
    const observedGeneration = generation + (step.value % 2) * 100
    const seen = step.kind === 'Ledger' ? { seen: 'nonsense' } : {}
    return plane.request(`PATCH ${pathOf(step)}/status`, { status: { observedGeneration, ...seen } })
  }

  return async (step) => {
    const object = await read(plane, step)
    if (object === undefined || !('metadata' in object)) return object
    dubbed.add(object.metadata.uid)
    const how = step.size as Dubbing
    if (how === dubbings.audit) return put(step, object, String(step.value))
    if (how === dubbings.wipe) return put(step, object)
    if (how === dubbings.claim) return claim(step, object)
    return plane.request(`PATCH ${pathOf(step)}/status`, { status: ownFieldsOf(step) })
  }
}

function createNudge({ world, plane }: MeddlingActsOptions): Act {
  return async (step) => {
    for (;;) {
      const annotations = { 'setpoint.dev/reconcile-requested-at': `nudge ${step.value}` }
      const reply = await plane.request(`PATCH ${pathOf(step)}`, { metadata: { annotations } })
      if (reply !== undefined && [200, 404].includes(reply.status)) return reply
      await world.sleep(1_000)
    }
  }
}

function createSweep({ plane, expectations }: MeddlingActsOptions): Act {
  const candidates = ({ kind }: Step): readonly Told[] =>
    [...expectations.values()].filter((one) => one.kind === kind && isBatched(one.name))

  return async (step) => {
    const batch = batchOf(step)
    const before = new Map(candidates(step).map((one) => [one, [...one.specs].join()]))
    const query = `labelSelector=${encodeURIComponent(`batch=${batch}`)}`
    const reply = await plane.request(`DELETE ${collectionOf(step)}?${query}`)
    // What was changed meanwhile may have been deleted ahead of that, or behind it.
    for (const one of candidates(step)) {
      const texts = [...one.specs]
      const isChanged = before.get(one) !== texts.join()
      if (isChanged || texts.some((text) => batchOfContent(text) === batch)) one.mustExist = false
    }
    return reply
  }
}

function createUnleash({ plane, report, noteDeleted, meddled }: MeddlingActsOptions): Act {
  const lookWhetherGone = (step: Step, uid: string, reply: HttpResponse | undefined): void => {
    if (reply?.status !== 200) return
    const told = JSON.parse(String(reply.body)) as ApiObject
    const live = plane.table.items.get(textOf(step.kind, step.name))?.object
    if (isDeleting(told) && told.metadata.finalizers === undefined && live?.metadata.uid === uid)
      report(`promise 8, deletion: ${step.kind} ${step.name} has lost its last finalizer and stays`)
  }

  return async (step) => {
    if (step.size % 2 === 1) {
      await plane.request(`DELETE ${pathOf(step)}`)
      noteDeleted(step)
    }
    const object = await read(plane, step)
    if (object === undefined || !('metadata' in object)) return object
    const { uid, resourceVersion, finalizers = [] } = object.metadata
    const left = finalizers.filter((name) => !name.startsWith(simGroup))
    const isHeld = left.length < finalizers.length
    if (isHeld) meddled.unleashed.add(uid)
    const metadata: JsonObject = step.size > 1 ? { finalizers: null } : { resourceVersion, finalizers: left }
    const reply = isHeld ? await plane.request(`PATCH ${pathOf(step)}`, { metadata }) : undefined
    lookWhetherGone(step, uid, reply)
    return reply
  }
}

/** How a status is written: by the number that a step has as its size. */
export const dubbings = { audit: 0, field: 1, wipe: 2, claim: 3 } as const
type Dubbing = (typeof dubbings)[keyof typeof dubbings]

/** The fields of a status that no reconciler reports. */
function ownFieldsOf({ kind, value }: Step): JsonObject {
  return kind === 'Ledger' ? { audit: String(value) } : {}
}

function withAudit(status: JsonObject, message: string, nowMs: number): JsonObject {
  const { conditions = [] } = status as { readonly conditions?: readonly JsonObject[] }
  const own = { type: auditType, status: 'True', reason: 'Looked', message, lastTransitionTime: timestamp(nowMs) }
  return { ...status, conditions: [...conditions.filter(({ type }) => type !== auditType), own] }
}
