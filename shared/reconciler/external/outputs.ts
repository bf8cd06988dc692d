import { bytesFromBase64 } from '../../model/base64.ts'
import { digest } from '../../model/digest.ts'
import { hasCode, OperatingError } from '../../model/errors.ts'
import { equal, isObject, type JsonObject } from '../../model/json.ts'
import { controllerOf, type ApiObject } from '../../model/object.ts'
import { parseJson } from '../../model/parse-json.ts'
import { canonicalJson } from '../../model/schema/canonical-json.ts'
import { Secret, type SecretObject } from '../built-in-kinds.ts'
import type { Context } from '../context.ts'
import type { Outputs } from './external-options.ts'
import { refusePromise } from '../refuse-promise.ts'
import type { SecretTarget } from '../secret-source.ts'
import { recall, type ExternalMemory } from './memory.ts'

/** Which outputs there are, and where. */
export type NotedOutputs = Pick<
  ExternalMemory,
  'outputsIn' | 'outputsAt' | 'outputsAlso' | 'outputKeys' | 'outputsUnkept'
>

/** Where they are, or are to be: a Secret, or in AWS. */
type OutputPlace = Pick<ExternalMemory, 'outputsIn' | 'outputsAt'>

interface Keeping {
  readonly entity: JsonObject
  readonly ctx: Context
  /** Makes it known for good: a crash around a write must lose nothing, and leave nothing behind. */
  noteKept(kept: NotedOutputs): Promise<void>
}

/**
 * Keeps what the far side gave out, now or before; what it returns tells later whether that is still so. What is kept
 * elsewhere is removed once all of it is where it is to be: it may be told nowhere else.
 */
export async function keepOutputs(
  outputs: Outputs<ApiObject>,
  object: ApiObject,
  { entity, ctx, noteKept }: Keeping,
): Promise<Pick<ExternalMemory, 'outputs' | 'outputsIn'>> {
  const { outputsAlso: also, outputKeys: keysBefore, outputsUnkept: unkept = [] } = recall(ctx)
  const name = outputs.name(object)
  const target = outputs.to?.(object)
  const place: OutputPlace = target === undefined ? { outputsIn: name } : { outputsAt: target }
  const before = placeBefore(name, ctx)
  const told = tellingOnly(outputs.data(entity))
  const data = { ...(await findUntold(outputs, object, { told, ctx })), ...told }
  const outputKeys = Object.keys(data).toSorted()
  const outputsUnkept = outputKeys.filter((key) => keysBefore?.includes(key) !== true || unkept.includes(key))
  // Nothing of this entity is anywhere yet: what is elsewhere is of one before it.
  const isFirst = keysBefore === undefined
  const hasMoved = !equal(before, place)
  if (also !== undefined && !equal(also, target)) await ctx.outside.removeSecret(also)
  if (hasMoved || !equal(keysBefore, outputKeys))
    await noteKept({ ...(isFirst ? movingTo(place, before) : movingTo(before, place)), outputKeys, outputsUnkept })
  const kept = await write(name, data, { target, ctx })
  if (hasMoved && !isFirst) await noteKept({ ...movingTo(place, before), outputKeys })
  if (hasMoved && before.outputsAt !== undefined) await ctx.outside.removeSecret(before.outputsAt)
  else if (hasMoved && !isFirst) await deleteSecret(before.outputsIn ?? name, object, ctx)
  return { outputs: kept, ...(target === undefined && { outputsIn: name }) }
}

/** What was kept by a version before this one is in the Secret that the object names. */
function placeBefore(name: string, ctx: Context): OutputPlace {
  const { outputsIn = name, outputsAt } = recall(ctx)
  return outputsAt === undefined ? { outputsIn } : { outputsAt }
}

/** What an entity has told with the answer to its creation, as a note for the time until it is written. */
export function listUnkept(outputs: Outputs<ApiObject> | undefined, entity: JsonObject): NotedOutputs {
  const outputsUnkept = Object.keys(tryTelling(outputs, entity)).toSorted()
  return outputsUnkept.length === 0 ? {} : { outputsUnkept }
}

/** Of an entity that was found again: what only the answer to its creation had is nowhere. */
export function listNeverKept(outputs: Outputs<ApiObject> | undefined): NotedOutputs {
  const { toldOnce = [] } = outputs ?? {}
  return toldOnce.length === 0 ? {} : { outputsUnkept: toldOnce.toSorted() }
}

interface Updated {
  readonly entity: JsonObject
  /** As it was seen ahead of the update, if it was looked at. */
  readonly before: JsonObject | undefined
  readonly ctx: Context
}

/**
 * What an entity tells with the answer to an update that it did not tell before, such as a new password, as a note for
 * the time until it is written: what is stored by then is the old one. Undefined if nothing of it is new.
 */
export async function listNews(
  outputs: Outputs<ApiObject> | undefined,
  object: ApiObject,
  { entity, before, ctx }: Updated,
): Promise<Pick<ExternalMemory, 'outputsUnkept' | 'outputsBefore'> | undefined> {
  const { outputKeys, outputs: stored, outputsUnkept = [] } = recall(ctx)
  const told = tryTelling(outputs, entity)
  const toldBefore = before === undefined ? {} : tryTelling(outputs, before)
  const untold = Object.keys(told).filter((key) => toldBefore[key] === undefined)
  if (outputs === undefined || outputKeys === undefined || untold.length === 0) return undefined
  // What cannot be read now may be another than this.
  const kept = await readStored(outputs.name(object), untold, ctx).catch((): Texts => ({}))
  const news = untold.filter((key) => told[key] !== kept[key])
  if (news.length === 0) return undefined
  const all = [...new Set([...outputsUnkept, ...news])].toSorted()
  return { outputsUnkept: all, ...(stored !== undefined && { outputsBefore: stored }) }
}

/** Whoever keeps them fails, too, and says so; what is known of the entity is noted before that. */
function tryTelling(outputs: Outputs<ApiObject> | undefined, entity: JsonObject): Texts {
  try {
    return tellingOnly(outputs?.data(entity) ?? {})
  } catch {
    return {}
  }
}

/** The one that was theirs. */
async function deleteSecret(name: string, { metadata: { uid } }: ApiObject, ctx: Context): Promise<void> {
  const found = await ctx.get(Secret, name)
  if (found === undefined || controllerOf(found as unknown as ApiObject)?.uid !== uid) return
  await ctx.delete(Secret, { name, uid: found.metadata.uid })
}

/** They are in one place, and may be in the other. A Secret that is left behind goes with the object. */
function movingTo(at: OutputPlace, { outputsAt: also }: OutputPlace): NotedOutputs {
  return { ...at, ...(also && !equal(at.outputsAt, also) && { outputsAlso: also }) }
}

async function write(
  name: string,
  data: Texts,
  { target, ctx }: { readonly target: SecretTarget | undefined; readonly ctx: Context },
): Promise<string> {
  if (target === undefined) {
    const kept = await ctx.apply(Secret, { metadata: { name }, stringData: data })
    return digest(canonicalJson(kept.data))
  }
  await ctx.outside.keepSecret(target, data)
  return inVault
}

type Texts = Readonly<Record<string, string>>

function tellingOnly(data: Readonly<Record<string, string | undefined>>): Texts {
  refusePromise(data, 'data of outputs tells its texts at once')
  return Object.fromEntries(Object.entries(data).flatMap(([key, text]) => (text === undefined ? [] : [[key, text]])))
}

/** What the far side told once and tells no more, such as a password, from where it is kept. */
async function findUntold(
  { name, to }: Outputs<ApiObject>,
  object: ApiObject,
  { told, ctx }: { readonly told: Texts; readonly ctx: Context },
): Promise<Texts> {
  const { outputKeys = [], outputsUnkept = [] } = recall(ctx)
  const untold = [...new Set([...outputKeys, ...outputsUnkept])].filter((key) => told[key] === undefined)
  if (untold.length === 0) return {}
  const kept = await readStored(name(object), untold, ctx)
  const { secretsManager, parameter } = to?.(object) ?? {}
  const { key: only } = secretsManager ?? parameter ?? {}
  const lost = untold.filter(
    (key) => outputsUnkept.includes(key) && kept[key] === undefined && (only === undefined || only === key),
  )
  if (lost.length > 0) throw notKept(lost, new OperatingError('UNAVAILABLE', 'it was never written'))
  return tellingOnly(Object.fromEntries(untold.map((key) => [key, kept[key]])))
}

/** What is stored of this entity. What an entity before it has left there does not count. */
async function readStored(name: string, untold: readonly string[], ctx: Context): Promise<Texts> {
  const { outputsIn = name, outputsAt, outputKeys, outputsBefore } = recall(ctx)
  if (outputsAt === undefined) {
    // A person may have put what is lost where the object says now.
    const names = [...new Set([name, outputsIn])]
    const secrets = await Promise.all(names.map((one) => ctx.get(Secret, one)))
    const own = secrets.filter((secret) => digest(canonicalJson(secret?.data ?? {})) !== outputsBefore)
    return Object.assign({}, ...own.map(textsOf)) as Texts
  }
  // Their names are noted before they are written.
  if (outputKeys === undefined) return {}
  return readKept(outputsAt, ctx).catch((error: unknown) => {
    throw notKept(untold, error)
  })
}

function notKept(untold: readonly string[], error: unknown): unknown {
  if (!hasCode(error, 'UNAVAILABLE')) return error
  const text = `${untold.join(', ')} is told no more, and cannot be read where it is kept: ${error.message}`
  return new OperatingError('UNAVAILABLE', `${text}; if it is lost, delete the entity outside, and another one is made`)
}

function textsOf({ data = {} }: Partial<SecretObject> = {}): Texts {
  // A mark of the order of bytes is the text's own.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, decoder.decode(bytesFromBase64(value))]))
}

async function readKept({ secretsManager, parameter }: SecretTarget, ctx: Context): Promise<Texts> {
  const { name = '', key } = secretsManager ?? parameter ?? {}
  const text = await ctx.outside.readSecret(secretsManager ? { secretsManager: { name } } : { parameter: { name } })
  return key === undefined ? parseKept(text, name) : { [key]: text }
}

function parseKept(text: string, name: string): Texts {
  const kept = tryJson(text)
  if (isObject(kept)) return kept as Texts
  throw new Error(`what is kept in ${name} is no JSON any more, and the far side does not tell all of it again`)
}

/** The error of the parser would tell a part of the text. */
function tryJson(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** No digest of what is to be nowhere else: each sync reads and compares it. */
const inVault = 'vault'

export async function areOutputsKept(
  { name, to }: Outputs<ApiObject>,
  object: ApiObject,
  { memory, ctx }: { readonly memory: Pick<ExternalMemory, 'outputs' | 'outputsAt'>; readonly ctx: Context },
): Promise<boolean> {
  const target = to?.(object)
  if (target !== undefined || memory.outputsAt !== undefined) return equal(target, memory.outputsAt)
  const secret = await ctx.get(Secret, name(object))
  return secret !== undefined && digest(canonicalJson(secret.data)) === memory.outputs
}

/** Removes what was kept in AWS, as the entity is gone that it was about. */
export async function removeOutputs(ctx: Context): Promise<void> {
  const { outputsAt, outputsAlso } = recall(ctx)
  for (const place of [outputsAt, outputsAlso]) if (place !== undefined) await ctx.outside.removeSecret(place)
}
