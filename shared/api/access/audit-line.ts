import type { Decision } from '../../model/access/authorize.ts'
import { createQuestionMemory, type QuestionMemory } from '../../model/access/question-memory.ts'
import type { Attributes } from '../../model/access/rules.ts'
import type { JsonObject } from '../../model/json.ts'
import { microTimestamp } from '../../model/time.ts'
import type { AuditRecord } from '../../ports/audit.ts'
import type { User } from '../../ports/authenticator.ts'
import type { HttpRequest } from '../../ports/http-handler.ts'

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
  endMs = 0
  code = 0
  /** Whose token it is. */
  sender: User | undefined = undefined
  /** In whose name it runs. */
  user: User | undefined = undefined
  wanted: Attributes | undefined = undefined
  decision: Decision | undefined = undefined
  changed: readonly string[] | undefined = undefined
  /** The name that the server has chosen, of what is created. */
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

  line(): string {
    return lineOf(this)
  }
}

/**
 * Put together from few parts, of which what says who asks for what is remembered: to make an object and its text took
 * longer than to answer a request from memory.
 */
function lineOf(note: AuditNote): string {
  const { startMs, endMs, id, code, changed, annotations, agent } = note
  let line = endText(endMs)
  if (id !== undefined) line += `,"auditID":"${id}"`
  line += targetText(note) + nameText(note) + decisionText(note)
  if (changed !== undefined) line += `,"changed":${JSON.stringify(changed)}`
  if (annotations !== undefined) line += `,"annotations":${JSON.stringify(annotations)}`
  if (agent !== undefined) line += `,"agent":${quote(agent.slice(0, textMax))}`
  return `${line},"code":${code},"latencyMs":${Math.max(0, endMs - startMs)}}`
}

/** Many requests end in one millisecond. */
function endText(endMs: number): string {
  if (endMs !== lastEnd.endMs) lastEnd = { endMs, text: `{"time":"${microTimestamp(endMs)}"` }
  return lastEnd.text
}

let lastEnd = { endMs: Number.NaN, text: '' }

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

function nameText({ wanted, name: created }: AuditNote): string {
  if (wanted === undefined || wanted.path !== undefined) return ''
  const name = wanted.name === '' ? created : wanted.name
  return name === '' ? '' : `,"name":${quote(name)}`
}

function decisionText({ sender, decision }: AuditNote): string {
  if (sender === undefined) return ',"decision":"unknown"'
  if (decision === undefined) return ',"decision":"deny"'
  const before = decisionTexts.get(decision)
  if (before !== undefined) return before
  const { allowed, reason } = decision
  const text = partsText({ decision: allowed ? 'allow' : 'deny', reason: reason === '' ? undefined : reason })
  decisionTexts.set(decision, text)
  return text
}

/** Of those that are remembered. */
const decisionTexts = new WeakMap<Decision, string>()
