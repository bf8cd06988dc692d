/** What the engine writes into every status, beside what a reconciler reports. */
export const engineStatusFields = ['conditions', 'observedGeneration', 'lastHandledReconcileAt'] as const

/** The part of a status, or of the properties of its schema, that a reconciler reports. */
export function reportedPart<Value>(status: Readonly<Record<string, Value>>): Record<string, Value> {
  const { conditions: _, observedGeneration: __, lastHandledReconcileAt: ___, ...reported } = status
  return reported
}
