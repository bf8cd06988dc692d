import type { ApiObject, JsonObject } from '../../shared/index.ts'
import type { HttpResponse } from '../../shared/ports/http-handler.ts'
import type { Outside } from './outside.ts'
import type { Registry } from './registry.ts'
import { childPath, contentOf, isContainer, manifestOf, pathOf, remarkOf, simGroup, textOf } from './addresses.ts'
import { tierOf } from './kinds/pass.ts'
import { presentSpecOf } from './kinds/relic.ts'
import { toolDefinition } from './kinds/tool.ts'
import type { Plane, SeenTable } from './plane.ts'
import { placedAs } from './placed.ts'
import { createMeddlingActs, type Meddled } from './meddling-acts.ts'
import { createRuleActs } from './rule-acts.ts'
import { createTieActs, type Policy } from './tie-acts.ts'
import { runKinds, type KindName, type Scenario, type Step } from './scenario.ts'
import type { World } from './world.ts'

/** What a user was told about an object, and what must be there in the end. */
export interface Expectation {
  readonly kind: KindName
  readonly name: string
  /**
   * What its spec (or data) may be, as JSON: the last acknowledged, and those whose write had an unknown fate since.
   */
  readonly specs: Set<string>
  readonly namespace?: string | undefined
  /** The uid of its namespace or definition when its last write was acknowledged: what goes with that is not missed. */
  home?: string | undefined
  mayExist: boolean
  mustExist: boolean
  /** What was written with an unknown fate: where nothing is, it may still be made. */
  readonly unsettled: Set<string>
  /** Until then a write may still be made whose answer was lost. */
  unknownUntilMs: number
}

export interface UsersOptions {
  readonly world: World
  readonly plane: Plane
  readonly outside: Outside
  readonly registry: Registry
  /** How they delete. */
  readonly propagation: Scenario['propagation']
  /** What they give is controlled by its owner. */
  readonly controls: boolean
  readonly onAccepted: (change: AcceptedWrite) => void
  readonly onAnswered: (answered: AnsweredStep) => void
  readonly report: (violation: string) => void
}

/** What a user has asked for, since when, and the answer, if there was one. */
export interface AnsweredStep {
  readonly step: Step
  readonly sinceMs: number
  readonly status: number | undefined
  readonly text: string
}

/** A write of a user that was acknowledged. */
export interface AcceptedWrite {
  readonly kind: KindName
  readonly name: string
  readonly namespace?: string | undefined
  readonly uid: string
  readonly generation: number
}

export interface Users {
  /** Resolves when all have done what they were to do. */
  work(steps: readonly Step[]): Promise<void>
  /** Asks every object that there is to run, until that is taken. */
  runAll(): Promise<void>
  readonly expectations: ReadonlyMap<string, Expectation>
  /** Entities outside that somebody changed by hand. */
  readonly tampered: ReadonlySet<string>
  /** The uids of objects of which somebody has begun to take away a finalizer. */
  readonly freed: ReadonlySet<string>
  /** How users who tie objects to each other have begun to delete them, by uid. */
  readonly disposed: ReadonlyMap<string, ReadonlySet<Policy>>
  readonly meddled: { readonly [part in keyof Meddled]: Readonly<Meddled[part]> }
  /** The uid of the owner that was acknowledged last, by the name of a ConfigMap; of those where that is known. */
  readonly owners: ReadonlyMap<string, string>
}

/** People and scripts with a client each: everything goes through the API, but for what they do by hand outside. */
export function createUsers(options: UsersOptions): Users {
  const { world, plane, outside, registry, propagation, controls, onAccepted, onAnswered, report } = options
  const expectations = new Map<string, Expectation>()
  const tampered = new Set<string>()
  const owners = new Map<string, string>()
  const freed = new Set<string>()
  const disposed = new Map<string, Set<Policy>>()
  const meddled: Meddled = { audits: new Map(), dubbed: new Set(), unleashed: new Set() }
  /** Whom they belong to nobody can tell any more. */
  const unsure = new Set<string>()

  const expectationOf = (step: Step): Expectation => {
    const { kind, name, namespace } = step
    const known = expectations.get(`${kind}/${name}`)
    const placed = placedAs(kind, name)
    const expectation = known ?? {
      kind,
      name,
      namespace,
      home: livingHomeOf(plane.table, step),
      specs: new Set(placed === undefined ? [] : [placed]),
      unsettled: new Set(),
      mayExist: placed !== undefined,
      mustExist: placed !== undefined,
      unknownUntilMs: 0,
    }
    expectations.set(`${kind}/${name}`, expectation)
    return expectation
  }

  /** Notes what an answer to a write of `content` means for what must be there. */
  const noteWritten = (step: Step, reply: HttpResponse | undefined): void => {
    const expectation = expectationOf(step)
    const contents = storedAs(step, expectation)
    if (reply !== undefined && reply.status < 300) {
      const { metadata } = JSON.parse(String(reply.body)) as { readonly metadata: Metadata }
      expectation.specs.clear()
      for (const content of contents) expectation.specs.add(content)
      // One that was as it should be already was not written, and what is still under way may come behind it.
      if (world.nowMs() <= expectation.unknownUntilMs)
        for (const one of expectation.unsettled) expectation.specs.add(one)
      expectation.mayExist = true
      // What is applied to an object that is going goes with it.
      expectation.home = livingHomeOf(plane.table, step)
      const isHeld = expectation.home !== undefined || isContainer(step.kind)
      expectation.mustExist = metadata.deletionTimestamp === undefined && isHeld
      onAccepted({ ...step, uid: metadata.uid, generation: metadata.generation ?? 1 })
    } else if (isUnknown(reply)) {
      if (world.nowMs() > expectation.unknownUntilMs) expectation.unsettled.clear()
      for (const content of contents) {
        expectation.specs.add(content)
        expectation.unsettled.add(content)
      }
      expectation.mayExist = true
      expectation.unknownUntilMs = world.nowMs() + 10_000
    }
  }

  const apply = async (step: Step, how: string): Promise<HttpResponse | undefined> => {
    const reply = await plane.request(`PATCH ${pathOf(step)}?${how}`, manifestOf(step))
    noteWritten(step, reply)
    return reply
  }

  const acts: Readonly<Record<Step['act'], (step: Step) => Promise<HttpResponse | undefined>>> = {
    apply: (step) => apply(step, `fieldManager=${managerOf(step)}&force=true`),
    propose: (step) => apply(step, 'fieldManager=modest'),
    edit: (step) => change(step, (metadata) => metadata),
    restate: (step) =>
      change(step, (metadata) => ({
        ...metadata,
        annotations: { ...(metadata['annotations'] as JsonObject | undefined), remark: String(step.value) },
      })),
    recreate: async (step) => {
      const deleted = await plane.request(`DELETE ${pathOf(step)}`)
      const isUntouched = deleted !== undefined && deleted.status >= 400 && deleted.status < 500
      if (!isUntouched || deleted.status === 404) expectationOf(step).mustExist = false
      return acts.apply(step)
    },
    delete: async (step) => {
      const how = propagation === undefined ? '' : `?propagationPolicy=${propagation}`
      const reply = await plane.request(`DELETE ${pathOf(step)}${how}`)
      const expectation = expectationOf(step)
      const isGoing = reply !== undefined && (reply.status < 300 || reply.status === 404)
      if (isGoing || isUnknown(reply)) expectation.mustExist = false
      const mayBeMade = world.nowMs() <= expectation.unknownUntilMs
      if (isGoing && mayBeMade) for (const content of expectation.unsettled) expectation.specs.add(content)
      if (isGoing) await untilGone(step, uidIn(reply))
      if (isGoing && !mayBeMade) expectation.mayExist = false
      return reply
    },
    poke: async (step) => {
      const annotations = { 'setpoint.dev/reconcile-requested-at': String(step.value) }
      const reply = await plane.request(`PATCH ${pathOf(step)}`, { metadata: { annotations } })
      if (reply?.status === 422) report(`types: an annotation of ${step.kind} ${step.name} is refused`)
      return reply
    },
    remark: (step) => plane.request(`PATCH ${pathOf(step)}`, remarkOf(step)),
    pause: (step) => setPaused(step, 'true'),
    resume: (step) => untilTaken(() => setPaused(step, null)),
    mend,
    spoil: (step) => plane.request(`PATCH ${childPath(step)}`, { data: { value: 'spoilt' } }),
    strip: (step) => plane.request(`DELETE ${childPath(step)}`),
    tamper: ({ kind, name, size }) => {
      const deed = kind === 'Deed' ? plane.table.items.get(textOf(kind, name))?.object.metadata.uid : undefined
      if (deed !== undefined) registry.tamper(deed, size === 0 ? 'delete' : 'change')
      const uid = uidOfGadget(name)
      if (uid !== undefined && outside.entities.has(uid)) {
        tampered.add(uid)
        outside.tamper(uid, -1)
      }
      return noAnswer
    },
    give: async (step) => {
      const uid = uidOfGadget(step.to)
      return uid === undefined ? undefined : giveTo(step, uid)
    },
    bequeath: async (step) => {
      const uid = uidOfGadget(step.to)
      for (let i = 0; i < bequeathSecondsMax && uid !== undefined && uidOfGadget(step.to) === uid; i++)
        await world.sleep(1_000)
      return uid === undefined ? undefined : giveTo(step, uid)
    },
    intrude: async (step) => {
      const line = `PATCH ${pathOf(step)}?fieldManager=user&force=true`
      const reply = await plane.request(line, manifestOf({ ...step, value: -7 }), 'Bearer stolen')
      if (reply !== undefined && reply.status !== 401)
        report(`promise 11, strangers: a write without a credential was answered ${reply.status}`)
      return reply
    },
    ...createRuleActs({ ...options, freed }),
    ...createTieActs({ plane, disposed }),
    ...createMeddlingActs({
      ...options,
      expectations,
      meddled,
      noteDeleted: (step) => (expectationOf(step).mustExist = false),
    }),
  }

  async function change(step: Step, changed: (metadata: JsonObject) => JsonObject): Promise<HttpResponse | undefined> {
    const found = await plane.request(`GET ${pathOf(step)}`)
    if (found?.status !== 200) return found
    const object = JSON.parse(String(found.body)) as JsonObject & { readonly metadata: JsonObject }
    const metadata = changed(object.metadata)
    const reply = await plane.request(`PUT ${pathOf(step)}`, { ...object, metadata, ...contentOf(step) })
    noteWritten(step, reply)
    return reply
  }

  function uidOfGadget(name: string): string | undefined {
    return plane.table.items.get(textOf('Gadget', name))?.object.metadata.uid
  }

  async function giveTo(step: Step, uid: string): Promise<HttpResponse | undefined> {
    const metadata = {
      name: step.name,
      ownerReferences: [
        { apiVersion: `${simGroup}/v1`, kind: 'Gadget', name: step.to, uid, ...(controls && { controller: true }) },
      ],
    }
    const patched = await plane.request(`PATCH ${pathOf(step)}`, { metadata })
    const reply =
      patched?.status === 404
        ? await plane.request(`POST ${pathOf({ ...step, name: '' }).slice(0, -1)}`, { metadata, ...contentOf(step) })
        : patched
    noteOwner(step, uid, reply)
    return reply
  }

  function noteOwner({ name, to }: Step, uid: string, reply: HttpResponse | undefined): void {
    if (isUnknown(reply)) unsure.add(name)
    if (reply !== undefined && reply.status < 300) {
      const { metadata } = JSON.parse(String(reply.body)) as ApiObject
      if (metadata.ownerReferences?.[0]?.uid !== uid)
        report(`promise 8, owners: ConfigMap ${name} was given to ${to}, and the answer names another owner`)
      owners.set(name, uid)
    }
    if (unsure.has(name)) owners.delete(name)
  }

  /** As `kubectl delete` does: an object of the same name comes only after this one has gone. */
  async function untilGone({ kind, name, namespace }: Step, uid: string | undefined): Promise<void> {
    const present = (): string | undefined => plane.table.items.get(textOf(kind, name, namespace))?.object.metadata.uid
    // A write whose answer was lost may make another one.
    while (uid !== undefined && present() === uid) {
      await world.sleep(2_000)
      if (isContainer(kind)) await putInto(kind, name)
    }
  }

  /** Who does not know that it is being deleted puts something there. */
  async function putInto(container: KindName, namespace: string): Promise<void> {
    const step = { user: 0, act: 'apply', afterMs: 0, name: 'late', value: 1, mood: 'plain', to: '', size: 0 } as const
    const late: Step = { ...step, ...(container === 'Namespace' ? { kind: 'ConfigMap', namespace } : { kind: 'Tool' }) }
    await plane.request(`PATCH ${pathOf(late)}?fieldManager=user&force=true`, manifestOf(late))
  }

  async function live(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      await world.sleep(step.afterMs)
      const sinceMs = world.nowMs()
      const reply = await acts[step.act](step)
      onAnswered({ step, sinceMs, status: reply?.status, text: String(reply?.body ?? '') })
      world.note(
        `user${step.user} ${step.act} ${step.kind} ${step.name} ${step.value}: ${reply?.status ?? 'no answer'}`,
      )
    }
  }

  return {
    work: async (steps) => {
      await Promise.all([...Map.groupBy(steps, ({ user }) => user).values()].map(live))
    },
    runAll: async () => {
      const all = [...plane.table.items.values()].map(({ object }) => object)
      await Promise.all(all.filter(({ kind }) => kinds.includes(kind)).map(askToRun))
    },
    expectations,
    tampered,
    owners,
    freed,
    disposed,
    meddled,
  }

  function setPaused(step: Step, paused: 'true' | null): Promise<HttpResponse | undefined> {
    return plane.request(`PATCH ${pathOf(step)}`, { metadata: { annotations: { 'setpoint.dev/paused': paused } } })
  }

  async function untilTaken(request: () => Promise<HttpResponse | undefined>): Promise<HttpResponse | undefined> {
    for (;;) {
      const reply = await request()
      // What is full has no room for a word more.
      if (reply !== undefined && [200, 404, 413].includes(reply.status)) return reply
      await world.sleep(1_000)
    }
  }

  /** What is applied to an object that is going goes with it, and is applied again. */
  async function mend(step: Step): Promise<HttpResponse | undefined> {
    for (;;) {
      const reply = await untilTaken(() => acts.apply(step))
      if (reply === undefined || !isBeingDeleted(reply)) return reply
      await untilGone(step, uidIn(reply))
    }
  }

  async function askToRun({ kind, metadata: { name } }: ApiObject): Promise<void> {
    const path = pathOf({ kind: kind as KindName, name })
    const body = { metadata: { annotations: { 'setpoint.dev/reconcile-requested-at': 'once more' } } }
    await untilTaken(() => plane.request(`PATCH ${path}`, body))
  }
}

const kinds: readonly string[] = runKinds

const noAnswer: Promise<HttpResponse | undefined> = Promise.resolve<HttpResponse | undefined>(void 0)

interface Metadata {
  readonly uid: string
  readonly generation?: number
  readonly deletionTimestamp?: string
}

/** So long who gives something away may take between reading the new owner and naming it. */
const bequeathSecondsMax = 120

/** Of what is deleted: the object that is going, or what is told of one that is gone. */
function uidIn({ body }: HttpResponse): string | undefined {
  const { metadata, details } = JSON.parse(String(body)) as {
    readonly metadata?: Partial<Metadata>
    readonly details?: { readonly uid?: string }
  }
  return metadata?.uid ?? details?.uid
}

function isBeingDeleted({ body }: HttpResponse): boolean {
  const { metadata } = JSON.parse(String(body)) as { readonly metadata: Partial<Metadata> }
  return metadata.deletionTimestamp !== undefined
}

/** No answer, or one that does not say whether it was done. */
function isUnknown(reply: HttpResponse | undefined): boolean {
  return reply === undefined || reply.status >= 500 || reply.status === 429
}

/** The uid of that, unless it is going. */
export function livingHomeOf(
  { items }: SeenTable,
  { kind, namespace = 'default' }: Pick<Expectation, 'kind' | 'namespace'>,
): string | undefined {
  if (isContainer(kind)) return undefined
  const home = kind === 'Tool' ? textOf('Definition', toolDefinition.name) : textOf('Namespace', namespace)
  const { uid, deletionTimestamp } = items.get(home)?.object.metadata ?? {}
  return deletionTimestamp === undefined ? uid : undefined
}

/** Each version has its own manager, whose fields it has. */
function managerOf({ version }: Step): string {
  return version === undefined ? 'user' : `user-${version}`
}

/** How what a step writes is stored, as JSON. What an older version does not show stays as it was. */
function storedAs(step: Step, { specs, mayExist, mustExist }: Expectation): readonly string[] {
  const content = contentOf(step)
  if (step.kind === 'Pass') return [JSON.stringify({ spec: { value: step.value, tier: tierOf(step.value) } })]
  const before = mayExist ? [...specs].map((text) => (JSON.parse(text) as { readonly spec: JsonObject }).spec) : []
  if (step.kind === 'Tenant') return tenantStoredAs(step, content['spec'] as JsonObject, before)
  if (step.version === undefined) return [JSON.stringify(content)]
  const present = presentSpecOf(content['spec'] as JsonObject)
  const notes = before.map(({ note }) => note)
  if (!mustExist || notes.length === 0) notes.push(undefined)
  const kept = notes.map((note) => JSON.stringify({ spec: { ...present, ...(note === undefined ? {} : { note }) } }))
  return [...new Set(kept)]
}

/** Who applies without the ballast that an edit has put there leaves it to whoever did that. */
function tenantStoredAs({ act }: Step, spec: JsonObject, before: readonly JsonObject[]): readonly string[] {
  const kept = act === 'edit' || 'ballast' in spec ? [] : before.filter((one) => 'ballast' in one)
  const all = [spec, ...kept.map(({ ballast }) => ({ ...spec, ballast }))]
  return [...new Set(all.map((one) => JSON.stringify({ spec: one })))]
}
