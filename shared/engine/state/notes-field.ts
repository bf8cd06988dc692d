import type { EngineState } from '../../model/stored-object.ts'

/** No field if nothing is noted: an object at rest has no trace of the engine. */
export function notesField(notes: EngineState['notes'] = {}): Pick<EngineState, 'notes'> {
  return Object.keys(notes).length === 0 ? {} : { notes }
}
