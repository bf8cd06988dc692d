import { OperatingError } from '../model/errors.ts'

/** Every call of a port passes here: counted, logged, and made to fail where a test wants it. */

export interface PortCall {
  /** For example `store.replace`. */
  readonly call: string
  readonly args: readonly unknown[]
  readonly atMs: number
}

/**
 * What happens to a call instead of, or after, its work. `error`: it throws. `unknown`: it works, and throws afterwards, like a
 * write whose answer was lost. `lost`: it does nothing, and nobody is told, like a message that never arrives; for calls without
 * a result. `delay`: it works after so long. `crash`: the process ends here; nothing of it ever goes on.
 */
export type Fault =
  | { readonly kind: 'error'; readonly error: Error }
  | { readonly kind: 'unknown'; readonly error: Error }
  | { readonly kind: 'lost' }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'crash' }

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

export interface Observation {
  readonly calls: readonly PortCall[]
  readonly faults: Faults
  /** Calls that have begun and not ended, those of a crashed process left out. */
  running(): number
  /** Runs work that counts as running until it ends. */
  busy<Result>(process: ProcessLife, work: () => Promise<Result>): Promise<Result>
  /** Within `busy`: waits for virtual time, and does not count as running meanwhile. */
  idle<Result>(process: ProcessLife, wait: () => Promise<Result>): Promise<Result>
  /** A port of the same type, observed. Calls named in `waiting` wait for something to happen, and do not count as running. */
  observe<Port extends object>(name: string, port: Port, process: ProcessLife, waiting?: readonly string[]): Port
}

/** One life of the control plane: after a crash its calls never end. */
export interface ProcessLife {
  readonly crashed: boolean
  /** Rejects, UNAVAILABLE, when the life ends. */
  readonly ended: Promise<never>
  onCrash(): void
  end(): void
}

export function createLife(onCrash: () => void): ProcessLife {
  const { promise, reject } = Promise.withResolvers<never>()
  // Most lives end with nobody waiting for an answer.
  promise.catch(() => {})
  let crashed = false
  return {
    get crashed() {
      return crashed
    },
    ended: promise,
    onCrash,
    end: () => {
      crashed = true
      reject(new OperatingError('UNAVAILABLE', 'the process has crashed; what became of the request is not known'))
    },
  }
}

export function createObservation(nowMs: () => number, sleep: (ms: number) => Promise<void>): Observation {
  const calls: PortCall[] = []
  const planned = new Set<Planned>()
  const running = new Map<ProcessLife, number>()

  const plan = (
    call: string,
    fault: Fault,
    how: { readonly when?: Planned['when'] | undefined; readonly once: boolean },
  ): Planned => {
    const entry = { call, fault, when: how.when ?? (() => true), once: how.once }
    planned.add(entry)
    return entry
  }

  const faultFor = (call: string, args: readonly unknown[]): Fault | undefined => {
    for (const entry of planned) {
      if (entry.call !== call || !entry.when(args)) continue
      if (entry.once) planned.delete(entry)
      return entry.fault
    }
    return undefined
  }

  async function through<Result>(
    call: string,
    args: readonly unknown[],
    work: () => Promise<Result>,
    life: ProcessLife,
  ): Promise<Result> {
    if (life.crashed) return never()
    calls.push({ call, args, atMs: nowMs() })
    const fault = faultFor(call, args)
    if (fault?.kind === 'crash') life.onCrash()
    if (fault?.kind === 'error') throw fault.error
    if (fault?.kind === 'delay') await sleep(fault.ms)
    if (life.crashed) return never()
    const result = fault?.kind === 'lost' ? (undefined as Result) : await work()
    if (life.crashed) return never()
    if (fault?.kind === 'unknown') throw fault.error
    return result
  }

  const add = (life: ProcessLife, by: 1 | -1): void => void running.set(life, (running.get(life) ?? 0) + by)

  async function counted<Result>(life: ProcessLife, work: () => Promise<Result>): Promise<Result> {
    add(life, 1)
    try {
      return await work()
    } finally {
      add(life, -1)
    }
  }

  async function idle<Result>(life: ProcessLife, wait: () => Promise<Result>): Promise<Result> {
    add(life, -1)
    try {
      return await wait()
    } finally {
      add(life, 1)
    }
  }

  const observe: Observation['observe'] = (name, port, life, waiting = []) =>
    new Proxy(port, {
      get: (target, method, receiver) => {
        const value: unknown = Reflect.get(target, method, receiver)
        if (typeof value !== 'function' || typeof method !== 'string') return value
        const bound = value.bind(target) as (...args: unknown[]) => Promise<unknown>
        if (waiting.includes(method)) return bound
        return (...args: unknown[]) =>
          counted(life, () => through(`${name}.${method}`, args, () => bound(...args), life))
      },
    })

  return {
    calls,
    faults: {
      once: (call, fault, when) => void plan(call, fault, { when, once: true }),
      always: (call, fault, when) => {
        const entry = plan(call, fault, { when, once: false })
        return () => planned.delete(entry)
      },
      clear: () => planned.clear(),
    },
    running: () => [...running].reduce((sum, [life, count]) => sum + (life.crashed ? 0 : count), 0),
    busy: counted,
    idle,
    observe,
  }
}

/** What a crashed process waits for. */
function never<Result>(): Promise<Result> {
  return new Promise(() => {})
}
