import type { StatusReport } from '../../model/apply/report-status.ts'
import type { Deadlines, Memory, NoteChanges, RunWindow } from '../../model/engine-state.ts'

/** What the next state depends on beside the object and the verdict. */
export interface TurnFacts {
  readonly nowMs: number
  /** Uniform in [0, 1), drawn once per turn. */
  readonly chance: number
  /** The generation that the turn is about. */
  readonly generation: number
  /** The kind keeps a status, and the controller reports it. */
  readonly showsStatus: boolean
}

/** The same for a run that has ended. */
export interface RunFacts extends TurnFacts {
  /** When the run began. Left out: now. */
  readonly begunMs?: number
  /** The request for a run that it began with. Left out: the one that there is. */
  readonly request?: string | undefined
  /** The time of a run that something else had asked for when this one began. */
  readonly wakeAtMs?: number | undefined
  /** How long the retry budget of all controllers makes a failure wait at least. */
  readonly retryDelayMs?: number | undefined
  /** The runs that count for the rate limit, this one included. */
  readonly window?: RunWindow | undefined
  /** The object is in a hot loop: no run before then. */
  readonly probeAtMs?: number | undefined
  /** What is expected now that the run has ended. */
  readonly expectations?: Deadlines
  /** What the run has changed of the notes and not kept yet. Left out: nothing. */
  readonly noteChanges?: NoteChanges
  /** Where in the memory values of Secrets are, now that the run has ended. Left out: as it was. */
  readonly secretPaths?: Memory['secretPaths']
  /** Who reports the status, and by which schema. Left out, nobody owns its fields. */
  readonly reporter?: Pick<StatusReport, 'manager' | 'schema'>
}
