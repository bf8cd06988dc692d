import { isObject, type Json, type JsonObject } from '../../../shared/model/json.ts'
import { canonicalJson } from '../../../shared/model/schema/canonical-json.ts'
import { isNothing, type Session, type Step } from './requests.ts'

/** What is compared of an answer: what clients act on. No words, no times, and no names that a server makes. */
export interface Answer {
  readonly status: number
  /** Of what was done, in any order. */
  readonly warnings?: readonly string[]
  readonly reason?: Json
  /** Which are refused, of kinds of the session's own. */
  readonly fields?: readonly string[]
  readonly object?: Json
}

/** An answer as it came. */
export interface Reply {
  readonly status: number
  readonly warning: string | undefined
  readonly body: unknown
}

/** As whom the requests come: managers that are named after the program are then the same. */
export const userAgent = 'oracle/1'

/** Sends the requests of a session one after the other. */
export async function play(session: Session, send: (step: Step) => Promise<Reply>): Promise<readonly Answer[]> {
  const versions = new Map<string, string>()
  const answers: Answer[] = []
  for (const step of session) {
    const [path = ''] = (step.line.split(' ')[1] ?? '').split('?')
    const reply = await send(withVersion(step, versions.get(path)))
    const { body } = reply
    if (isObject(body) && isObject(body['metadata'])) {
      const { name, resourceVersion } = body['metadata']
      const at = step.line.startsWith('POST ') ? `${path}/${String(name)}` : path
      if (!step.line.includes('dryRun') && typeof resourceVersion === 'string') versions.set(at, resourceVersion)
    }
    answers.push(step.line.startsWith('DELETE ') ? { status: reply.status } : answerOf(reply))
    if (reply.status >= 400 && session.indexOf(step) === 0) break
  }
  return answers
}

/** One that is not known is one that no object has. */
function withVersion(step: Step, last = '1'): Step {
  const { body } = step
  if (!isObject(body) || !isObject(body['metadata']) || body['metadata']['resourceVersion'] !== '$last') return step
  return { ...step, body: { ...body, metadata: { ...body['metadata'], resourceVersion: last } } }
}

function answerOf({ status, warning, body }: Reply): Answer {
  const told = {
    status,
    ...(warning !== undefined && status < 400 && { warnings: warning.replace(/^299 /, '').split(', 299 ').toSorted() }),
  }
  if (!isObject(body)) return told
  if (body['kind'] === 'CustomResourceDefinition' || body['kind'] === 'Namespace') return told
  if (body['kind'] !== 'Status') {
    const object = comparable(body)
    return { ...told, object: isOfGo(body) ? withoutEmpty(object) : object }
  }
  const { reason, details } = body
  const causes = isObject(details) && Array.isArray(details['causes']) ? details['causes'] : []
  const isOwn = isObject(details) && String(details['group']).endsWith('.example.dev')
  const fields = isOwn ? causes.filter(isObject).map((cause) => fieldOf(String(cause['field']))) : []
  return {
    ...told,
    ...(reason !== undefined && { reason }),
    ...(fields.length > 0 && { fields: [...new Set(fields)].toSorted() }),
  }
}

/** The whole of a list is at fault, or an item; a key of a map stands in brackets or behind a dot. */
function fieldOf(path: string): string {
  return path.replace(/\[\d+\]$/, '').replaceAll(/\[([a-z][\w/.-]*)\]/g, '.$1')
}

function comparable(value: Json): Json {
  if (Array.isArray(value)) return value.map(comparable)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, field]) => !theServersOwn.has(name) && !(name === 'continue' && field === ''))
      .map(([name, field]) => [name, name === 'managedFields' ? managersIn(field as Json) : comparable(field as Json)])
      .filter(([name, field]) => name !== 'managedFields' || (Array.isArray(field) && field.length > 0)),
  )
}

/** Kinds that are built in are types of Go on Kubernetes, for which nothing and no items are the same. */
function isOfGo({ apiVersion }: JsonObject): boolean {
  return !String(apiVersion).includes('.example.dev/')
}

/** But who manages what: there nothing is something. */
function withoutEmpty(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => (isObject(item) ? withoutEmpty(withoutTypes(item)) : item))
  if (!isObject(value)) return value
  const fields = Object.entries(value).map(
    ([name, field]) =>
      [name, name === 'managedFields' ? withoutDots(field as Json) : withoutEmpty(field as Json)] as const,
  )
  return Object.fromEntries(fields.filter(([, field]) => !isNothing(field)))
}

/** Go's types always have some of their maps, so that nobody has made them. */
function withoutDots(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutDots)
  if (!isObject(value)) return value
  const fields = Object.entries(value).filter(([name]) => name !== '.')
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutDots(field as Json)]))
}

/** Items of a list of Go's do not say of which kind they are. */
function withoutTypes({ apiVersion: _, kind: __, ...item }: JsonObject): JsonObject {
  return item
}

const theServersOwn = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'time',
  'selfLink',
  'remainingItemCount',
])

/** Who manages what, in an order that does not go by times, without those who manage nothing. */
function managersIn(fields: Json): Json {
  if (!Array.isArray(fields)) return fields
  const managers = fields
    .filter(isObject)
    .filter(({ fieldsV1 }) => isObject(fieldsV1) && Object.keys(fieldsV1).length > 0)
  const texts = managers.map(({ time: _, ...entry }) => canonicalJson(entry))
  return texts.toSorted().map((text) => JSON.parse(text) as Json)
}
