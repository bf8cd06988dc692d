import type { Controller } from '../../shared/index.ts'

/** Reconcilers of your own, here and on AWS; `npm run new` adds to them. */
export const ownReconcilers: readonly Controller[] = []
