import { OperatingError } from '../errors.ts'

/** All policies and webhooks of one request, whatever they are. */
export const admissionMsMax = 30_000

/** Steps of thirty nanoseconds, as expressions have them. */
const stepsMax = 1_300_000

/**
 * What all policies and webhooks of one request may take together, beside the steps of their expressions, however often
 * the request is tried because other writers are ahead.
 */
export class AdmissionBudget {
  #left = stepsMax
  #endMs: number | undefined
  #tries = 0

  /** The request is tried, perhaps again. */
  begin(): void {
    this.#tries++
  }

  /** When all webhooks have to be done, counted from the first question. */
  endFrom(nowMs: number): number {
    return (this.#endMs ??= nowMs + admissionMsMax)
  }

  /** Throws TOO_LARGE once there is nothing left; VERSION_CONFLICT if that is for other writers. */
  spend(steps: number): void {
    this.#left -= steps
    this.refuseIfSpent()
  }

  refuseIfSpent(): void {
    if (this.#left >= 0) return
    if (this.#tries > 1)
      throw new OperatingError('VERSION_CONFLICT', 'other writers were ahead while policies and webhooks were asked')
    throw new OperatingError(
      'TOO_LARGE',
      'the policies and webhooks that are asked about this request take more work than one request may have: write a smaller object, or have fewer of them asked',
    )
  }
}

/** What things cost, in steps. */
export const admissionCosts = {
  /** A question to a webhook, and its answer, without what they say. */
  call: 12_000,
  /** A policy through a binding, with one set of parameters. */
  binding: 500,
  /** Characters that are sent, for a step. */
  sent: 8,
  /** Characters that are received, for a step. */
  received: 2,
  /** Characters of an object that is patched, converted or looked through, for a step. */
  made: 2,
} as const

/** What something of so many characters costs. */
export function costOf(length: number, of: 'sent' | 'received' | 'made'): number {
  return Math.ceil(length / admissionCosts[of])
}
