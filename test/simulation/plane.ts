import type { Controller } from '../../shared/reconciler/controller.ts'
import type { StoredObject, Touched } from '../../shared/model/stored-object.ts'
import type { Change } from '../../shared/ports/change-feed.ts'
import type { HttpResponse } from '../../shared/ports/http-handler.ts'
import type { Webhooks } from '../../shared/ports/webhooks.ts'
import type { Life, Network } from './life.ts'
import type { Scenario } from './scenario.ts'
import type { World } from './world.ts'

/** A control plane that a simulation works with: on simulated AWS, or as the one process of the local engine. */
export interface Plane {
  readonly table: SeenTable
  /** Puts there what has been there for long. Before anything else. */
  begin(): Promise<void>
  /** A request to the HTTP API. `undefined`: no answer came. */
  request(line: string, body?: unknown, token?: string): Promise<HttpResponse | undefined>
  /** The lines of a watch, in pieces. Throws when it breaks off. Left out where nobody watches. */
  watch?(line: string): AsyncIterable<string>
  /** What is not done with: messages, and changes that were not relayed. */
  backlog(): number
  /** From now on nothing goes wrong. */
  calmDown(): void
  /** Nothing of it goes on. */
  end(): void
}

/** What is stored, for checkers. */
export interface SeenTable {
  readonly items: ReadonlyMap<string, StoredObject>
  /** The times of all reservations that were made, by line. */
  readonly reservations: ReadonlyMap<string, readonly number[]>
}

/** One write, as checkers see it. */
export interface TableWrite {
  readonly type: Change['type']
  readonly before: StoredObject | undefined
  readonly after: StoredObject
  readonly touched: Touched
  readonly by: Life
}

export interface PlaneOptions {
  readonly world: World
  readonly scenario: Scenario
  /** The reconcilers as one process runs them. */
  readonly controllers: (life: Life, network: Network) => readonly Controller[]
  /** The servers that one process asks about writes. Left out: none. */
  readonly webhooks?: (life: Life) => Webhooks
  readonly onWrite: (write: TableWrite) => void
  /** A process has loaded its reconcilers again, and runs by them. */
  readonly onReloaded?: () => void
  /** A promise is broken. */
  readonly report: (violation: string) => void
}

export const simToken = 'Bearer simulation'
