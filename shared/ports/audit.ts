/** Where the record of requests goes, and which requests it is about. */
export interface Audit {
  /** Asked ahead of the answer. Must not throw. */
  isRecorded(request: AuditedRequest): boolean
  /** Takes a record. Must not throw: a record that is lost is told by the log. */
  record(record: AuditRecord): void
}

/** What is known of a request before anybody has looked at it. */
export interface AuditedRequest {
  readonly method: string
  /** Percent-encoded, without the query. */
  readonly path: string
}

/** The record of a request that was answered. */
export interface AuditRecord {
  /** One line of JSON, without its end. It is made when it is written: many lines in a row take less time. */
  line(): string
}

/** `writes` are the requests by whose method something may change; `on` is all of them. */
export const auditScopes = ['off', 'writes', 'on'] as const
export type AuditScope = (typeof auditScopes)[number]

export function isAudited(scope: AuditScope, { method }: AuditedRequest): boolean {
  if (scope !== 'writes') return scope === 'on'
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
}
