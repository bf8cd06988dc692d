import type { ApiObject, JsonObject } from '../../../shared/index.ts'
import { isOfRemovedKind } from '../../../shared/model/removed-kind.ts'
import type { RemovedRecord } from '../../../shared/engine/state/removed-record.ts'
import type { TableWrite } from '../plane.ts'
import { textOf } from '../addresses.ts'
import { presentTenantSpecOf, receiptOf } from '../kinds/tenant.ts'
import type { Run, TenantStep } from '../runs.ts'
import { isClear, isFenceTried, isPoisoned, type Checker, type Scene } from './checker.ts'

/** A Tenant that was removed, as it was last. */
interface Gone {
  readonly name: string
  readonly value: number
  readonly size: number
  readonly generation: number
}

/**
 * Every removed object gets its last run, with its last state, until one is done; or an event says why it gets none.
 * What its tries note and do once is theirs alone: no other object of that name has it, nor did it have it alive. What
 * was to stay stays. A removal that is told once more, of an object that was seen off, begins all of this anew.
 */
export function createLastRuns(scene: Scene): Checker {
  const { scenario, table, report } = scene
  const isTold = isClear(scenario) && !isFenceTried(scenario) && !isPoisoned(scenario)
  // The stream, or the log, forgets old changes. So a removal may be forgotten before the engine is told of it.
  const isTrimmed = scenario.climate.streamRetriesMax < 100 || scenario.local?.retainedCharacters !== undefined
  const gone = new Map<string, Gone>()
  const seenOff = new Set<string>()
  const lost = new Set<string>()
  const left = new Set<string>()
  const billed = new Set<string>()
  const tries = createTries(scene, (uid) => void billed.add(uid))

  const noteRecord = ({ type, before, after }: TableWrite): void => {
    const had = before === undefined ? [] : uidsIn(before.object)
    const has = type === 'removed' ? [] : uidsIn(after.object)
    for (const uid of [...had, ...has]) if (had.includes(uid) !== has.includes(uid)) tries.forget(uid)
  }

  const noteEvent = (event: ApiObject): void => {
    const { reason, involvedObject } = event as ApiObject & { reason: string; involvedObject: { uid: string } }
    if (reason === 'LastRunLost') lost.add(involvedObject.uid)
    if (reason === 'Left') left.add(involvedObject.uid)
  }

  const lookAtRun = ({ uid, name, spec, generation }: Run): void => {
    const was = gone.get(uid)
    const { value } = presentTenantSpecOf(spec as JsonObject)
    if (was === undefined) report(`last runs: Tenant ${name} (${uid}) is there and has its last run`)
    else if (was.value !== value || was.generation !== generation)
      report(
        `last runs: Tenant ${name} was ${was.value} of ${was.generation}, its last run has ${value} of ${generation}`,
      )
    if (isTold && seenOff.has(uid))
      report(`last runs: the last run of Tenant ${name} (${uid}) comes again, though it was done`)
  }

  return {
    write: (write) => {
      const { object } = write.after
      if (object.kind === 'Event') noteEvent(object)
      if (object.kind !== 'Tenant') return
      if (isOfRemovedKind(object)) noteRecord(write)
      else if (write.type === 'removed') gone.set(object.metadata.uid, goneOf(object))
    },
    tenant: tries.step,
    runBegins: (run) => {
      if (run.kind === 'Tenant' && run.phase === 'cleanup') lookAtRun(run)
    },
    runEnds: ({ kind, uid, phase }, how) => {
      if (kind !== 'Tenant') return
      if (isTold) tries.keep({ uid, isLast: phase === 'cleanup' })
      if (phase === 'cleanup' && how === 'done') seenOff.add(uid)
    },
    unmet: () =>
      [...gone].flatMap(([uid, { name }]) => {
        const what = `last runs: Tenant ${name} (${uid})`
        if (!seenOff.has(uid)) return isTrimmed || isLost(uid, name) ? [] : [`${what} was removed and not seen off`]
        return [
          ...(billed.has(uid) ? [] : [`${what} was never billed`]),
          ...(isTold && !left.has(uid) ? [`${what} has left, and no event says so`] : []),
          ...(hasReceipt(uid) ? [] : [`${what} has left, and what was to stay has not stayed`]),
        ]
      }),
  }

  /** There was no room for it beside others of that name. An event is lost where something goes wrong. */
  function isLost(uid: string, name: string): boolean {
    const all = [...gone.values()].filter((one) => one.name === name)
    return (lost.has(uid) || !isTold) && all.reduce((sum, { size }) => sum + size, 0) > roomMin
  }

  function hasReceipt(uid: string): boolean {
    const receipt = table.items.get(textOf('ConfigMap', receiptOf(uid)))?.object
    const { value } = (receipt?.['data'] ?? {}) as { readonly value?: string }
    const isFree = receipt?.metadata.ownerReferences === undefined
    return isFree && value === String(gone.get(uid)?.value) && table.items.has(textOf('ConfigMap', `key-${uid}`))
  }
}

type Part = Pick<TenantStep, 'uid' | 'isLast'>

function partOf({ uid, isLast }: Part): string {
  return `${uid} ${isLast ? 'gone' : 'alive'}`
}

/** What the runs of Tenants are told and do, each alive and gone. */
function createTries({ scenario, report }: Scene, onBilled: (uid: string) => void) {
  /** By uid and part of a life: what must be told of, at least, and what its last try has noted. */
  const kept = new Map<string, number>()
  const noted = new Map<string, number>()
  const begun = new Set<string>()
  const ended = new Set<string>()
  const expecting = new Set<string>()

  const forget = (uid: string): void => {
    const part = partOf({ uid, isLast: true })
    for (const known of [kept, noted, begun, ended]) known.delete(part)
    expecting.delete(uid)
  }

  const lookAtNote = (step: TenantStep): void => {
    const { uid, name, isLast, told } = step
    const part = partOf(step)
    const { of, isLast: isOfLast, tries = 0 } = (told ?? {}) as { of?: string; isLast?: boolean; tries?: number }
    if (told !== undefined && (of !== uid || isOfLast !== isLast))
      report(`last runs: a run of Tenant ${name} (${part}) is told a note that is not its own: ${JSON.stringify(told)}`)
    if (tries < (kept.get(part) ?? 0) && !isFenceTried(scenario))
      report(`last runs: a run of Tenant ${name} (${part}) is told ${tries}, and ${kept.get(part)} was noted`)
    noted.set(part, tries + 1)
  }

  const lookAtBill = (step: TenantStep): void => {
    const { uid, name, isTold: mayHaveHappened } = step
    const part = partOf(step)
    if (step.isLast) onBilled(uid)
    if (ended.has(part) && !isFenceTried(scenario)) report(`last runs: Tenant ${name} (${part}) is billed once more`)
    else if (begun.has(part) && mayHaveHappened !== true && !isFenceTried(scenario))
      report(`last runs: Tenant ${name} (${part}) may have been billed, and is billed without a word`)
    begun.add(part)
  }

  const steps: Readonly<Record<TenantStep['what'], (step: TenantStep) => void>> = {
    told: lookAtNote,
    kept: (step) => void kept.set(partOf(step), step.tries ?? 0),
    billed: lookAtBill,
    'has bill': (step) => {
      if (step.told !== step.uid)
        report(`last runs: Tenant ${step.name} (${partOf(step)}) has the bill of ${String(step.told)}`)
      ended.add(partOf(step))
    },
    'child taken': ({ name }) => report(`last runs: Tenant ${name} is gone, and is given a child`),
    expects: ({ uid, name, told }) => {
      if (told === true && !expecting.has(uid))
        report(`last runs: the last run of Tenant ${name} (${uid}) expects what it never said it does`)
      expecting.add(uid)
    },
  }

  return {
    step: (step: TenantStep): void => steps[step.what](step),
    forget,
    /** Nothing goes wrong: what the run that has ended noted must be told. */
    keep: (of: Part): void => {
      const tries = noted.get(partOf(of))
      if (tries !== undefined) kept.set(partOf(of), tries)
    },
  }
}

/** Up to 390 KB of last states wait under one name. */
const roomMin = 380_000

function goneOf(object: ApiObject): Gone {
  const { name, generation } = object.metadata
  const size = JSON.stringify(object).length
  return { name, size, generation, value: presentTenantSpecOf(object.spec ?? {}).value }
}

function uidsIn(record: ApiObject): readonly string[] {
  return (record as RemovedRecord).removed.map(({ metadata }) => metadata.uid)
}
