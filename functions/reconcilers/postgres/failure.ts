/**
 * What happens next decides the kind: `retryable` goes away by itself or by somebody else's work, `terminal` stays
 * until the declaration changes, `conflict` means that something of that name exists and is not ours.
 */
export type FailureKind = 'retryable' | 'terminal' | 'conflict'

/**
 * An expected failure of PostgreSQL or of its host. `reason` is a PascalCase word for a condition; the message is one
 * plain clause without times, process ids or secrets, so that the same failure reads the same on every run.
 */
export class PostgresFailure extends Error {
  override readonly name = 'PostgresFailure'
  readonly kind: FailureKind
  readonly reason: string

  constructor(kind: FailureKind, reason: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
    this.reason = reason
  }
}

/** Whether the error is a failure of PostgreSQL with one of the given reasons. */
export function hasReason(error: unknown, ...reasons: readonly string[]): error is PostgresFailure {
  return error instanceof PostgresFailure && reasons.includes(error.reason)
}

interface Rule {
  readonly kind: FailureKind
  readonly reason: string
}

/**
 * SQLSTATEs (PostgreSQL manual, appendix A): a whole code first, then its class of two characters. What is in neither
 * is retried, because a database that cannot be understood today may be repaired tomorrow.
 */
const rules: Readonly<Record<string, Rule>> = {
  '0A000': { kind: 'terminal', reason: 'NotSupported' },
  '28': { kind: 'retryable', reason: 'AuthenticationFailed' },
  '2BP01': { kind: 'retryable', reason: 'DependentObjectsExist' },
  '3D000': { kind: 'retryable', reason: 'DatabaseNotFound' },
  '3F000': { kind: 'retryable', reason: 'SchemaNotFound' },
  '08': { kind: 'retryable', reason: 'ConnectionLost' },
  '22': { kind: 'terminal', reason: 'InvalidValue' },
  '40': { kind: 'retryable', reason: 'TransactionRolledBack' },
  '42': { kind: 'terminal', reason: 'StatementRefused' },
  '42501': { kind: 'terminal', reason: 'InsufficientPrivilege' },
  '42602': { kind: 'terminal', reason: 'InvalidName' },
  '42622': { kind: 'terminal', reason: 'InvalidName' },
  '42704': { kind: 'retryable', reason: 'ObjectNotFound' },
  '42710': { kind: 'conflict', reason: 'AlreadyExists' },
  '42939': { kind: 'terminal', reason: 'InvalidName' },
  '42P04': { kind: 'conflict', reason: 'AlreadyExists' },
  '42P06': { kind: 'conflict', reason: 'AlreadyExists' },
  '53': { kind: 'retryable', reason: 'InsufficientResources' },
  '53300': { kind: 'retryable', reason: 'TooManyConnections' },
  '55': { kind: 'retryable', reason: 'ObjectInUse' },
  '57014': { kind: 'retryable', reason: 'StatementTimeout' },
  '57': { kind: 'retryable', reason: 'ServerUnavailable' },
  '58P01': { kind: 'terminal', reason: 'FileNotFound' },
  F0: { kind: 'terminal', reason: 'ConfigurationInvalid' },
}

/**
 * Sorts what the driver threw while doing `attempt`: a server's error by its SQLSTATE, all else as a lost connection.
 */
export function driverFailure(error: unknown, attempt: string): PostgresFailure {
  const state = sqlState(error)
  const rule = state === undefined ? lost : (rules[state] ?? rules[state.slice(0, 2)] ?? unknown)
  return new PostgresFailure(rule.kind, rule.reason, `cannot ${attempt}: ${plain(error)}`, { cause: error })
}

const lost: Rule = { kind: 'retryable', reason: 'ConnectionLost' }
const unknown: Rule = { kind: 'retryable', reason: 'StatementFailed' }

/**
 * The SQLSTATE of a server's error; system errors carry a `code` too, but never one of this shape with a `severity`.
 */
function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('severity' in error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

// A refused connection to a name with two addresses is an AggregateError without a message of its own.
function plain(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(plain).join(', ')
  return error instanceof Error ? error.message : String(error)
}
