import { conditionOf } from '../../../model/conditions.ts'
import { pausedAnnotation, reconcileRequestAnnotation } from '../../../model/control-annotations.ts'
import { failureOf } from '../../../model/engine-state.ts'
import { isDeleting } from '../../../model/object.ts'
import { repeatedErrorsMin } from '../../state/repeated-errors.ts'
import type { Facts } from './facts.ts'
import { foreignFinalizers, objectSituationOf } from './situation.ts'
import { agoText, kubectlName, until, withMessage } from './words.ts'

/** The matter in one sentence, and what was said of it in words of others. */
export function summarize(facts: Facts): readonly string[] {
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
  switch (objectSituationOf(facts)) {
    case 'unattended':
      return `No reconciler is for ${kind.kind}: the object is kept as it is, and nothing acts on it.`
    case 'paused':
      return 'It is paused: nothing is done for it, clean-up included.'
    case 'held':
      return `It is being deleted, and stays for the finalizers of others: ${foreignFinalizers(facts).join(', ')}.`
    case 'stopped':
      return 'It has stopped, since trying again would not help:'
    case 'failing':
      return `${isDeleting(stored.object) ? 'Its clean-up' : 'It'} has failed ${times(attempt)}, and is tried again ${next}:`
    case 'toldToWait':
      return `The far side asked to wait; it is tried again ${next}:`
    case 'slowedDown':
      return `It has run as often as its rate limit lets it; it runs again ${next}.`
    case 'inCircles':
      return `It runs in circles and is slowed down; it runs again ${next}:`
    case 'deleting':
      return `It is being deleted: ${controller?.name ?? ''} cleans up, and looks again ${next}.`
    case 'changed':
      return `A change waits for its run by ${controller?.name ?? ''}.`
    case 'notReady':
      return 'Nothing is wrong, but it is not ready:'
    case 'asDesired':
      return `It is as desired${since === undefined ? '' : `, since ${since}`}.`
  }
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
      return [`Let it go on:  kubectl annotate ${name} ${pausedAnnotation}-`]
    case 'held':
      return [
        'Find out who owns the finalizers, and why they do not get done.',
        `Only if they are gone for good, and what they would clean up may stay:  kubectl edit ${name}`,
      ]
    case 'stopped':
      return ['Mend what it says: an edit of the spec runs it at once.', `Try all the same:  ${runNow}`]
    case 'failing':
      return [...adviseOnRepeats(facts), `Try at once:  ${runNow}`]
    case 'inCircles':
      return ['Find out what changes it so often, and who: it heals by itself once that ends.']
    case 'slowedDown':
    case 'changed':
      return ['If it stays so, the workers are busy or stuck: see setpoint_queue_oldest_seconds at /metrics.']
    case 'toldToWait':
    case 'deleting':
    case 'notReady':
    case 'asDesired':
      return [`Look again at once:  ${runNow}`]
  }
}

function adviseOnRepeats({ stored: { engine } }: Facts): readonly string[] {
  const { sameErrors = 1 } = failureOf(engine) ?? {}
  if (sameErrors < repeatedErrorsMin) return []
  return [
    `The last ${sameErrors} failures said the same. If it only means "not ready yet", the reconciler should say that, with waiting(…).`,
  ]
}
