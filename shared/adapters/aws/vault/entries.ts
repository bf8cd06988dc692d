import { Buffer } from 'node:buffer'
import { OperatingError } from '../../../model/errors.ts'
import type { Vault, VaultOwner } from '../../../ports/vault.ts'
import { isThrottle } from '../client/service-failure.ts'

/** The vault's methods for the names of one service. */
export interface Entries {
  read(name: string): ReturnType<Vault['read']>
  write(name: string, text: string, owner: VaultOwner): ReturnType<Vault['write']>
  remove(name: string, owner: VaultOwner): ReturnType<Vault['remove']>
}

/** As both services have them. */
export interface EntryTag {
  readonly Key?: string | undefined
  readonly Value?: string | undefined
}

/** Whose an entry is. */
const ownerTag = 'setpoint:owner'
const controllerTag = 'setpoint:controller'

export function entryTags({ uid, controller }: VaultOwner): { readonly Key: string; readonly Value: string }[] {
  return [
    { Key: ownerTag, Value: uid },
    { Key: controllerTag, Value: controller },
  ]
}

export function isOwned(tags: readonly EntryTag[] | undefined, owner: VaultOwner): boolean {
  return entryTags(owner).every(
    ({ Key, Value }) => tags?.some((tag) => tag.Key === Key && tag.Value === Value) === true,
  )
}

export function refuseLength(text: string, bytesMax: number, what: string): void {
  const bytes = Buffer.byteLength(text)
  if (bytes === 0) throw new OperatingError('INVALID', `the ${what} would be empty, and AWS keeps no empty text`)
  if (bytes > bytesMax)
    throw new OperatingError('INVALID', `the ${what} would hold ${bytes} bytes, and can hold ${bytesMax}`)
}

/** The error's name. */
export function errorNameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error
}

/** Only the name of what the service said: a message of it may repeat the text that it was given. */
export function vaultFailure(error: unknown, attempt: string): OperatingError {
  if (error instanceof OperatingError) return error
  const name = errorNameOf(error)
  const hint = /AccessDenied/.test(name)
    ? ': the role of the function, and the policies of the secret and of its key, must allow it'
    : ''
  return new OperatingError(isThrottle(name) ? 'THROTTLED' : 'UNAVAILABLE', `cannot ${attempt}: ${name}${hint}`)
}
