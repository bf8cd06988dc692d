import { OperatingError } from '../../model/errors.ts'

/** The process stops, which is no failure of the object: the queue hands the turn out again. */
export function giveUpError(): OperatingError {
  return new OperatingError('UNAVAILABLE', 'the process is stopping; the run is aborted and repeated')
}
