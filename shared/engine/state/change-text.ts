import type { AcceptedChange } from '../../model/engine-state.ts'

/** `changed by kubectl-edit (spec.size, spec.color)`. */
export function changeText({ verb, by, fields = [] }: AcceptedChange): string {
  return `${verb} by ${by}${fields.length === 0 ? '' : ` (${fields.join(', ')})`}`
}
