import { randomUUID } from 'node:crypto'
import type { Random } from '../../ports/random.ts'

/** The machine's chance; ids from its cryptographic source. */
export const systemRandom: Random = {
  next: () => Math.random(),
  uuid: () => randomUUID(),
}
