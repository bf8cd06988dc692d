/** A secret text outside of this control plane: its name, or its whole ARN. */
export type VaultEntry = { readonly secretsManager: string } | { readonly parameter: string }

/** Whose an entry is that we have made: it stands in the entry's tags. */
export interface VaultOwner {
  /** Of the object. */
  readonly uid: string
  readonly controller: string
}

/**
 * AWS Secrets Manager and the SecureStrings of Parameter Store. An entry is written or removed only while its tags name
 * the same owner. No error tells a text that was read or written. Throws UNAVAILABLE, THROTTLED, and INVALID for a text
 * that is too long, or empty.
 */
export interface Vault {
  /** Undefined if there is none, or none any more. */
  read(entry: VaultEntry): Promise<string | undefined>
  /** Makes the entry hold the text. Nothing is written if it holds it already. `foreign`: it is somebody else's. */
  write(entry: VaultEntry, text: string, owner: VaultOwner): Promise<'written' | 'unchanged' | 'foreign'>
  /** It is gone then, without a time in which it could be had back. */
  remove(entry: VaultEntry, owner: VaultOwner): Promise<'removed' | 'absent' | 'foreign'>
}
