import { tryDurationMs } from './duration.ts'
import { isObject, type JsonObject } from './json.ts'
import type { ApiObject } from './object.ts'

/**
 * Annotations that speak to the engine. Whoever may write an object may set them, and a write of one always wakes the
 * object's controller, whatever its predicates say.
 */
const prefix = 'setpoint.dev/'

/** Whether an annotation speaks to the engine. */
export function isEnginesAnnotation(name: string): boolean {
  return name.startsWith(prefix)
}

/** `"true"`: nothing is done for the object, clean-up included. */
export const pausedAnnotation = `${prefix}paused`

/** "Reconcile now": a new value runs the object; the value that was answered is in `status.lastHandledReconcileAt`. */
export const reconcileRequestAnnotation = `${prefix}reconcile-requested-at`

/**
 * `Delete` or `Retain`, in place of the controller's policy: what becomes of what was made outside when the object is
 * deleted.
 */
export const deletionPolicyAnnotation = `${prefix}deletion-policy`

/** The object's own resync period, `5m`; `0` for never. In place of the kind's, whether longer or shorter. */
export const resyncAnnotation = `${prefix}resync`

/** For external reconcilers: the entity outside that the object is for, by the id it has there. */
export const externalIdAnnotation = `${prefix}external-id`

/** For external reconcilers: `match` or `override`, what becomes of differences when that entity is adopted. */
export const adoptAnnotation = `${prefix}adopt`

/** For external reconcilers: which of `create,update,delete` they may do outside; `observe` for none. */
export const manageAnnotation = `${prefix}manage`

/** For external reconcilers: the token of a create whose outcome is unknown and which a person knows did not happen. */
export const createAgainAnnotation = `${prefix}create-again`

/** On a Namespace: the role that runs of its objects take by `ctx.outside.assumeRole()`. */
export const roleAnnotation = `${prefix}role-arn`

/**
 * On a Secret: the keys, separated by commas, whose values are no secrets, such as `host,username`. What reconcilers
 * tell of the others is masked.
 */
const publicKeysAnnotation = `${prefix}public-keys`

/** On a CustomResourceDefinition: who converts its objects from one version to another, if no webhook does. */
export const conversionAnnotation = `${prefix}conversion`
/** Functions of the program that has stored the definition. */
export const convertedByFunctions = 'functions'

/** Whether the value of a key is no secret, as what is to become a Secret says it. */
export function publicKeysOf({ metadata }: JsonObject): (key: string) => boolean {
  const annotations = isObject(metadata) ? metadata['annotations'] : undefined
  const given = isObject(annotations) ? annotations[publicKeysAnnotation] : undefined
  const keys = typeof given === 'string' ? given.split(',').map((key) => key.trim()) : []
  return (key) => keys.includes(key)
}

/** Shorter periods count as this long. */
const resyncMsMin = 1_000

/** The object's own resync period, 0 for never; undefined if it has none, or none that can be read. */
export function ownResyncMs({ metadata: { annotations } }: ApiObject): number | undefined {
  const given = annotations?.[resyncAnnotation]
  const ms = given === undefined ? undefined : given === '0' ? 0 : tryDurationMs(given)
  return ms === undefined || ms === 0 ? ms : Math.max(resyncMsMin, ms)
}

/** Whether a person has said that nothing is to be done for the object. */
export function isPaused({ metadata: { annotations } }: ApiObject): boolean {
  return annotations?.[pausedAnnotation] === 'true'
}

/** What was said of a pause that is neither `true` nor `false`, and so counts for nothing. */
export function unreadPause({ metadata: { annotations } }: ApiObject): string | undefined {
  const given = annotations?.[pausedAnnotation]
  return given === 'true' || given === 'false' ? undefined : given
}

type Annotations = Readonly<Record<string, string>>

/** Annotations for the engine that have no effect, each with the reason: warnings to their writer. */
export function findIneffectiveAnnotations(object: ApiObject): readonly string[] {
  const { annotations = {} } = object.metadata
  return Object.entries(annotations)
    .filter(([name]) => name.startsWith(prefix))
    .flatMap(([name, given]) => {
      const why = whyIneffective(name, given, object)
      return why === undefined ? [] : [`metadata.annotations[${name}]: ${why}`]
    })
}

function whyIneffective(name: string, given: string, object: ApiObject): string | undefined {
  if (!known.includes(name)) return 'an annotation of this name is not known'
  const quoted = JSON.stringify(given)
  if (name === pausedAnnotation && unreadPause(object) !== undefined)
    return `${quoted} is not "true": the object is not paused`
  if (name === resyncAnnotation && ownResyncMs(object) === undefined)
    return `${quoted} is not a duration such as 5m, so it has no effect`
  if (name === deletionPolicyAnnotation && !['Delete', 'Retain'].includes(given))
    return `${quoted} is not Delete or Retain: its deletion waits until the value is corrected`
  return undefined
}

const known: readonly string[] = [
  pausedAnnotation,
  reconcileRequestAnnotation,
  deletionPolicyAnnotation,
  resyncAnnotation,
  externalIdAnnotation,
  adoptAnnotation,
  manageAnnotation,
  createAgainAnnotation,
  publicKeysAnnotation,
  roleAnnotation,
  conversionAnnotation,
]

/**
 * The annotations but for those that speak of when things happen, and for kubectl's note of what was applied: what says
 * how a thing outside is to be.
 */
export function declaredAnnotationsOf(annotations: Annotations = {}): Annotations {
  const declares = [externalIdAnnotation, adoptAnnotation, manageAnnotation, createAgainAnnotation]
  return Object.fromEntries(
    Object.entries(annotations).filter(
      ([name]) =>
        (!name.startsWith(prefix) || declares.includes(name)) &&
        name !== 'kubectl.kubernetes.io/last-applied-configuration',
    ),
  )
}

/** What the annotations say to the engine. */
export function controlAnnotations(annotations: Annotations = {}): Annotations {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => name.startsWith(prefix)))
}
