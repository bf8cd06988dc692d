import type { ApiObject, JsonObject } from '../../../shared/index.ts'
import { admissionMsMax } from '../../../shared/model/policy/admission-budget.ts'
import { hostOf, isGuarded, stampOf } from '../hook-servers.ts'
import type { AnsweredStep } from '../users.ts'
import type { Checker, Scene } from './checker.ts'
import { createStandingRules } from './standing-rules.ts'

/**
 * Webhooks and mutating policies: no write is acknowledged that a webhook in force refuses, or that a webhook was to be
 * asked about and was not; what they make of an object is stored with it; and nothing is refused for a webhook that
 * allows it, is not there, gave an answer, or may be left out.
 */
export function createWebhooks({ world, scenario, hooks, report }: Scene): Checker {
  const rules = createStandingRules(world, scenario)
  /** When each ConfigMap was written last: what is as it was asked for already is not, and nobody is asked. */
  const writtenMs = new Map<string, number>()

  const mustAsk = (text: string, beforeMs: number): boolean =>
    failurePolicyOf(rules.find(text, beforeMs)?.object) === 'Fail'

  const judgeAccepted = ({ step: { name, value }, sinceMs, text }: AnsweredStep): void => {
    if ((writtenMs.get(name) ?? -Infinity) < sinceMs) return
    for (const guard of guards)
      if (isGuarded(guard, value) && mustAsk(`${guardKind} ${guard}`, sinceMs))
        report(`webhooks: ${guard} refuses ConfigMap ${name} with ${value}, which is acknowledged`)
    const { metadata, data } = JSON.parse(text) as ApiObject & { readonly data: { readonly value: string } }
    const { stamp, tint } = metadata.labels ?? {}
    if (mustAsk(`${stampKind} stamp`, sinceMs) && stamp !== stampOf(data.value))
      report(`webhooks: ConfigMap ${name} with ${data.value} has the stamp ${stamp}`)
    const isTinted = [tintKind, `${tintKind}Binding`].every((kind, i) =>
      rules.find(`${kind} ${i === 0 ? 'tint' : 'tint-binding'}`, sinceMs),
    )
    if (isTinted && tint !== `t${data.value}`)
      report(`webhooks: ConfigMap ${name} with ${data.value} has the tint ${tint}`)
  }

  const judgeRefused = ({ step: { name, value }, sinceMs, text }: AnsweredStep): void => {
    const { hook = '' } = /webhook \\*"(?<hook>[-\w]+)\./.exec(text)?.groups ?? {}
    if (hook === '') return
    const rule = `${hook === 'stamp' ? stampKind : guardKind} ${hook}`
    if (!rules.mayBeKnown(rule, sinceMs))
      return report(`webhooks: ConfigMap ${name} is refused for ${hook}, which is not there`)
    if (text.includes('denied the request')) {
      if (!isGuarded(hook, value)) report(`webhooks: ConfigMap ${name} with ${value} is refused by ${hook}`)
    } else if (failurePolicyOf(rules.find(rule, sinceMs)?.object) === 'Ignore')
      report(`webhooks: ConfigMap ${name} is refused for want of ${hook}, which may be left out`)
    // Of a process that stood still for so long no webhook is asked any more.
    else if (hooks.lastTroubleMs(hostOf(hook)) < sinceMs && world.nowMs() < sinceMs + admissionMsMax)
      report(`webhooks: ConfigMap ${name} is refused for want of ${hook}, which has answered`)
  }

  return {
    write: (write) => {
      const { kind, metadata } = write.after.object
      if (kind === guardKind || kind === stampKind || kind.startsWith(tintKind)) rules.note(write)
      if (kind === 'ConfigMap') writtenMs.set(metadata.name, world.nowMs())
    },
    answered: (answer) => {
      const { status } = answer
      const { kind, name, act } = answer.step
      if (kind !== 'ConfigMap' || !name.startsWith('hooked') || (act !== 'apply' && act !== 'edit')) return
      if (status !== undefined && status < 300) judgeAccepted(answer)
      else judgeRefused(answer)
    },
  }
}

const guardKind = 'ValidatingWebhookConfiguration'
const stampKind = 'MutatingWebhookConfiguration'
const tintKind = 'MutatingAdmissionPolicy'
const guards = ['guard-0', 'guard-1', 'guard-2']

function failurePolicyOf(rule: ApiObject | undefined): unknown {
  return (rule?.['webhooks'] as readonly JsonObject[] | undefined)?.[0]?.['failurePolicy']
}
