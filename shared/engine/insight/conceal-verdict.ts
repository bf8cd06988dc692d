import type { ConditionPatch } from '../../model/conditions.ts'
import type { NotReady, Report } from '../../reconciler/outcome.ts'
import type { Verdict } from '../../reconciler/verdict.ts'
import type { SecretValues } from './secret-values.ts'

/** The verdict, with everything in it that people see told without the values of Secrets. */
export function concealVerdict(verdict: Verdict, secrets: SecretValues | undefined): Verdict {
  if (secrets === undefined) return verdict
  switch (verdict.kind) {
    case 'done':
    case 'again': {
      const { ready } = verdict
      const told = ready === undefined || ready === true ? {} : { ready: concealReason(ready, secrets) }
      return { ...verdict, ...told, ...concealReport(verdict, secrets) }
    }
    case 'failed': {
      const { stack } = verdict
      const told = stack === undefined ? {} : { stack: secrets.mask(stack) }
      return { ...concealReason(verdict, secrets), ...told, ...concealFailureReport(verdict, secrets) }
    }
    case 'stopped':
      return { ...concealReason(verdict, secrets), ...concealFailureReport(verdict, secrets) }
    case 'retryAfter':
      return { ...verdict, message: secrets.mask(verdict.message), ...concealFailureReport(verdict, secrets) }
  }
}

function concealReason<Told extends NotReady>(told: Told, secrets: SecretValues): Told {
  return { ...told, reason: secrets.maskName(told.reason), message: secrets.mask(told.message) }
}

function concealFailureReport({ report }: Exclude<Verdict, Report>, secrets: SecretValues) {
  return report === undefined ? {} : { report: { ...report, ...concealReport(report, secrets) } }
}

function concealReport(
  { status, conditions }: Pick<Report, 'status' | 'conditions'>,
  secrets: SecretValues,
): Pick<Report, 'status' | 'conditions'> {
  return {
    ...(status === undefined ? {} : { status: secrets.maskJson(status) }),
    ...(conditions === undefined ? {} : { conditions: concealConditions(conditions, secrets) }),
  }
}

function concealConditions(conditions: NonNullable<Report['conditions']>, secrets: SecretValues) {
  return Object.fromEntries(
    Object.entries(conditions).map(([type, patch]) => [
      secrets.maskName(type),
      patch === null ? null : concealCondition(patch, secrets),
    ]),
  )
}

function concealCondition({ status, reason, message }: ConditionPatch, secrets: SecretValues): ConditionPatch {
  const told = { status, reason: secrets.maskName(reason) }
  return message === undefined ? told : { ...told, message: secrets.mask(message) }
}
