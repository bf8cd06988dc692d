/**
 * What happens to a call instead of, or after, its work. `error`: it throws. `unknown`: it works, and throws
 * afterwards, like a write whose answer was lost. `lost`: it does nothing, and nobody is told, like a message that
 * never arrives; for calls without a result. `delay`: it works after so long. `crash`: the process ends here; nothing
 * of it ever goes on.
 */
export type Fault =
  | { readonly kind: 'error'; readonly error: Error }
  | { readonly kind: 'unknown'; readonly error: Error }
  | { readonly kind: 'lost' }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'crash' }

/** A call is named as in `calls`, and one that nobody can make is refused: it would never meet its fault. */
export interface Faults {
  /** The next call of this name, or the next one that `when` accepts, meets the fault. */
  once(call: string, fault: Fault, when?: (args: readonly unknown[]) => boolean): void
  /** Every call of this name meets it, until the returned function is called. */
  always(call: string, fault: Fault, when?: (args: readonly unknown[]) => boolean): () => void
  /** Forgets all that have not come. */
  clear(): void
}

interface Planned {
  readonly call: string
  readonly fault: Fault
  readonly when: (args: readonly unknown[]) => boolean
  readonly once: boolean
}

export interface PlannedFaults {
  readonly faults: Faults
  /** The fault that this call meets, which one that was planned once is gone with. */
  meet(call: string, args: readonly unknown[]): Fault | undefined
}

/** `check` throws for what is no call. */
export function planFaults(check: (call: string) => void): PlannedFaults {
  const planned = new Set<Planned>()
  const plan = (entry: Planned): Planned => {
    check(entry.call)
    planned.add(entry)
    return entry
  }
  return {
    faults: {
      once: (call, fault, when = () => true) => void plan({ call, fault, when, once: true }),
      always: (call, fault, when = () => true) => {
        const entry = plan({ call, fault, when, once: false })
        return () => planned.delete(entry)
      },
      clear: () => planned.clear(),
    },
    meet: (call, args) => {
      const met = [...planned].find((entry) => entry.call === call && entry.when(args))
      if (met?.once === true) planned.delete(met)
      return met?.fault
    },
  }
}
