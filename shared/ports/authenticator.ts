/**
 * Who sends a request, by its Authorization header and the certificate of its connection; `undefined` for anybody
 * unknown. Must not tell by its time how close a wrong credential came.
 */
export type Authenticator = (
  authorization: string | undefined,
  certificate?: ClientCertificate,
) => User | undefined | Promise<User | undefined>

/** What the certificate of a client says, which an authority has signed that the server was told to trust. */
export interface ClientCertificate {
  readonly commonName: string
  readonly organizations: readonly string[]
  readonly endsAtMs: number
}

export interface User {
  readonly name: string
  readonly groups: readonly string[]
  readonly uid?: string
  /** More about the user, by names that who authenticates chooses. */
  readonly extra?: Readonly<Record<string, readonly string[]>>
}
