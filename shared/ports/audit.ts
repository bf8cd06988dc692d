/** The record of a request that was answered. */
export interface AuditRecord {
  /** One line of JSON, without its end. It is made when it is written: many lines in a row take less time. */
  line(): string
}

/** Takes a record. Must not throw: a record that is lost is told by the log. */
export type Audit = (record: AuditRecord) => void
