import type { StoredObject, Touched } from '../../model/stored-object.ts'
import type { Change } from '../../ports/change-feed.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { WorkQueue } from '../../ports/work-queue.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { isOf } from '../../reconciler/kind.ts'
import { guardController } from './guard-controller.ts'
import { ownTargets } from './routes.ts'
import { wakeUpOf } from './wake-up.ts'

export interface DirectWakeOptions {
  readonly controllers: readonly Controller[]
  readonly queueOf: (controller: { readonly name: string }) => WorkQueue
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * The store, whose writes wake the controller of the object that was written, as soon as they are there: ahead of the
 * relay, which hears of them through a stream. The relay sends the same wake-up under the same id, so that there is one
 * run; and where this one got lost, that one is the guarantee. So nobody waits for it for long, and no write fails with
 * it.
 *
 * Not for objects that refer to others: the relay notes what they refer to before it wakes them, and its own wake-up
 * would be taken for this one. Nor for a debounced one, whose time begins with the first wake-up, nor for one that is
 * held, whose hold the relay ends.
 */
export function withDirectWake(
  store: ObjectStore,
  { controllers, queueOf, clock, logger }: DirectWakeOptions,
): ObjectStore {
  const awake = controllers
    .filter(({ references, debounceMs }) => references.length === 0 && debounceMs === 0)
    .map((controller) => guardController(controller, logger))
    .map((controller) => ({ ...controller, targets: ownTargets(controller) }))

  async function wake(change: Change): Promise<void> {
    const { object, engine } = change.stored
    const controller = engine.hold === undefined ? awake.find(({ kind }) => isOf(object, kind)) : undefined
    const targets = controller?.targets(change) ?? []
    if (controller === undefined || targets.length === 0) return
    await queueOf(controller).send(targets.map((target) => wakeUpOf(target, change)))
  }

  async function thenWake(type: Change['type'], touched: Touched, write: Promise<StoredObject>): Promise<StoredObject> {
    const stored = await write
    const over = new AbortController()
    const woken = wake({ type, touched, stored }).catch((error: unknown) => {
      logger.warn('not woken ahead of the relay, which does it', { error: String(error) })
    })
    await Promise.race([woken, clock.sleep(patienceMs, over.signal)])
    over.abort('woken')
    return stored
  }

  return {
    ...store,
    create: (stored) => thenWake('added', ['spec'], store.create(stored)),
    replace: (stored, touched) => thenWake('modified', touched, store.replace(stored, touched)),
  }
}

/** By then the relay is about to do it. */
const patienceMs = 300
