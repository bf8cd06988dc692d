import type { StoredObject } from '../../../shared/model/stored-object.ts'
import type { TableWrite } from '../plane.ts'
import type { AnsweredStep } from '../users.ts'
import type { Checker, Scene } from './checker.ts'
import { ruleDelayMs } from './standing-rules.ts'

/** A policy, as it is stored with its binding. */
interface Rule {
  policy?: StoredObject | undefined
  binding?: StoredObject | undefined
  /** Since when both are there as they are; undefined while they are not. */
  sinceMs?: number | undefined
  /** When it last refused anything before it changed. */
  lastMs: number
}

interface Validation {
  readonly expression: string
}

/**
 * Admission policies: no write is acknowledged that a policy refuses which was in force when it was asked for, and none
 * is refused that no policy refuses. A policy is in force so long after it was stored, as the documents say it.
 */
export function createPolicies({ world, scenario, report }: Scene): Checker {
  const rules = new Map<string, Rule>()
  /** When each ConfigMap was written last: what is as it was asked for already is not, and no policy is asked. */
  const writtenMs = new Map<string, number>()
  const delayMs = ruleDelayMs(scenario)

  const isBinding = ({ spec }: StoredObject['object']): boolean => spec?.['policyName'] !== undefined

  const isDenying = ({ binding }: Rule): boolean =>
    (binding?.object.spec?.['validationActions'] as readonly string[] | undefined)?.includes('Deny') === true

  const note = ({ type, after }: TableWrite): void => {
    const { object } = after
    const name = isBinding(object) ? String(object.spec?.['policyName']) : object.metadata.name
    const rule = rules.get(name) ?? { lastMs: -Infinity }
    rules.set(name, rule)
    if (rule.sinceMs !== undefined && isDenying(rule)) rule.lastMs = world.nowMs()
    const stored = type === 'removed' ? undefined : after
    if (isBinding(object)) rule.binding = stored
    else rule.policy = stored
    rule.sinceMs = rule.policy && rule.binding ? world.nowMs() : undefined
  }

  const isRefused = ({ policy }: Rule, value: number): boolean => {
    const [rule] =
      (policy?.object.spec as { readonly validations?: readonly Validation[] } | undefined)?.validations ?? []
    return Number(rule?.expression.at(-1)) === value % 3
  }

  const judge = ({ step, sinceMs, status, text }: AnsweredStep): void => {
    if (status !== undefined && status < 300) {
      if ((writtenMs.get(step.name) ?? -Infinity) < sinceMs) return
      for (const [name, rule] of rules)
        if (isDenying(rule) && isRefused(rule, step.value) && (rule.sinceMs ?? Infinity) + delayMs < sinceMs)
          report(`policies: ${name} refuses ConfigMap ${step.name} with ${step.value}, which is acknowledged`)
    } else if (text.includes('ValidatingAdmissionPolicy')) {
      const wasThere = [...rules.values()].some(
        (rule) => (rule.sinceMs !== undefined && isDenying(rule)) || rule.lastMs + delayMs >= sinceMs,
      )
      if (!wasThere)
        report(`policies: ConfigMap ${step.name} with ${step.value} is refused by a policy that is not there`)
    }
  }

  return {
    write: (write) => {
      const { kind, metadata } = write.after.object
      if (kind.startsWith('ValidatingAdmissionPolicy')) note(write)
      if (kind === 'ConfigMap') writtenMs.set(metadata.name, world.nowMs())
    },
    answered: (answer) => {
      const { kind, name, act } = answer.step
      if (kind === 'ConfigMap' && name.startsWith('ruled') && (act === 'apply' || act === 'edit')) judge(answer)
    },
  }
}
