import type { HttpRequest, HttpResponse } from '../../ports/http-handler.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import { annotationLengthMax, type Annotate } from '../../resources/policy-review.ts'
import type { PermitWrite } from '../../resources/resources.ts'
import type { ApiServices } from '../call.ts'
import { AuditNote } from './audit-line.ts'

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
    begin: (request) =>
      audit.isRecorded(request) ? new AuditNote(request, clock.nowMs(), idOf(request) ?? newAuditId?.()) : undefined,
    end: (note, response) => {
      const { id } = note
      const { status, headers, body } = response
      note.end(clock.nowMs(), status)
      audit.record(note)
      return id === undefined ? response : { status, headers: { ...headers, 'audit-id': id }, body }
    },
  }
}

/** What the client, or another server ahead of this one, calls the request. */
function idOf(request: HttpRequest): string | undefined {
  const id = request.header('audit-id')
  return id !== undefined && sendable.test(id) ? id : undefined
}

/** What stands in JSON as it is. */
const sendable = /^[!#-[\]-~]{1,64}$/

export interface AuditTrail {
  /** Undefined for a request that is not recorded. */
  begin(request: HttpRequest): AuditNote | undefined
  /** Records the request, and gives the answer with the id of the record. */
  end(note: AuditNote, response: HttpResponse): HttpResponse
}

/** The same permission, which notes what a write changes. */
export function notingChanges(permit: PermitWrite | undefined, note: AuditNote): PermitWrite {
  return (next, live) => {
    permit?.(next, live)
    if (note.name === '') note.name = next.metadata.name
    if (live !== undefined) note.change = { live, next }
  }
}

const annotationsMax = 50

/** Keeps what admission says, for the record; nothing of what a confidential kind may hold. */
export function annotating({ isConfidential }: ServedKind, note: AuditNote | undefined): Annotate | undefined {
  if (note === undefined || isConfidential === true) return undefined
  return (name, value) => {
    const known = (note.annotations ??= {})
    if (name in known || Object.keys(known).length < annotationsMax) known[name] = value.slice(0, annotationLengthMax)
  }
}
