import { hasCode } from './errors.ts'
import type { Eventual } from './eventual.ts'
import { keyText, type ObjectKey } from './object-key.ts'

/** What whoever asks for the object is told. */
export function describeDamage(key: ObjectKey, where: string): string {
  return `${keyText(key)} is damaged in ${where} and cannot be read; put back a backup, or delete it with ignoreStoreReadErrorWithClusterBreakingPotential=true, which skips its clean-up`
}

/** What is read of an object; `undefined`, too, if what is stored of it is damaged. */
export async function absentIfDamaged<T>(read: () => Eventual<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (hasCode(error, 'DAMAGED')) return undefined
    throw error
  }
}
