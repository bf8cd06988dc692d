import type { JsonObject } from '../model/json.ts'

/**
 * Signs tokens of the control plane's own, and knows them again. Whoever has a token can use it until it ends; nobody
 * can make one, or change what one says.
 */
export interface TokenSigner {
  /** Holds from now on for so long. */
  sign(claims: TokenClaims, seconds: number): Promise<SignedToken>
  /** What a token says that was signed here and holds now; `undefined` for every other text. */
  verify(token: string): Promise<TokenClaims | undefined>
  /** By which others know its tokens again, as JSON Web Keys (RFC 7517). There is none before the first token. */
  publicKeys(): Promise<readonly JsonObject[]>
}

export interface SignedToken {
  readonly token: string
  readonly endsAtMs: number
}

export interface TokenClaims {
  /** Whom it is for. */
  readonly audiences: readonly string[]
  readonly subject: string
  readonly bound: TokenBounds
  /** A name of this token; set by who signs. */
  readonly id?: string
}

/** The objects that a token ends with, under the names that Kubernetes has for them. */
export interface TokenBounds {
  readonly namespace: string
  readonly serviceaccount: NamedObject
  readonly secret?: NamedObject
}

interface NamedObject {
  readonly name: string
  readonly uid: string
}
