import { deepFreeze } from '../model/json.ts'
import { OperatingError } from '../model/errors.ts'
import { planFaults, type Faults } from './faults.ts'

/** Every call of a port passes here: counted, logged, and made to fail where a test wants it. */

export interface PortCall {
  /** For example `store.replace`. */
  readonly call: string
  readonly args: readonly unknown[]
  readonly atMs: number
}

export interface Observation {
  readonly calls: readonly PortCall[]
  readonly faults: Faults
  /** Calls that have begun and not ended, those of a crashed process left out. */
  countRunning(): number
  /** Those of them that a fault holds up for a time. */
  countDelayed(): number
  /** Runs work that counts as running until it ends. */
  busy<Result>(process: ProcessLife, work: () => Promise<Result>): Promise<Result>
  /** Within `busy`: waits for virtual time, and does not count as running meanwhile. */
  idle<Result>(process: ProcessLife, wait: () => Promise<Result>): Promise<Result>
  /**
   * A port of the same type, observed. Calls named in `waiting` wait for something to happen, and do not count as
   * running.
   */
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

export interface ObservationOptions {
  readonly nowMs: () => number
  readonly sleep: (ms: number) => Promise<void>
  /** Whether a port will be observed by this name: some engines make a queue when it is first used. */
  readonly isPort: (name: string) => boolean
}

export function createObservation({ nowMs, sleep, isPort }: ObservationOptions): Observation {
  const calls: PortCall[] = []
  const running = new Map<ProcessLife, number>()
  const ports = new Map<string, ObservedPort>()
  const { faults, meet } = planFaults((call) => checkCall(call, { ports, isPort }))
  let delayed = 0

  async function through<Result>(
    call: string,
    args: readonly unknown[],
    work: () => Promise<Result>,
    life: ProcessLife,
  ): Promise<Result> {
    if (life.crashed) return never()
    calls.push({ call, args, atMs: nowMs() })
    const fault = meet(call, args)
    if (fault?.kind === 'crash') life.onCrash()
    if (fault?.kind === 'error') throw fault.error
    if (fault?.kind === 'delay') {
      delayed++
      await sleep(fault.ms).finally(() => delayed--)
    }
    if (life.crashed) return never()
    // States are values that stores share: frozen, a change in place fails where it is made.
    const result = fault?.kind === 'lost' ? (undefined as Result) : deepFreeze(await work())
    if (life.crashed) return never()
    if (fault?.kind === 'unknown') throw fault.error
    return result
  }

  /** While the work goes on, one more, or one less, is running. */
  async function runCounted<Result>(by: 1 | -1, life: ProcessLife, work: () => Promise<Result>): Promise<Result> {
    const add = (count: number): void => void running.set(life, (running.get(life) ?? 0) + count)
    add(by)
    try {
      return await work()
    } finally {
      add(-by)
    }
  }

  const observe: Observation['observe'] = (name, port, life, waiting = []) => {
    ports.set(name, { port, waiting })
    return new Proxy(port, {
      get: (target, method, receiver) => {
        const value: unknown = Reflect.get(target, method, receiver)
        if (typeof value !== 'function' || typeof method !== 'string') return value
        const bound = value.bind(target) as (...args: unknown[]) => Promise<unknown>
        if (waiting.includes(method)) return bound
        return (...args: unknown[]) =>
          runCounted(1, life, () => through(`${name}.${method}`, args, () => bound(...args), life))
      },
    })
  }

  return {
    calls,
    faults,
    countDelayed: () => delayed,
    countRunning: () => [...running].reduce((sum, [life, count]) => sum + (life.crashed ? 0 : count), 0),
    busy: (life, work) => runCounted(1, life, work),
    idle: (life, wait) => runCounted(-1, life, wait),
    observe,
  }
}

interface ObservedPort {
  readonly port: object
  readonly waiting: readonly string[]
}

interface Known extends Pick<ObservationOptions, 'isPort'> {
  readonly ports: ReadonlyMap<string, ObservedPort>
}

/** Throws a TypeError for what is no call, or one that waits and passes nobody here. */
function checkCall(call: string, { ports, isPort }: Known): void {
  const at = call.lastIndexOf('.')
  const [name, method] = [call.slice(0, at), call.slice(at + 1)]
  const found = ports.get(name)
  if (found === undefined && isPort(name)) return
  if (found === undefined)
    throw new TypeError(
      `${call} is no call: the ports are ${[...ports.keys()].join(', ')}; write for example store.get`,
    )
  const isCalled = typeof (found.port as Readonly<Record<string, unknown>>)[method] === 'function'
  if (!isCalled || found.waiting.includes(method))
    throw new TypeError(`${call} is no call that can fail: see env.calls for those of ${name}`)
}

/** What a crashed process waits for. */
function never<Result>(): Promise<Result> {
  return new Promise(() => {})
}
