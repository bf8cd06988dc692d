import type { Controller, Outcome } from '../../../shared/index.ts'
import type { Life } from '../life.ts'
import type { RunWatcher } from '../runs.ts'

type Watched = Parameters<RunWatcher['run']>[1]

/** The controller that a helper has made, with its runs told to checkers. */
export function watched(controller: Controller, watcher: RunWatcher, life: Life): Controller {
  const { reconcile, cleanup } = controller
  const tell =
    (phase: 'reconcile' | 'cleanup', work: Controller['reconcile']): Controller['reconcile'] =>
    (object, ctx) =>
      watcher.run<Outcome>(phase, object as unknown as Watched, life, async () => work(object, ctx))
  return {
    ...controller,
    reconcile: tell('reconcile', reconcile),
    ...(cleanup && { cleanup: tell('cleanup', cleanup) }),
  }
}
