/** One session of a role: equal requests may be answered by the same credentials. */
export interface RoleRequest {
  /** `arn:aws:iam::123456789012:role/Tenant`. */
  readonly roleArn: string
  /** Names the session in the far side's audit trail. */
  readonly sessionName: string
  /** What the trust policy of the role asks for, so that nobody has us take a role that is not theirs. */
  readonly externalId?: string
  /** Conditions of policies may ask for them. */
  readonly tags: Readonly<Record<string, string>>
}

/** As the clients of AWS take them. Secret, but for the first. */
export interface RoleCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string
  readonly expiresAtMs: number
}

/**
 * Takes roles of others. Credentials are given again until they would not outlive `untilMs`; a failure is not kept.
 * Throws UNAVAILABLE for a role that may not be taken (yet), THROTTLED.
 */
export interface Roles {
  assume(request: RoleRequest, untilMs: number): Promise<RoleCredentials>
}
