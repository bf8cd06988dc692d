/**
 * Takes the record of a request that was answered: one line of JSON, without its end. Must not throw: a record that is
 * lost is told by the log.
 */
export type Audit = (line: string) => void
