import type { Decision } from '../../model/access/authorize.ts'
import { createQuestionMemory, type QuestionMemory } from '../../model/access/question-memory.ts'
import { RememberedDecision } from '../../model/access/remembered-decisions.ts'
import type { Attributes } from '../../model/access/rules.ts'
import { findChangedFields } from '../../model/changed-fields.ts'
import type { JsonObject } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'
import { microTimestamp } from '../../model/time.ts'
import type { AuditRecord } from '../../ports/audit.ts'
import type { User } from '../../ports/authenticator.ts'
import type { HttpRequest } from '../../ports/http-handler.ts'

/** An object as it was, and as a write makes it. Nothing changes either of them. */
interface Change {
  readonly live: ApiObject
  readonly next: ApiObject
}

/**
 * What becomes known of a request while it is answered. All is there from the start: fields that come cost time. A note
 * waits for its line to be written, and the request does not: what is kept is copied when memory is collected.
 */
export class AuditNote implements AuditRecord {
  readonly method: string
  readonly path: string
  readonly startMs: number
  /** What its record is called: nothing that JSON would escape. */
  readonly id: string | undefined
  /** How its line begins. */
  begin = ''
  latencyMs = 0
  code = 0
  /** Whose token it is. */
  sender: User | undefined = undefined
  /** In whose name it runs. */
  user: User | undefined = undefined
  wanted: Attributes | undefined = undefined
  decision: Decision | undefined = undefined
  /** A write of an object that was there. */
  change: Change | undefined = undefined
  /** Of the object: what was asked for, or what the server has chosen for what is created. */
  name = ''
  /** What policies and webhooks have to say. */
  annotations: JsonObject | undefined = undefined
  /** What the client calls itself. */
  readonly agent: string | undefined

  constructor(request: HttpRequest, startMs: number, id: string | undefined) {
    this.method = request.method
    this.path = request.path
    this.agent = request.header('user-agent')
    this.startMs = startMs
    this.id = id
  }

  want(wanted: Attributes): void {
    this.wanted = wanted
    if (wanted.path === undefined) this.name = wanted.name
  }

  end(endMs: number, code: number): void {
    this.begin = beginText(endMs)
    this.latencyMs = Math.max(0, endMs - this.startMs)
    this.code = code
  }

  line(): string {
    return lineOf(this)
  }
}

/**
 * Put together from few parts, of which nearly all are remembered: to make an object and its text took longer than to
 * answer a request from memory, and each part costs, since V8 joins them when the text is written.
 */
function lineOf(note: AuditNote): string {
  const { begin, id, name, code, change, annotations, agent, latencyMs } = note
  const { target, decision } = sayingOf(note)
  let line = id === undefined ? begin : `${begin},"auditID":"${id}"`
  line += name === '' ? target : `${target},"name":${quote(name)}`
  line += decision
  if (change !== undefined) line += `,"changed":${JSON.stringify(changedFields(change))}`
  if (annotations !== undefined) line += `,"annotations":${JSON.stringify(annotations)}`
  if (agent !== undefined) line += `,"agent":${quote(agent.slice(0, textMax))}`
  return line + endText(code, latencyMs)
}

/**
 * Their paths, and never what they hold. They are looked for with the line, many lines in a row: in the middle of a
 * write it took five times as long as in a loop, with the code for it out of the processor's caches.
 */
function changedFields({ live, next }: Change): readonly string[] {
  return findChangedFields(live, next, fieldsMax, ofServer)
}

const fieldsMax = 20
/** What the server keeps for itself. */
const ofServer = new Map([['metadata', new Set(['managedFields', 'generation', 'resourceVersion'])]])

/** Most requests take a few milliseconds, and have one of few codes. */
function endText(code: number, latencyMs: number): string {
  if (latencyMs >= shortMs) return makeEnd(code, latencyMs)
  const key = code * shortMs + latencyMs
  const before = shortEnds.get(key)
  if (before !== undefined) return before
  const text = makeEnd(code, latencyMs)
  shortEnds.set(key, text)
  return text
}

/** So that no more are kept than there are codes, times so many. */
const shortMs = 100
const shortEnds = new Map<number, string>()

function makeEnd(code: number, latencyMs: number): string {
  return `,"code":${code},"latencyMs":${latencyMs}}`
}

/** Many requests end in one millisecond. */
function beginText(endMs: number): string {
  if (endMs !== lastBegin.endMs) lastBegin = { endMs, text: `{"time":"${microTimestamp(endMs)}"` }
  return lastBegin.text
}

let lastBegin = { endMs: Number.NaN, text: '' }

/** What stands ahead of the name, and behind it: who asks for what, and what was decided. */
class Saying {
  readonly target: string
  readonly decision: string

  constructor(note: AuditNote) {
    this.target = targetText(note)
    this.decision = decisionText(note)
  }
}

/** Of the many requests that are decided from memory, it is remembered with the decision. */
function sayingOf(note: AuditNote): Saying {
  const { sender, user, decision } = note
  if (!(decision instanceof RememberedDecision) || sender !== user) return new Saying(note)
  if (decision.saying instanceof Saying) return decision.saying
  const saying = new Saying(note)
  decision.saying = saying
  return saying
}

const textMax = 500

/** As JSON has a text. What needs no escape is nearly all that comes here. */
function quote(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text)
}

const plain = /^[ !#-[\]-~]*$/

/** Who asks for what, but for its name. */
function targetText({ method, path, sender, user, wanted }: AuditNote): string {
  if (wanted === undefined || sender === undefined || user === undefined)
    return partsText({ ...whoAsks(sender, user), verb: method.toLowerCase(), path: path.slice(0, textMax) })
  if (sender !== user) return partsText({ ...whoAsks(sender, user), ...partsOf(wanted) })
  const memory = textsOf(user)
  const before = memory.find(wanted)
  if (before !== undefined) return before
  const text = partsText({ ...whoAsks(sender, user), ...partsOf(wanted) })
  memory.keep(wanted, text)
  return text
}

/** Of those who ask again and again. */
const knownTexts = new WeakMap<User, QuestionMemory<string>>()

function textsOf(user: User): QuestionMemory<string> {
  const before = knownTexts.get(user)
  if (before !== undefined) return before
  const memory = createQuestionMemory<string>()
  knownTexts.set(user, memory)
  return memory
}

/** As they stand in an object, which has others around them. */
function partsText(parts: object): string {
  return `,${JSON.stringify(parts).slice(1, -1)}`
}

function whoAsks(sender: User | undefined, user: User | undefined): object {
  const as = user === sender ? undefined : user
  return { user: sender && personOf(sender), as: as && personOf(as) }
}

function personOf({ name, groups, uid }: User): object {
  return { name, groups, uid }
}

/** Without those that say nothing. */
function partsOf(wanted: Attributes): object {
  if (wanted.path !== undefined) return wanted
  const { verb, group, resource, subresource, namespace } = wanted
  const said = Object.entries({ verb, group, resource, subresource, namespace }).filter(([, value]) => value !== '')
  return Object.fromEntries(said)
}

function decisionText({ sender, decision }: AuditNote): string {
  if (sender === undefined) return ',"decision":"unknown"'
  if (decision === undefined) return ',"decision":"deny"'
  const { allowed, reason } = decision
  if (reason === '') return allowed ? ',"decision":"allow"' : ',"decision":"deny"'
  return partsText({ decision: allowed ? 'allow' : 'deny', reason })
}
