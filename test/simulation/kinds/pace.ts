import type { ReconcilerOptions } from '../../../shared/index.ts'

/** How fast a controller may go. */
export type Pace = Pick<ReconcilerOptions<unknown>, 'rateLimit' | 'debounce'>
