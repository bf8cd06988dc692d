import type { Decision } from '../../model/access/authorize.ts'
import type { Attributes } from '../../model/access/rules.ts'
import type { JsonObject } from '../../model/json.ts'
import { microTimestamp } from '../../model/time.ts'
import type { User } from '../../ports/authenticator.ts'
import type { HttpRequest } from '../../ports/http-handler.ts'

/** What becomes known of a request while it is answered. */
export interface AuditNote {
  /** Whose token it is. */
  sender?: User
  /** In whose name it runs. */
  user?: User
  wanted?: Attributes
  decision?: Decision
  changed?: readonly string[]
  /** The name that the server has chosen, of what is created. */
  name?: string
  /** What policies and webhooks have to say. */
  annotations?: JsonObject
}

/** When a request was answered, and how. */
interface Answered {
  readonly request: HttpRequest
  readonly id: string | undefined
  readonly nowMs: number
  readonly code: number
  readonly latencyMs: number
}

/**
 * One line of JSON. Its text is put together from parts, of which those of a user and of a decision are remembered: to
 * make an object and its text took longer than to answer a request from memory.
 */
export function auditLine(note: AuditNote, { request, id, nowMs, code, latencyMs }: Answered): string {
  const { changed, annotations } = note
  let line = `{"time":"${microTimestamp(nowMs)}"`
  if (id !== undefined) line += `,"auditID":${quote(id)}`
  line += whoText(note) + targetText(note, request) + decisionText(note)
  if (changed !== undefined) line += `,"changed":${JSON.stringify(changed)}`
  if (annotations !== undefined) line += `,"annotations":${JSON.stringify(annotations)}`
  const agent = request.header('user-agent')
  if (agent !== undefined) line += `,"agent":${quote(agent.slice(0, textMax))}`
  return `${line},"code":${code},"latencyMs":${latencyMs}}`
}

const textMax = 500

/** As JSON has a text. What needs no escape is nearly all that comes here. */
function quote(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text)
}

const plain = /^[ !#-[\]-~]*$/

function whoText({ sender, user }: AuditNote): string {
  if (sender === undefined) return ''
  const who = `,"user":${userText(sender)}`
  return user === undefined || user === sender ? who : `${who},"as":${userText(user)}`
}

/** The same of the same user, who asks again and again. */
function userText(user: User): string {
  const before = userTexts.get(user)
  if (before !== undefined) return before
  const { name, groups, uid } = user
  const text = JSON.stringify({ name, groups, uid })
  userTexts.set(user, text)
  return text
}

const userTexts = new WeakMap<User, string>()

function targetText({ wanted, name: created = '' }: AuditNote, request: HttpRequest): string {
  if (wanted === undefined)
    return `,"verb":${quote(request.method.toLowerCase())},"path":${quote(request.path.slice(0, textMax))}`
  const verb = `,"verb":${quote(wanted.verb)}`
  if (wanted.path !== undefined) return `${verb},"path":${quote(wanted.path)}`
  const { group, resource, subresource, namespace } = wanted
  return (
    verb +
    part('group', group) +
    part('resource', resource) +
    part('subresource', subresource) +
    part('namespace', namespace) +
    part('name', wanted.name === '' ? created : wanted.name)
  )
}

function part(name: string, value: string): string {
  return value === '' ? '' : `,"${name}":${quote(value)}`
}

function decisionText({ sender, decision }: AuditNote): string {
  if (sender === undefined) return ',"decision":"unknown"'
  if (decision === undefined) return ',"decision":"deny"'
  const before = decisionTexts.get(decision)
  if (before !== undefined) return before
  const text = `,"decision":"${decision.allowed ? 'allow' : 'deny'}"${part('reason', decision.reason)}`
  decisionTexts.set(decision, text)
  return text
}

/** Of those that are remembered. */
const decisionTexts = new WeakMap<Decision, string>()
