import { url } from 'node:inspector'
import { OperatingError } from '../../model/errors.ts'
import type { Controller } from '../../reconciler/controller.ts'

/** A breakpoint of a day is long enough; timers cannot be set for much more than a week of it. */
const dayMs = 86_400_000

/**
 * Whether runs have all the time they want: where the setting says so, or a debugger is attached and the setting says
 * nothing. A run that stands at a breakpoint is not too slow. Throws BAD_REQUEST that names the setting.
 */
export function areTimeoutsOff(setting: string | undefined, debuggerUrl: string | undefined = url()): boolean {
  if (setting === undefined || setting === '') return debuggerUrl !== undefined
  if (setting === 'on' || setting === 'off') return setting === 'off'
  throw new OperatingError(
    'BAD_REQUEST',
    `SETPOINT_RUN_TIMEOUTS: ${JSON.stringify(setting)} is not known; give on or off`,
  )
}

/** The same controllers, whose runs may take a day. */
export function withoutTimeouts(controllers: readonly Controller[]): readonly Controller[] {
  return controllers.map((controller) => Object.freeze({ ...controller, timeoutMs: dayMs }))
}
