/**
 * Who sends a request, by its Authorization header; `undefined` for anybody unknown. Must not tell by its time how
 * close a wrong credential came.
 */
export type Authenticator = (authorization: string | undefined) => User | undefined | Promise<User | undefined>

export interface User {
  readonly name: string
  readonly groups: readonly string[]
  readonly uid?: string
  /** More about the user, by names that who authenticates chooses. */
  readonly extra?: Readonly<Record<string, readonly string[]>>
}
