import { attemptsOf, type Deadlines } from '../../model/engine-state.ts'
import type { ApiObject } from '../../model/object.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { AssumedRole, Context, Outside, OutsideVerb } from '../../reconciler/context.ts'
import type { Controller } from '../../reconciler/controller.ts'
import type { Allowances } from '../../ports/allowances.ts'
import type { RoleCredentials } from '../../ports/roles.ts'
import type { Logger } from '../../ports/logger.ts'
import { toldMs } from '../../reconciler/given-duration.ts'
import type { SecretSource, SecretTarget } from '../../reconciler/secret-source.ts'
import type { RecordedEvent } from '../insight/event-recorder.ts'
import type { ObservedRun } from '../insight/run-observer.ts'
import { assumeRole } from './assume-role.ts'
import { ContextCalls } from './context-calls.ts'
import type { EngineOptions } from './engine-options.ts'
import { Expectations } from './expectations.ts'
import { RunNotes } from './notes.ts'
import { createOnce } from './once.ts'
import type { RunMemory } from './run-memory.ts'
import type { RunTime } from './run-times.ts'
import { keepInVault, readSecretSource, removeFromVault, type UsingVault } from './use-vault.ts'
import { RunVerbs } from './run-verbs.ts'

export interface ContextOptions {
  readonly controller: Controller
  /** The object that is reconciled, as its author gets it. */
  readonly object: ApiObject
  readonly stored: StoredObject
  readonly engine: EngineOptions
  readonly seen: ObservedRun
  readonly time: RunTime
  readonly memory: RunMemory
}

/**
 * The context of one run, and what the run leaves in it. Made for every run, so that it is small: what most runs do not
 * ask for is made when somebody asks. Verbs are fields, so that an author may take them out of the context.
 */
export class RunContext implements Context {
  readonly #run: ContextOptions
  readonly #calls: ContextCalls
  readonly #verbs: RunVerbs
  #expectations: Map<string, number> | undefined
  #once: Context['once'] | undefined
  declare readonly signal: AbortSignal
  declare readonly expectations: Map<string, number>
  readonly deadlineMs: number
  readonly attempt: number
  readonly removed = false
  readonly notes: RunNotes
  readonly outside: Outside
  readonly log: Logger

  constructor(run: ContextOptions, calls = new ContextCalls()) {
    const { controller, object, stored, engine, seen, time, memory } = run
    this.#run = run
    this.#calls = calls
    this.#verbs = new RunVerbs({ manager: controller.name, rights: controller.rights, object, engine, seen, time })
    this.deadlineMs = time.deadlineMs
    this.attempt = attemptsOf(stored.engine, object.metadata.generation)
    this.notes = new RunNotes(memory, time, this.#calls)
    this.outside = new RunOutside(run, this, this.#calls)
    this.log = seen.logger
    Object.defineProperties(this, RunContext.#madeWhenAsked)
  }

  /** Fields of the context itself, so that an author's copy of it, as by `{ ...ctx }`, has them. */
  static readonly #madeWhenAsked = {
    signal: {
      enumerable: true,
      get(this: RunContext): AbortSignal {
        return this.#run.time.signal
      },
    },
    expectations: {
      enumerable: true,
      get(this: RunContext): Map<string, number> {
        return (this.#expectations ??= new Expectations(this.#run.stored.engine.memory?.expectations ?? {}, (name) =>
          this.#maskName(name),
        ))
      },
    },
  }

  /** The same run's, in the name of another object and its controller. */
  about(whose: Whose): Context {
    return new RunContext({ ...this.#run, ...whose }, this.#calls)
  }

  /** The name of a call that the run has not waited for. */
  findForgotten(): string | undefined {
    return this.#calls.findForgotten()
  }

  /** The end of what the run has begun and not waited for, and what may change something. */
  endOfActing(): Promise<unknown> | undefined {
    return this.#calls.endOfActing()
  }

  /** What is expected now. A name from before the run met the Secret whose value it holds is told by another one. */
  expected(): Deadlines {
    if (this.#expectations === undefined) return this.#run.stored.engine.memory?.expectations ?? {}
    return Object.fromEntries([...this.#expectations].map(([name, untilMs]) => [this.#maskName(name), untilMs]))
  }

  #maskName(name: string): string {
    return this.#run.seen.secrets?.maskName(name) ?? name
  }

  readonly now: Context['now'] = () => this.#run.engine.clock.nowMs()
  readonly sleep: Context['sleep'] = (duration) =>
    this.#run.engine.clock.sleep(toldMs('ctx.sleep', duration), this.signal)
  readonly event: Context['event'] = (type, reason, message) => record(this.#run, { type, reason, message })
  readonly once: Context['once'] = (key, effect, options) => {
    this.#once ??= createOnce(this.#run.memory, this.#run.time)
    return this.#calls.track('once', this.#once(key, effect, options))
  }

  readonly outcomeOf: Context['outcomeOf'] = (object) => this.#verbs.outcomeOf(object)
  readonly get: Context['get'] = (kind, at, options) => this.#calls.track('get', this.#verbs.get(kind, at, options))
  readonly list: Context['list'] = (kind, options) => this.#calls.track('list', this.#verbs.list(kind, options))
  readonly children: Context['children'] = (kind) => this.#calls.track('children', this.#verbs.children(kind))
  readonly apply: Context['apply'] = (kind, applied, options) =>
    this.#calls.track('apply', this.#verbs.apply(kind, applied, options))

  readonly create: Context['create'] = (kind, applied, options) =>
    this.#calls.track('create', this.#verbs.create(kind, applied, options))

  readonly patch: Context['patch'] = (kind, at, body, options) =>
    this.#calls.track('patch', this.#verbs.patch(kind, at, body, options))

  readonly delete: Context['delete'] = (kind, at) => this.#calls.track('delete', this.#verbs.delete(kind, at))
}

export type Whose = Pick<ContextOptions, 'controller' | 'object'>

/** For what a run does in the name of another object than the one that is reconciled. */
export function contextAbout(context: Context, whose: Whose): Context {
  return context instanceof RunContext ? context.about(whose) : context
}

function concealEvent(event: RecordedEvent, { secrets }: ObservedRun): RecordedEvent {
  if (secrets === undefined) return event
  return { ...event, reason: secrets.maskName(event.reason), message: secrets.mask(event.message) }
}

async function record(
  { controller, object, engine, seen }: ContextOptions,
  event: Omit<RecordedEvent, 'component'>,
): Promise<void> {
  await engine.events.record(object, concealEvent({ ...event, component: controller.name }, seen))
}

/** What a run tells of its doings outside. */
class RunOutside implements Outside {
  readonly #run: ContextOptions
  readonly #verbs: Pick<Context, 'get'>
  readonly #calls: ContextCalls
  declare readonly allowances?: Allowances

  constructor(run: ContextOptions, verbs: Pick<Context, 'get'>, calls: ContextCalls) {
    this.#run = run
    this.#verbs = verbs
    this.#calls = calls
    if (run.engine.allowances !== undefined) this.allowances = run.engine.allowances
  }

  assumeRole(role?: AssumedRole): Promise<RoleCredentials> {
    return this.#calls.track('outside.assumeRole', this.#assumeRole(role))
  }

  async #assumeRole(role: AssumedRole | undefined): Promise<RoleCredentials> {
    const { time, seen } = this.#run
    time.signal.throwIfAborted()
    const credentials = await assumeRole(role, this.#run)
    const { secretAccessKey, sessionToken } = credentials
    seen.noteSecret({ stringData: { secretAccessKey, sessionToken } })
    return credentials
  }

  readSecret(source: SecretSource): Promise<string> {
    return this.#calls.track('outside.readSecret', readSecretSource(source, this.#beginUse()))
  }

  keepSecret(target: SecretTarget, data: Readonly<Record<string, string>>): Promise<void> {
    return this.#calls.track('outside.keepSecret', keepInVault(target, data, this.#beginUse()))
  }

  removeSecret(target: SecretTarget): Promise<void> {
    return this.#calls.track('outside.removeSecret', removeFromVault(target, this.#beginUse()))
  }

  #beginUse(): UsingVault {
    this.#run.time.signal.throwIfAborted()
    return { ...this.#run, get: this.#verbs.get }
  }

  recordCall(verb: OutsideVerb, result: 'success' | 'error'): void {
    this.#run.seen.outside.recordCall(verb, result)
  }

  async recordDrift(message: string): Promise<void> {
    const { seen } = this.#run
    seen.outside.recordDrift()
    seen.logger.info('drift corrected', { outside: message })
    await record(this.#run, { type: 'Normal', reason: 'DriftCorrected', message })
  }

  conceal(text: string): string {
    return this.#run.seen.secrets?.mask(text) ?? text
  }
}
