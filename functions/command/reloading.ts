/** What `setpoint dev` calls in the process of the control plane; not for people. */
export const reloading = 'start-reloading'

/** Stands in the URL of a module that is loaded again, with the number of the load: `kind.ts?setpoint=13`. */
export const markName = 'setpoint'

/** A text as people read it: `kind.ts?setpoint=13:6:2` would be line 13 to them. */
export function leaveMarksOut(text: string): string {
  return text.replaceAll(new RegExp(`\\?${markName}=\\d+`, 'g'), '')
}
