/**
 * Annotations that speak to the engine. Whoever may write an object may set them, and a write of one always wakes the
 * object's controller, whatever its predicates say.
 */
const prefix = 'setpoint.dev/'

/** `"true"`: nothing is done for the object, clean-up included. */
export const pausedAnnotation = `${prefix}paused`

/** "Reconcile now": a new value runs the object; the value that was answered is in `status.lastHandledReconcileAt`. */
export const reconcileRequestAnnotation = `${prefix}reconcile-requested-at`

type Annotations = Readonly<Record<string, string>>

/** What the annotations say to the engine. */
export function controlAnnotations(annotations: Annotations = {}): Annotations {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => name.startsWith(prefix)))
}
