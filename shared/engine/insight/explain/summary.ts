import { conditionOf } from '../../../model/conditions.ts'
import { pausedAnnotation, reconcileRequestAnnotation } from '../../../model/control-annotations.ts'
import { failureOf } from '../../../model/engine-state.ts'
import { isDeleting } from '../../../model/object.ts'
import { repeatedErrorsMin } from '../../state/repeated-errors.ts'
import type { Facts } from './facts.ts'
import { foreignFinalizers, isEditLetPass, mayBeLetPass, objectSituationOf } from './situation.ts'
import { agoText, formatKey, kubectlName, until, withMessage } from './words.ts'

/** The matter in one sentence, and what was said of it in words of others. */
export function summarize(facts: Facts): readonly string[] {
  const deleting = isUntoldDeletion(facts) ? ['The object is being deleted, and its clean-up is not over.'] : []
  return [...deleting, ...summarizeSituation(facts)]
}

/** Of these situations the sentence says nothing of a deletion. */
function isUntoldDeletion(facts: Facts): boolean {
  const silent = ['paused', 'stopped', 'toldToWait', 'slowedDown', 'inCircles', 'unattended']
  return isDeleting(facts.stored.object) && silent.includes(objectSituationOf(facts))
}

function summarizeSituation(facts: Facts): readonly string[] {
  const error = failureOf(facts.stored.engine)?.error
  const ready = conditionOf(facts.stored.object, 'Ready')
  const circle = conditionOf(facts.stored.object, 'HotLoop')
  switch (objectSituationOf(facts)) {
    case 'stopped':
    case 'failing':
    case 'toldToWait':
      return [sentence(facts), ...(error === undefined ? [] : [`  ${error}`])]
    case 'inCircles':
      return [sentence(facts), ...(circle === undefined ? [] : [`  ${withMessage(circle.reason, circle.message)}`])]
    case 'notReady':
      return [sentence(facts), ...(ready === undefined ? [] : [`  ${withMessage(ready.reason, ready.message)}`])]
    default:
      return [sentence(facts)]
  }
}

function sentence(facts: Facts): string {
  const { stored, kind, nowMs, controller } = facts
  const atMs = stored.engine.wait?.atMs
  const attempt = failureOf(stored.engine)?.attempt ?? 1
  const next = atMs === undefined ? 'with the next wake-up' : until(atMs, nowMs)
  const since = agoText(conditionOf(stored.object, 'Ready')?.lastTransitionTime, nowMs)
  const missing = missingReferences(facts)
  switch (objectSituationOf(facts)) {
    case 'unattended':
      return `No reconciler handles ${kind.kind}: the object is stored, and nothing acts on it.`
    case 'paused':
      return 'The object is paused: no run and no clean-up takes place.'
    case 'held':
      return `The object is being deleted and waits for the finalizers of others: ${foreignFinalizers(facts).join(', ')}.`
    case 'stopped':
      return 'The object has stopped, because another try would not help:'
    case 'failing':
      return `${isDeleting(stored.object) ? 'The clean-up of the object' : 'The object'} has failed ${times(attempt)}; the next try is ${next}:`
    case 'toldToWait':
      return `The remote API asked to wait; the next try is ${next}:`
    case 'slowedDown':
      return `The object has reached its rate limit; the next run is ${next}.`
    case 'inCircles':
      return `The object runs in a loop and is slowed down; the next run is ${next}:`
    case 'deleting':
      return `The object is being deleted: ${controller?.name ?? ''} cleans up, and runs again ${next}.`
    case 'changed':
      return mayBeLetPass(facts)
        ? `No run of ${controller?.name ?? ''} has observed the last change: its \`when\` lets edits of the spec pass.`
        : `A change waits for its run by ${controller?.name ?? ''}.`
    case 'notReady':
      return missing.length === 0
        ? 'No run failed, but the object is not ready:'
        : `The object is not ready, and waits for what it refers to and does not exist: ${missing.join(', ')}.`
    case 'asDesired':
      return `The object is as desired${since === undefined ? '' : `, since ${since}`}.`
  }
}

function missingReferences({ references }: Facts): readonly string[] {
  return references.shown
    .filter(({ object, isDamaged }) => object === undefined && !isDamaged)
    .map(({ key }) => formatKey(key))
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times in a row`
}

/** What a person can do about it now. */
export function advise(facts: Facts): readonly string[] {
  const name = kubectlName(facts)
  const runNow = `kubectl annotate ${name} ${reconcileRequestAnnotation}="$(date)" --overwrite`
  switch (objectSituationOf(facts)) {
    case 'unattended':
      return []
    case 'paused':
      return [`End the pause:  kubectl annotate ${name} ${pausedAnnotation}-`]
    case 'held':
      return [
        'Find out who owns the finalizers, and why they are not removed.',
        `Only if their owners are gone and need not clean up:  kubectl edit ${name}`,
      ]
    case 'stopped':
      return isEditLetPass(facts)
        ? ['Correct the cause above; an edit of the spec alone runs nothing.', `Then try again:  ${runNow}`]
        : ['Correct the cause above: an edit of the spec runs the object at once.', `Try again anyway:  ${runNow}`]
    case 'failing':
      return [...adviseOnRepeats(facts), `Try at once:  ${runNow}`]
    case 'inCircles':
      return ['Find out what changes the object so often: the slowing ends when the changes end.']
    case 'changed':
      return mayBeLetPass(facts) ? [`Look at it at once:  ${runNow}`] : [busy]
    case 'slowedDown':
      return [busy]
    case 'toldToWait':
    case 'deleting':
    case 'notReady':
    case 'asDesired':
      return [`Look again at once:  ${runNow}`]
  }
}

const busy = 'If this lasts, the workers are busy or stuck: see setpoint_queue_oldest_seconds at /metrics.'

function adviseOnRepeats({ stored: { engine } }: Facts): readonly string[] {
  const { sameErrors = 1 } = failureOf(engine) ?? {}
  if (sameErrors < repeatedErrorsMin) return []
  return [
    `The last ${sameErrors} failures said the same. If they only mean "not ready yet", the reconciler should return waiting(…) instead.`,
  ]
}
