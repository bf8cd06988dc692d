import type { JsonObject } from '../model/json.ts'

/** Takes one record of a request that was answered. Must not throw: a record that is lost is told by the log. */
export type Audit = (record: JsonObject) => void
