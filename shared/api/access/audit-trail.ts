import type { Attributes } from '../../model/access/rules.ts'
import { findChangedFields } from '../../model/changed-fields.ts'
import type { Json, JsonObject } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'
import { microTimestamp } from '../../model/time.ts'
import type { User } from '../../ports/authenticator.ts'
import type { HttpRequest, HttpResponse } from '../../ports/http-handler.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import type { Annotate } from '../../resources/policy-review.ts'
import type { PermitWrite } from '../../resources/resources.ts'
import type { ApiServices } from '../call.ts'
import { withHeader } from '../reply.ts'

/** What becomes known of a request while it is answered. */
export interface AuditNote {
  /** Whose token it is. */
  sender?: User
  /** In whose name it runs. */
  user?: User
  wanted?: Attributes
  allowed?: boolean
  reason?: string
  changed?: readonly string[]
  /** The name that the server has chosen, of what is created. */
  name?: string
  /** What policies and webhooks have to say. */
  annotations?: JsonObject
}

/**
 * Tells of each request who sent it, in whose name, what for, whether it was allowed and why, and which fields of the
 * object it changed: their names, and never what they hold.
 */
export function createAuditTrail({
  audit,
  clock,
  newAuditId,
}: Pick<ApiServices, 'audit' | 'clock' | 'newAuditId'>): AuditTrail | undefined {
  if (audit === undefined) return
  return {
    begin: (request) => {
      const note: AuditNote = {}
      const startMs = clock.nowMs()
      const auditID = idOf(request) ?? newAuditId?.()
      const end = (response: HttpResponse): HttpResponse => {
        const nowMs = clock.nowMs()
        const record: Record<string, Json> = { time: microTimestamp(nowMs) }
        if (auditID !== undefined) record['auditID'] = auditID
        tellNote(record, note, request)
        record['code'] = response.status
        record['latencyMs'] = Math.max(0, nowMs - startMs)
        audit(record)
        return auditID === undefined ? response : withHeader(response, 'audit-id', auditID)
      }
      return { note, end }
    },
  }
}

/** What the client, or another server ahead of this one, calls the request. */
function idOf(request: HttpRequest): string | undefined {
  const id = request.header('audit-id')
  return id !== undefined && /^[\x21-\x7e]{1,64}$/.test(id) ? id : undefined
}

export interface AuditTrail {
  /** `end` records the request, and gives the answer with the id of the record. */
  begin(request: HttpRequest): { readonly note: AuditNote; end(response: HttpResponse): HttpResponse }
}

/** The same permission, which notes what a write changes. */
export function notingChanges(permit: PermitWrite | undefined, note: AuditNote): PermitWrite {
  return (next, live) => {
    permit?.(next, live)
    note.name = next.metadata.name
    if (live !== undefined) note.changed = findChangedFields(contentOf(live), contentOf(next), fieldsMax)
  }
}

const fieldsMax = 20

const annotationsMax = 50
const annotationLengthMax = 1_000

/** Keeps what admission says, for the record; nothing of what a confidential kind may hold. */
export function annotating({ isConfidential }: ServedKind, note: AuditNote | undefined): Annotate | undefined {
  if (note === undefined || isConfidential === true) return undefined
  return (name, value) => {
    const known = (note.annotations ??= {})
    if (name in known || Object.keys(known).length < annotationsMax) known[name] = value.slice(0, annotationLengthMax)
  }
}

/** Without what the server keeps for itself. */
function contentOf({ metadata, ...content }: ApiObject): JsonObject {
  const { managedFields: _, generation: __, resourceVersion: ___, ...others } = metadata
  return { ...content, metadata: others }
}

/** Field by field: one object for each request, without those that say nothing. */
function tellNote(record: Record<string, Json>, note: AuditNote, request: HttpRequest): void {
  const { sender, user, wanted, allowed, reason, changed, annotations } = note
  if (sender !== undefined) record['user'] = whoIs(sender)
  if (sender !== undefined && user !== undefined && user !== sender) record['as'] = whoIs(user)
  if (wanted === undefined) {
    record['verb'] = request.method.toLowerCase()
    record['path'] = request.path.slice(0, textMax)
  } else tellTarget(record, wanted, note.name)
  record['decision'] = sender === undefined ? 'unknown' : allowed === true ? 'allow' : 'deny'
  if (reason !== undefined && reason !== '') record['reason'] = reason
  if (changed !== undefined) record['changed'] = [...changed]
  if (annotations !== undefined) record['annotations'] = annotations
  const agent = request.header('user-agent')
  if (agent !== undefined) record['agent'] = agent.slice(0, textMax)
}

const textMax = 500

/** The same of the same user, who asks again and again. */
function whoIs(user: User): JsonObject {
  const before = described.get(user)
  if (before !== undefined) return before
  const { name, groups, uid } = user
  const description = { name, groups: [...groups], ...(uid === undefined ? {} : { uid }) }
  described.set(user, description)
  return description
}

const described = new WeakMap<User, JsonObject>()

const placeParts = ['group', 'resource', 'subresource', 'namespace'] as const

function tellTarget(record: Record<string, Json>, wanted: Attributes, created = ''): void {
  record['verb'] = wanted.verb
  if (wanted.path !== undefined) {
    record['path'] = wanted.path
    return
  }
  for (const part of placeParts) if (wanted[part] !== '') record[part] = wanted[part]
  const name = wanted.name === '' ? created : wanted.name
  if (name !== '') record['name'] = name
}
