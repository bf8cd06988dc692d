import { withExplicitOwners } from '../model/apply/sole-writer.ts'
import { UnpreparedError, type Conversion } from '../model/conversion.ts'
import { readConversion, writeConversion, type ConvertedContent } from '../model/conversion-review.ts'
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '../model/custom-resource-definition.ts'
import { OperatingError } from '../model/errors.ts'
import { objectText } from '../model/object-text.ts'
import { apiVersionOf, parseApiVersion, type ApiObject, type ObjectMeta } from '../model/object.ts'
import type { StructuralSchema } from '../model/schema/structural-schema.ts'
import { reviewVersionOf, type ReviewVersion } from '../model/review-versions.ts'
import { authoritiesOf } from '../model/webhook-client.ts'
import type { Random } from '../ports/random.ts'
import type { Webhooks } from '../ports/webhooks.ts'

/** Who converts objects for definitions that name a webhook. */
export interface ConversionSources {
  readonly random: Random
  /** Left out, this process asks none. */
  readonly webhooks?: Webhooks | undefined
}

/** One call takes so many objects, and so many characters of them; its answer may have twice as many bytes. */
const objectsMax = 500
const lengthMax = 2_000_000
const timeoutMs = 30_000

/** What is kept of what webhooks have made of objects, for the next reader of the same. */
const keptMax = 1_000
const keptLengthMax = 10_000_000

/** The conversion of a definition by its webhook; undefined if it names none. */
export function conversionByWebhook(
  { spec, metadata }: CustomResourceDefinition,
  sources: ConversionSources,
): Conversion | undefined {
  const { conversion, group, names, versions } = spec
  const storage = versions.find((version) => version.storage)
  if (conversion?.strategy !== 'Webhook' || storage === undefined) return undefined
  const client = conversion.webhook?.clientConfig ?? {}
  const schemaOf = schemaByName(versions)
  const book = createBook()
  const review = reviewVersionOf(conversion.webhook?.conversionReviewVersions)
  const ask = createAsking({ client, review, group, kind: names.kind, definition: metadata.name }, sources)

  return {
    group,
    kind: names.kind,
    version: storage.name,
    schema: schemaInVersion(storage),
    schemaOf,
    findFault: (object, version) => {
      const found = book.find(object, version)
      return found instanceof OperatingError ? found.message : undefined
    },
    convert: (object, version) => {
      if (versionOf(object) === version) return object
      const found = book.find(object, version)
      if (found === undefined) throw new UnpreparedError(object, version)
      if (found instanceof OperatingError) throw found
      return found
    },
    prepare: async (objects, version) => {
      const missing = objects.filter((object) => {
        const known = versionOf(object) === version ? object : book.find(object, version)
        return known === undefined || known instanceof OperatingError
      })
      for (const batch of batchesOf(missing)) {
        const owned = batch.map((object) => withOwners(object, schemaOf(versionOf(object)) ?? anyObject))
        const made = await ask(owned, version)
        for (const [i, object] of batch.entries()) {
          const one = made instanceof OperatingError ? made : made[i]
          if (one !== undefined)
            book.note(object, version, one instanceof OperatingError ? one : build(owned[i] ?? object, version, one))
        }
        if (made instanceof OperatingError) throw made
      }
    },
  }
}

/** The schema of each of these versions, by its name. */
export function schemaByName(versions: readonly Version[]): Conversion['schemaOf'] {
  return (name) => {
    const version = versions.find((one) => one.name === name)
    return version && schemaInVersion(version)
  }
}

/** Of the whole object; a version without a schema takes any. */
export function schemaInVersion({ schema }: Version): StructuralSchema {
  return schema?.openAPIV3Schema ?? anyObject
}

type Version = Pick<CustomResourceDefinitionVersion, 'name' | 'schema'>

const anyObject: StructuralSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

function versionOf({ apiVersion }: ApiObject): string {
  return parseApiVersion(apiVersion).version
}

/** Who owns what is worked out in the version that it was written in. */
function withOwners(object: ApiObject, schema: StructuralSchema): ApiObject {
  return withExplicitOwners({ schema, hasStatus: true }, object)
}

function* batchesOf(objects: readonly ApiObject[]): Generator<readonly ApiObject[]> {
  let batch: ApiObject[] = []
  let length = 0
  for (const object of objects) {
    batch.push(object)
    length += objectText(object).length
    if (batch.length < objectsMax && length < lengthMax) continue
    yield batch
    batch = []
    length = 0
  }
  if (batch.length > 0) yield batch
}

/** All of metadata but labels and annotations stays. */
function build(given: ApiObject, version: string, { labels, annotations, content }: ConvertedContent): ApiObject {
  const { labels: _, annotations: __, ...kept } = given.metadata
  const metadata: ObjectMeta = { ...kept, ...(labels && { labels }), ...(annotations && { annotations }) }
  const { group } = parseApiVersion(given.apiVersion)
  return { ...content, apiVersion: apiVersionOf(group, version), kind: given.kind, metadata }
}

interface Book {
  find(object: ApiObject, version: string): ApiObject | OperatingError | undefined
  note(object: ApiObject, version: string, made: ApiObject | OperatingError): void
}

/** By the object itself for as long as it is held, and by what it says for a while. Failures are not kept. */
function createBook(): Book {
  const byObject = new WeakMap<ApiObject, Map<string, ApiObject | OperatingError>>()
  const byText = new Map<string, ApiObject>()
  let length = 0

  const keep = (object: ApiObject, version: string, made: ApiObject | OperatingError): void => {
    const known = byObject.get(object) ?? new Map<string, ApiObject | OperatingError>()
    byObject.set(object, known.set(version, made))
  }

  return {
    find: (object, version) => {
      const known = byObject.get(object)?.get(version)
      const made = known === undefined ? byText.get(textOf(object, version)) : undefined
      if (made === undefined) return known
      const { resourceVersion, generation } = object.metadata
      const same = { ...made, metadata: { ...made.metadata, resourceVersion, generation } }
      keep(object, version, same)
      return same
    },
    note: (object, version, made) => {
      keep(object, version, made)
      if (made instanceof OperatingError) return
      const text = textOf(object, version)
      if (byText.size >= keptMax || length + text.length > keptLengthMax) {
        byText.clear()
        length = 0
      }
      byText.set(text, made)
      length += text.length * 2
    },
  }
}

/** A write that changes nothing that a webhook looks at needs no webhook. */
function textOf(
  { metadata: { resourceVersion: _, generation: __, ...metadata }, ...content }: ApiObject,
  version: string,
): string {
  return `${version} ${JSON.stringify({ ...content, metadata })}`
}

interface Asked {
  readonly review: ReviewVersion
  readonly client: { readonly url?: string; readonly caBundle?: string }
  readonly group: string
  readonly kind: string
  readonly definition: string
}

/** Asks a webhook about objects: what it makes of each, or why there is nothing. */
function createAsking(
  { client: { url = '', caBundle = '' }, review, group, kind, definition }: Asked,
  { webhooks, random }: ConversionSources,
) {
  const authorities = caBundle === '' ? undefined : authoritiesOf(caBundle)
  return async (
    objects: readonly ApiObject[],
    version: string,
  ): Promise<readonly ConvertedContent[] | OperatingError> => {
    const question = { review, uid: random.uuid(), group, version, objects }
    const [first] = objects
    const failed = (why: string, cause?: unknown): OperatingError => {
      const message = `conversion webhook for ${first?.apiVersion ?? group}, Kind=${kind} failed: ${why}`
      return new OperatingError('CONVERSION_FAILED', message, { cause, details: { name: definition, group, kind } })
    }
    if (webhooks === undefined) return failed('this process calls no webhooks')
    const body = writeConversion(question)
    const answerBytesMax = 2 * Math.max(body.length, lengthMax)
    try {
      const answer = await webhooks.post({ url, body, timeoutMs, answerBytesMax, ...(authorities && { authorities }) })
      const made = readConversion(answer, question)
      return 'fault' in made ? failed(made.fault) : made
    } catch (error) {
      if (!(error instanceof OperatingError)) throw error
      return failed(error.message, error)
    }
  }
}
